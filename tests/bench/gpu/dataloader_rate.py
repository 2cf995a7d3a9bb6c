#!/usr/bin/env python3
"""CPU time for bringing batches to a GPU: echoline.torch.Loader(device="cuda") from a daemon, and PyTorch's DataLoader
with pin_memory, in turn. Prints figures and goals, and does not fail if a goal is missed. Exits with 77, and prints
SKIP, if torch sees no GPU.

    ECHOLINED=... ECHOLINE_LIBRARY=... PYTHONPATH=client/python dataloader_rate.py [--rows 256] [--seconds 3] [--rounds 5]

Both have the same rows of 224 x 224 x 3 bytes ready in memory; nothing is decoded, and the tensors are not used.
The daemon echoes batches 64 times, so that writing rows into the ring counts a 64th; "rows laid each time" is without
echo. DataLoader's workers collate rows that are tensors already, its thread pins batches, and the loop copies them to
the GPU with non_blocking. CPU time is that of all processes. `--device cpu` only shows that the program
works on a machine without a GPU."""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH.parent / "process"), str(BENCH)]
try:
    import numpy
    import torch.utils.data
except ImportError as error:
    print(f"SKIP: no torch or NumPy: {error}")
    sys.exit(77)

import echoline.torch
from handoff_loops import count, figures
from support.daemon_process import Daemon, stream_yaml

SHAPE = (224, 224, 3)
ROW = 224 * 224 * 3
GOAL = 10  # times DataLoader's CPU time over Echoline's


class Rows(torch.utils.data.Dataset):
    def __init__(self, path):
        self.ready = torch.from_numpy(numpy.fromfile(path, "uint8")).view(-1, *SHAPE)

    def __len__(self):
        return 1 << 30

    def __getitem__(self, at):
        return self.ready[at % len(self.ready)]


def dataloader(path, workers, options):
    loader = torch.utils.data.DataLoader(Rows(path), batch_size=options.rows, num_workers=workers, sampler=range(1 << 30),
                                         pin_memory=True)
    batches = iter(loader)
    on_device = (batch.to(options.device, non_blocking=True) for batch in batches)
    return count(on_device, options.seconds, torch.numel, lambda: [worker.pid for worker in batches._workers])


def pipeline(path, rows, echoed):
    steps = [f"read: {{url: '{path}', format: tokens, tokens: {{length: {ROW}, dtype: uint8}}}}", "shuffle: {window: 1024}",
             f"decode: {{image: {{key: tokens, as: uint8, shape: {list(SHAPE)}}}}}", f"batch: {{size: {rows}}}",
             "publish: {slots: 8}"]
    if echoed:
        steps.insert(4, "echo: {factor: 64, window: 2}")
    return stream_yaml(steps)


def echoline_loader(daemon, options):
    with echoline.torch.Loader("train", runtime_dir=str(daemon.runtime_dir), device=options.device) as loader:

        def epochs():
            while True:
                yield from loader

        return count(epochs(), options.seconds, lambda batch: batch["image"].numel(), lambda: [daemon.process.pid])


def compare(path, options):
    """{way: [the figures of each round]}"""
    with Daemon(pipeline(path, options.rows, True), memory="3GiB", workers=options.daemon_workers) as ours, \
            Daemon(pipeline(path, options.rows, False), memory="3GiB", workers=options.daemon_workers) as fresh:
        ways = {"Echoline": lambda: echoline_loader(ours, options),
                "Echoline, rows written each time": lambda: echoline_loader(fresh, options)}
        for workers in options.workers:
            ways[f"DataLoader, {workers} workers"] = lambda workers=workers: dataloader(path, workers, options)
        found = {name: [] for name in ways}
        for _ in range(options.rounds):
            for name, way in ways.items():
                found[name].append(figures(way()))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=256, help="of a batch")
    parser.add_argument("--seconds", type=float, default=3, help="of each run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8], help="of DataLoader")
    parser.add_argument("--daemon-workers", type=int, default=2)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    if options.device != "cpu" and not torch.cuda.is_available():
        print(f"SKIP: torch {torch.__version__} sees no GPU")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "rows.tokens")
        path.write_bytes(os.urandom(1024 * ROW))
        found = compare(path, options)
    medians = {name: [statistics.median(part) for part in zip(*rounds)] for name, rounds in found.items()}
    # The DataLoader that takes the least CPU time; its rate does not matter.
    best = min((name for name in found if name.startswith("DataLoader")), key=lambda name: medians[name][1])
    print(f"torch {torch.__version__}, {options.device}, batches of {options.rows * ROW / 1e6:.1f} MB, medians of "
          f"{options.rounds} rounds, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'':34} {'GB/s':>9} {'CPU-s/GB':>9}   CPU time of {best} over its own")
    for name, (rate, cpu, _) in medians.items():
        over = statistics.median(theirs[1] / mine[1] for theirs, mine in zip(found[best], found[name]))
        print(f"{name:34} {rate:9.2f} {cpu:9.4f}   {over:8.1f}" + (f"   goal: {GOAL} or more" if name == "Echoline" else ""))


if __name__ == "__main__":
    main()
