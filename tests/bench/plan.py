"""Nanoseconds of the plan for each row of sequential walks and of random rows, for plans of real streams (plan_bench.cc)."""
import json
import os
import subprocess

from suite.rounds import Row, Table, interleave

PROGRAMS = ("PLAN_BENCH",)


def one_run(seconds):
    """{case: nanoseconds for a row}"""
    done = subprocess.run([os.environ["PLAN_BENCH"], "--benchmark_format=json", f"--benchmark_min_time={seconds}"],
                          capture_output=True, check=True)
    cases = json.loads(done.stdout)["benchmarks"]
    return {case["name"]: 1e9 / case["items_per_second"] if "items_per_second" in case else case["cpu_time"] for case in cases}


def measure(options):
    found = interleave({"plan": lambda: one_run(0.01 if options.quick else 0.3)}, options.rounds)
    runs = found.results.get("plan", [])
    rows = [Row(name.replace("/", ", ").replace("2_5", "2.5").replace("_", " "), [run[name] for run in runs]) for name in runs[0]] if runs else \
        [found.row("plan")]
    return [Table("The plan", "ns of CPU per row", rows, more_is_better=False)]
