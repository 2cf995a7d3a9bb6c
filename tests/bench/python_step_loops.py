#!/usr/bin/env python3
"""The functions and the consumer loops of python_step.py. Prints the microseconds of CPU of one sample.

    python_step_loops.py echoline SECONDS RUNTIME_DIR PID    from a daemon that already runs
    python_step_loops.py dataloader SECONDS BYTES
    python_step_loops.py dataloader SECONDS photos"""
import io
import json
import sys


def same(sample, rng):
    return sample


def copied(sample, rng):
    return {"tokens": sample["tokens"].copy()}


class Photos:
    """A data set that decodes JPEG files with Pillow; of 64 different ones, which are in memory."""

    def __init__(self):
        import numpy
        import PIL.Image

        rng = numpy.random.default_rng(1)
        self.files = []
        for _ in range(64):
            coarse = PIL.Image.fromarray(rng.integers(0, 256, (24, 32, 3), dtype=numpy.uint8))
            file = io.BytesIO()
            coarse.resize((500, 375), PIL.Image.BICUBIC).save(file, "JPEG", quality=90)
            self.files.append(file.getvalue())

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        import numpy
        import PIL.Image

        picture = PIL.Image.open(io.BytesIO(self.files[index % 64]))
        return {"image": numpy.asarray(picture.resize((224, 224), PIL.Image.BILINEAR))}


def descendants(pid):
    """The process and its children."""
    import pathlib

    children = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
    return [int(pid), *(int(child) for path in children for child in path.read_text().split())]


def count(samples, seconds, rows_of, pids):
    """Microseconds of CPU of one sample, of this process and of `pids()`."""
    import time

    from suite.rounds import cpu_seconds

    samples = iter(samples)
    for _ in range(50):
        next(samples)
    others = pids()
    cpu, begin, taken = time.process_time() + sum(map(cpu_seconds, others)), time.perf_counter(), 0
    for sample in samples:
        taken += rows_of(sample)
        del sample
        if time.perf_counter() - begin > seconds:
            break
    return (time.process_time() + sum(map(cpu_seconds, others)) - cpu) / taken * 1e6


def echoline_loop(seconds, folder, daemon):
    import echoline

    loader = echoline.Loader("train", runtime_dir=folder)

    def epochs():
        while True:
            yield from loader

    return count(epochs(), seconds, lambda batch: batch.rows, lambda: descendants(daemon))


def dataloader_loop(seconds, what):
    import torch.utils.data

    class Samples(torch.utils.data.Dataset):
        ready = torch.zeros(0 if what == "photos" else int(what), dtype=torch.uint8)

        def __len__(self):
            return 1 << 30

        def __getitem__(self, at):
            return self.ready

    data = Photos() if what == "photos" else Samples()
    loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=1, sampler=range(len(data)))
    samples = iter(loader)
    return count(samples, seconds, lambda _: 1, lambda: [worker.pid for worker in samples._workers])


if __name__ == "__main__":
    if sys.argv[1] == "echoline":
        print(json.dumps(echoline_loop(float(sys.argv[2]), sys.argv[3], int(sys.argv[4]))))
    else:
        print(json.dumps(dataloader_loop(float(sys.argv[2]), sys.argv[3])))
