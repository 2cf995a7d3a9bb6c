"""The user's file of the tests of the step `python` and of `read: python`. Workers of the daemon run it; it needs only numpy.

Misbehaviour depends on the sample's label. A file in the folder of TEST_MARKS says that it has happened already."""
import ctypes
import os
import pathlib
import random
import resource
import sys
import threading
import time

import numpy as np

MARKS = pathlib.Path(os.environ.get("TEST_MARKS", "/nonexistent"))
FAULTS = ("exit", "segfault", "hang", "kill", "orphan", "garbage", "loop")


def first_time(name):
    try:
        (MARKS / name).touch(exist_ok=False)
        return True
    except FileExistsError:
        return False


def noise(sample, rng):
    """Draws from all generators, and a field of its own length."""
    image = sample["image"]
    drawn = rng.integers(0, 256, image.shape, dtype=np.uint8)
    return {"image": image ^ drawn, "draws": np.array([rng.random(), random.random(), np.random.random()]),
            "boxes": np.arange(4 * (int(sample["label"]) % 3), dtype=np.float32).reshape(-1, 4),
            "short": image[: int(sample["label"]) % 5].reshape(-1)[:50].astype(np.int32),
            "worker": os.getpid()}


def page_faults(sample, rng):
    """The page faults of a call that makes and frees three arrays of 3 MiB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(3 << 20, np.uint8) for _ in range(3)]
    del arrays
    return {"worker": os.getpid(), "faults": resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before}


def chunk(samples, rngs):
    """Arrays and lists of all samples in, and out. A sample that is bad, and one that ends the process once."""
    image, label, text = samples["image"], samples["label"], samples["text"]
    assert isinstance(text, list) and len(text) == len(rngs) == len(label) and not image.flags.writeable
    if 7 in label % 12:
        raise ValueError("label 7 of 12 is bad")
    if 5 in label and first_time("exit"):
        os._exit(3)
    drawn = np.stack([rng.integers(0, 256, image.shape[1:], dtype=np.uint8) for rng in rngs])
    text[:] = [one[::-1] for one in text]
    return {"image": image ^ drawn, "draw": [rng.random() for rng in rngs], "label": label, "text": text,
            "name": [f"é{one}" for one in label]}


def spoilt(samples, rngs):
    """Depends on how samples are cut into chunks."""
    return {"image": samples["image"] ^ np.uint8(len(rngs))}


def only_alone(samples, rngs):
    return {"image": samples["image"] + np.zeros((1, 16, 16, 3), np.uint8)} if len(rngs) == 1 else {}


def same(sample, rng):
    return sample


def here(sample, rng):
    """In which process and thread it runs. It hangs once, ends its process once, and is always late or deadly for two labels;
    and the module's generators are never seeded."""
    label = int(sample["label"])
    if label == 4 or (label == 14 and first_time("hang")):
        time.sleep(3600)
    if label == 5 or (label == 25 and first_time("exit")):
        os._exit(3)
    if label == 7:
        raise ValueError("label 7 is bad")
    time.sleep(0.002)
    return {"image": sample["image"] ^ rng.integers(0, 256, (16, 16, 3), dtype=np.uint8), "process": os.getpid(),
            "thread": threading.get_native_id()}


def halves(sample, rng):
    """Pictures of different sizes."""
    return {"image": sample["image"][: 8 + int(sample["label"]) % 8]}


def do(fault):
    """Does one of FAULTS, which the daemon must survive."""
    if fault == "exit":
        os._exit(3)
    elif fault == "segfault":
        ctypes.string_at(0)
    elif fault == "hang":
        time.sleep(3600)
    elif fault == "kill":
        os.kill(os.getpid(), 9)
    elif fault == "orphan":
        if os.fork() == 0:  # it holds the worker's descriptors
            time.sleep(3600)
        os._exit(0)
    elif fault == "garbage":
        os.write(3, b"x" * 1000)
        time.sleep(3600)  # until it is killed for that: no other sample's fault happens in this process
    elif fault == "loop":
        while True:
            pass


def storm(sample, rng):
    """Faults of the process happen once for each label, so the second try is right. Every seventh sample is bad."""
    label = int(sample["label"])
    fault = FAULTS[label // 3 % len(FAULTS)]
    if label % 3 == 0 and first_time(f"{label}-{sample['image'][0, 0, 1]}"):
        print("about to", fault, flush=True)
        do(fault)
    if label % 7 == 1:
        return wrong(label)
    return {"image": sample["image"] ^ rng.integers(0, 256, sample["image"].shape, dtype=np.uint8)}


def wrong(label):
    image = np.zeros((4, 4, 3), np.uint8)
    if label % 5 == 0:
        raise ValueError(f"no label {label}")
    if label % 5 == 1:
        return {"image": image.astype(np.float32)}
    if label % 5 == 2:
        return {"image": image[1:]}
    if label % 5 == 3:
        sys.exit("a function may not end the worker")
    if label % 2:  # MemoryError, at last or at once. Not written to: on a busy machine that exceeds the time limit
        image = [np.empty(1 << 20, np.uint8) for _ in range(1 << 20)]
    return {"image": np.zeros((1 << 40), np.uint8)}


def always(sample, rng):
    """One sample that ends each worker, one that hangs each, one that fills the memory, one that writes without an end."""
    label = int(sample["label"])
    if label == 3:
        os._exit(5)
    if label == 4:
        time.sleep(3600)
    if label == 5:
        kept = [bytearray(1 << 20) for _ in range(1 << 20)]
        return {"image": len(kept)}
    if label == 6:
        while True:
            print("x" * 1000)
    return {"image": sample["image"]}


def recovers(sample, rng):
    """One sample hangs and one ends its worker, as long as a file is there."""
    label = int(sample["label"])
    if (MARKS / "trouble").exists():
        if label == 0:
            time.sleep(3600)
        if label == 9:
            os._exit(3)
    return {"image": sample["image"]}


def surroundings(sample, rng):
    """What a worker can see."""
    files = sorted(os.listdir("/proc/self/fd"), key=int)
    targets = []
    for name in files:
        try:
            targets.append(f"{name} {os.readlink('/proc/self/fd/' + name)}")
        except OSError:
            continue
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    text = "\n".join(["\n".join(f"{key}={value}" for key, value in os.environ.items()), *targets, maps])
    try:
        sample["image"][0, 0, 0] = 1
    except ValueError:
        text += "\nread-only"
    try:
        sample["image"].flags.writeable = True
    except ValueError:
        text += "\nstays read-only"
    return {"text": text.encode()}


def as_another_user(sample, rng):
    """Who the worker is, who it was when its interpreter started, and what it can open of the daemon's."""
    parent = f"/proc/{os.getppid()}"
    opened = []
    for path in (f"{parent}/environ", f"{parent}/mem", f"{parent}/fd", os.path.dirname(__file__)):
        try:
            os.listdir(path) if os.path.isdir(path) else pathlib.Path(path).open("rb").close()
            opened.append(path)
        except OSError:
            continue
    started_as = sys.modules["sitecustomize"].STARTED_AS
    return {"text": f"{os.getresuid()} {os.getresgid()} {os.getgroups()} {started_as} {opened}".encode()}


def forgetful(sample, rng):
    """Depends on more than its arguments."""
    return {"image": np.full((16, 16, 3), time.monotonic_ns() % 251, np.uint8)}


class Numbers:
    """A data set of tuples. Its constructor and each sample use random draws."""

    def __init__(self):
        self.order = random.sample(range(48), 48)

    def __len__(self):
        return len(self.order)

    def __getitem__(self, index):
        draws = np.array([random.random(), np.random.random()])
        return np.full((4, 4, 3), index, np.uint8), self.order[index], draws, f"number {index} é"


class Faulty(Numbers):
    """Two samples raise, one ends each worker, one has too few elements; one hangs once, and one ends its worker once."""

    def __getitem__(self, index):
        if index in (1, 9):
            raise KeyError("nothing here")
        if index == 5 or (index == 3 and first_time("exit")):
            os._exit(3)
        if index == 2 and first_time("hang"):
            time.sleep(3600)
        return super().__getitem__(index)[:2 if index == 4 else None]


class Several(Numbers):
    """Numbers that are asked for several at a time. One is bad, and one ends its worker once."""

    def __getitem__(self, index):
        raise AssertionError("not called where there is __getitems__")

    def __getitems__(self, indices):
        assert all(type(index) is int for index in indices)
        if 9 in indices:
            raise KeyError("nothing here")
        if 3 in indices and first_time("exit"):
            os._exit(3)
        return [(np.full((4, 4, 3), index, np.uint8), self.order[index], np.full(2, len(indices), float), f"number {index} é")
                for index in indices]


class TooFew(Several):
    def __getitems__(self, indices):
        return super().__getitems__(indices)[1:]


class Generated(Several):
    def __getitems__(self, indices):
        yield from super().__getitems__(indices)


class Unlabelled(Numbers):
    def __getitem__(self, index):
        image, _, *rest = super().__getitem__(index)
        return (image, None, *rest)


class Halves(Numbers):
    def __getitem__(self, index):
        image, label, *rest = super().__getitem__(index)
        return (image, label + 0.5, *rest)


class Sized:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return Numbers()[index]


def written_length():
    return Sized(int((MARKS / "length").read_text()))


def negative():
    return Sized(-1)


def empty():
    return Sized(0)


def endless():
    return Sized(sys.maxsize)


def stream():
    return (number for number in range(48))


def broken():
    raise RuntimeError("no disk")
