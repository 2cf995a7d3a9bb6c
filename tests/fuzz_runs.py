#!/usr/bin/env python3
"""Runs fuzzers until each has made so many runs in all, and prints a table. The next call continues, with the inputs that
were found before. Runs count when their fuzzer has ended, so use --seconds if you may stop it. A finding ends the fuzzer;
its input stays in the folder.

    cmake --preset fuzz && cmake --build --preset fuzz --target parquet_fuzz lines_fuzz
    tests/fuzz_runs.py build/fuzz --runs 1e7 --only parquet,lines"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess

TESTS = pathlib.Path(__file__).resolve().parent
# Longer inputs are seldom of use to a parser of text. Others need room for a header and some data.
LENGTHS = {"audio": 3000, "compressed_scan": 4096, "image": 4096, "jpeg": 4096, "parquet": 1500, "tar": 4096}
LENGTH = 600
INTERRUPTED = 72  # the exit code of libFuzzer after SIGINT


def fuzzers_of(build):
    return {path.name.removesuffix("_fuzz"): path for path in sorted(build.glob("tests/*/*_fuzz"))}


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def number_of(name, text):
    found = re.search(rf"stat::{name}:\s+(\d+)", text)
    return int(found[1]) if found else 0


def run(name, program, folder, runs, seconds):
    """Runs a fuzzer once: {runs, seconds of CPU, finding}."""
    corpus, seeds = folder / name, TESTS / program.parent.name / f"{name}_corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "ASAN_OPTIONS": "malloc_context_size=3:quarantine_size_mb=16",
                   "LSAN_OPTIONS": f"suppressions={TESTS}/lsan.supp:print_suppressions=0"}
    before = children_seconds()
    done = subprocess.run(
        ["nice", "-n", "19", program, f"-runs={runs}", f"-max_total_time={seconds}", f"-max_len={LENGTHS.get(name, LENGTH)}",
         "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=1",
         f"-artifact_prefix={folder}/{name}-", corpus, *([seeds] if seeds.exists() else [])],
        capture_output=True, text=True, errors="replace", env=environment, check=False)
    (folder / f"{name}.log").write_text(done.stderr[-20000:], encoding="utf-8")
    return {"runs": number_of("number_of_executed_units", done.stderr), "seconds": children_seconds() - before,
            "findings": int(done.returncode not in (0, INTERRUPTED))}


def table_of(state):
    lines = ["| fuzzer | runs | runs/s of CPU | CPU hours | findings |", "|---|---|---|---|---|"]
    for name, one in sorted(state.items()):
        rate = one["runs"] / max(1e-9, one["seconds"])
        lines.append(f"| `{name}` | {one['runs']:,} | {rate:,.0f} | {one['seconds'] / 3600:.2f} | {one['findings']} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="folder of a build with fuzzers")
    parser.add_argument("--runs", type=float, default=1e7, help="of each fuzzer, with those of earlier calls; default: 1e7")
    parser.add_argument("--only", help="these fuzzers, separated by commas, in this order")
    parser.add_argument("--seconds", type=int, default=0, help="the most for each fuzzer; default: no limit")
    parser.add_argument("--folder", type=pathlib.Path, help="for inputs, findings and counts; default: BUILD/fuzz_runs")
    options = parser.parse_args()
    folder = (options.folder or options.build / "fuzz_runs").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    counts = folder / "runs.json"
    state = json.loads(counts.read_text(encoding="utf-8")) if counts.exists() else {}
    programs = fuzzers_of(options.build.resolve())
    for name in options.only.split(",") if options.only else programs:
        if name not in programs:
            parser.error(f"no fuzzer {name} in {options.build}; there are: {', '.join(programs)}")
        known = state.setdefault(name, {"runs": 0, "seconds": 0, "findings": 0})
        left = int(options.runs) - known["runs"]
        if left > 0:
            for key, value in run(name, programs[name], folder, left, options.seconds).items():
                known[key] += value
            counts.write_text(json.dumps(state, indent=1), encoding="utf-8")
            print(f"{name}: {known['runs']:,} runs, {known['findings']} findings", flush=True)
    print(table_of(state))


if __name__ == "__main__":
    main()
