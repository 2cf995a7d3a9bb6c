#!/usr/bin/env python3
"""The functions and the consumer loops of python_step.py. Prints the microseconds of CPU of one sample, the
samples of a second, and the memory of the processes that take part, without this one.

    python_step_loops.py echoline SECONDS RUNTIME_DIR PID    from a daemon that already runs
    python_step_loops.py dataloader SECONDS BYTES
    python_step_loops.py dataloader SECONDS photos
    python_step_loops.py bare SECONDS PROCESSES              `transformed` in so many processes
    python_step_loops.py alone SECONDS                       in this one"""
import functools
import io
import json
import subprocess
import sys


def same(sample, rng):
    return sample


def copied(sample, rng):
    return {"tokens": sample["tokens"].copy()}


@functools.cache
def transform():
    """torchvision's steps for a picture of 224 x 224 pixels, with one thread. Version 2 where it has them."""
    import torch

    try:
        from torchvision.transforms import v2 as transforms
    except ImportError:
        from torchvision import transforms
    torch.set_num_threads(1)
    return transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
                               transforms.ColorJitter(0.4, 0.4, 0.4)])


def transformed(sample, rng):
    import torch

    pixels = sample["tokens"].view("uint8").reshape(224, 224, 3).copy()
    image = transform()(torch.from_numpy(pixels).permute(2, 0, 1))
    return {"tokens": image.permute(1, 2, 0).contiguous().numpy().reshape(-1).view("uint16")}


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


class Cheap:
    """A data set whose samples are in memory."""

    def __init__(self):
        import numpy

        self.rows = numpy.arange(64 * 75_264, dtype=numpy.uint16).reshape(64, -1)

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        return {"tokens": self.rows[index % 64]}


class CheapTogether(Cheap):
    def __getitems__(self, indices):
        return [self[index] for index in indices]


class Listed:
    """A data set with a list of half a million entries in memory, whose samples need a moment of Python each."""

    def __init__(self):
        self.entries = [{"path": f"images/{number:08d}.jpg", "label": number % 1000} for number in range(500_000)]

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, index):
        entry = self.entries[index]
        found = 0
        for _ in range(100):
            for letter in entry["path"]:
                found = (found * 31 + ord(letter)) & 0xffffffff
        return {"label": entry["label"], "found": found}


def count(samples, seconds, rows_of, pids):
    """What one sample costs this process and those of `pids()`."""
    import pathlib
    import re
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
    seconds, cpu = time.perf_counter() - begin, time.process_time() + sum(map(cpu_seconds, others)) - cpu
    memory = [re.search(r"^Pss: +(\d+)", pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M) for pid in others]
    return {"us": cpu / taken * 1e6, "rate": taken / seconds, "MiB": sum(int(found[1]) for found in memory) / 1024}


def echoline_loop(seconds, folder, daemon):
    import echoline
    from suite.rounds import with_children

    loader = echoline.Loader("train", runtime_dir=folder)

    def epochs():
        while True:
            yield from loader

    return count(epochs(), seconds, lambda batch: batch.rows, lambda: with_children(daemon))


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


def alone_loop(seconds):
    import numpy

    sample = {"tokens": numpy.random.default_rng(1).integers(0, 1 << 16, 75_264, dtype=numpy.uint16)}
    return count(iter(lambda: transformed(sample, None), None), seconds, lambda _: 1, lambda: [])


def bare_loop(seconds, processes):
    command = [sys.executable, "-B", __file__, "alone", str(seconds)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(processes)]
    found = [json.loads(process.communicate()[0]) for process in running]
    return {"us": sum(one["us"] for one in found) / processes, "rate": sum(one["rate"] for one in found)}


if __name__ == "__main__":
    if sys.argv[1] == "echoline":
        print(json.dumps(echoline_loop(float(sys.argv[2]), sys.argv[3], int(sys.argv[4]))))
    elif sys.argv[1] == "bare":
        print(json.dumps(bare_loop(float(sys.argv[2]), int(sys.argv[3]))))
    elif sys.argv[1] == "alone":
        print(json.dumps(alone_loop(float(sys.argv[2]))))
    else:
        print(json.dumps(dataloader_loop(float(sys.argv[2]), sys.argv[3])))
