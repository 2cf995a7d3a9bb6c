"""The command of run.sh: runs benchmarks one after the other, and writes one page of tables and pictures."""
import argparse
import importlib
import os
import pathlib
import sys

from . import ROOT, build, machine, report
from .rounds import FAILURES, Row, Table, reason_of

# Name of each benchmark: its module, and what it measures.
BENCHMARKS = {
    "decode": "photos for each CPU-second, first epoch and later ones, compared with image libraries",
    "decode_large": "the same for photos of 12 megapixels, also with `fast: true`",
    "parquet": "photos out of Parquet files for each CPU-second, compared with Hugging Face's datasets",
    "audio": "log-mel spectrograms for each CPU-second, compared with torchaudio and librosa",
    "language": "tokens for each CPU-second, tokenized and packed, compared with Hugging Face's datasets and a DataLoader",
    "detection": "pictures with boxes for each CPU-second, compared with torchvision.transforms.v2",
    "handoff": "CPU time for giving a batch to the trainer, compared with DataLoader, Grain, Ray and gRPC",
    "python_step": "CPU time of a sample's way to a function in Python and back, compared with DataLoader",
    "preparation": "CPU time of photos that a preparation server decodes and sends, compared with one host",
    "s3": "records from an S3 server, compared with WebDataset, SPDL, LitData and MosaicML Streaming",
    "stores": "first and later epochs from near, far, late and slow stores, compared with WebDataset and SPDL",
    "cache": "records from a warm cache",
    "jobs": "jobs that share one preparation, compared with a daemon for each",
    "plan": "time of the plan for each row",
    "startup": "time from the start of a daemon to the first batch",
    "law": "the effect of echo point and factor behind a slow line",
    "predictions": "predictions of echoline analyze, compared with runs",
    "latency": "predictions for another latency of the store, compared with runs",
    "auto_factor": "factor: auto behind a line whose rate jumps",
    "target": "the quick start's time to its target with factor: auto, compared with fixed factors",
    "causes": "waits of trainers for known causes, and what they are charged to",
    "account": "what the account of time costs, compared with a daemon without it",
}
PAGE = ROOT / "docs/benchmarks.md"


def parsed(arguments):
    parser = argparse.ArgumentParser(
        prog="tests/bench/run.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Compares Echoline with other loaders, in interleaved rounds. Writes tables, pictures and JSON.\n\n" +
        "\n".join(f"  {name:13}{what}" for name, what in BENCHMARKS.items()),
        epilog="Missing programs are built in build/bench, other loaders are installed into build/bench-peers. A loader that "
        "does not install is named with the reason. Debian's own: deploy/install-packages.sh bench")
    parser.add_argument("--only", metavar="NAME,...", help="these benchmarks; default: all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small data and no other loaders: shows only that it works")
    parser.add_argument("--loaders", metavar="TEXT,...", help="only other loaders whose name contains one of these")
    parser.add_argument("--old", metavar="ECHOLINED", help="measure this daemon of another version, too")
    parser.add_argument("--build", type=pathlib.Path, default=build.DEFAULT, help="folder of the build; default: build/bench")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench-results", help="default: build/bench-results")
    parser.add_argument("--update-docs", action="store_true", help="also write the tables of benchmarks with a section there into docs/benchmarks.md")
    options = parser.parse_args(arguments)
    options.only = options.only.split(",") if options.only else list(BENCHMARKS)
    unknown = [name for name in options.only if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    texts = options.loaders.split(",") if options.loaders else [""]
    options.wants = lambda loader: not options.quick and any(text.lower() in loader.lower() for text in texts)
    options.build = options.build.resolve()
    options.failed = []
    return options


def run(name, options):
    """The Markdown of one benchmark; writes its files."""
    print(f"{name}:", file=sys.stderr, flush=True)
    module = importlib.import_module(name)
    build.prepare(options.build, module.PROGRAMS)
    options.daemon = os.environ["ECHOLINED"]
    load = machine.load()
    try:
        tables = module.measure(options)
    except FAILURES as error:
        options.failed.append(name)
        tables = [Table(BENCHMARKS[name], "result", [Row("not measured", [], reason_of(error))])]
    rounds = 1 if getattr(module, "ONE_ROUND", False) else options.rounds
    markdown = report.write(options.out, name, tables, machine.machine(load), rounds)
    if options.update_docs and name not in options.failed:
        page = PAGE.read_text(encoding="utf-8")
        replaced = report.replaced(page, name, markdown)
        PAGE.write_text(replaced, encoding="utf-8")
        picture = f"bench_{name}.svg"
        # Some benchmarks have their tables on other pages, which are written by hand.
        if replaced != page:
            (PAGE.parent / picture).write_bytes((options.out / picture).read_bytes())
    return f"## {name}: {BENCHMARKS[name]}\n\n{markdown}"


def main(arguments):
    options = parsed(arguments)
    build.photos_folder()
    options.out.mkdir(parents=True, exist_ok=True)
    sections = [run(name, options) for name in options.only]
    page = "# Benchmarks\n\n" + "\n".join(sections)
    (options.out / "benchmarks.md").write_text(page, encoding="utf-8")
    print(page)
    print(f"written: {options.out}/benchmarks.md", file=sys.stderr)
    if options.failed:
        sys.exit(f"run.sh: not measured: {', '.join(options.failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
