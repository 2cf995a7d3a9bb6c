"""Loaders next to and inside PyTorch's DataLoader, whose workers are forked or spawned. Skipped without torch."""
import os
import signal
import subprocess
import sys
import time
import unittest

import echoline
from ring_server import RingServer

try:
    import torch.utils.data
except ImportError as error:
    raise unittest.SkipTest(f"no torch: {error}") from error

CONTEXTS = ("fork", "spawn", "forkserver")

KILLED = """
import os, sys, time, torch.utils.data, echoline
loader = echoline.Loader('train', job='killed', runtime_dir=sys.argv[1])
kept = loader.next()
class Slow(torch.utils.data.Dataset):
    def __len__(self): return 100
    def __getitem__(self, at): return time.sleep(100)
workers = iter(torch.utils.data.DataLoader(Slow(), num_workers=2, multiprocessing_context='fork'))
print('ready', flush=True)
time.sleep(100)
"""


class Squares(torch.utils.data.Dataset):
    """Does not use Echoline: its workers only run at the same time as a loader."""

    def __len__(self):
        return 64

    def __getitem__(self, at):
        return at * at


class Holding(Squares):
    """Passes the parent's loader to the workers, which is a mistake."""

    def __init__(self, loader):
        self.loader = loader

    def __getitem__(self, at):
        return self.loader.next()


class LoaderInWorker(torch.utils.data.IterableDataset):
    """Each worker is a rank."""

    def __init__(self, folder):
        self.folder = folder

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        loader = echoline.Loader("train", rank=worker.id, world_size=worker.num_workers, runtime_dir=self.folder)
        for batch in loader:
            yield batch.step, batch["label"].tolist()
            del batch


def data_loader(dataset, context, **options):
    return torch.utils.data.DataLoader(dataset, num_workers=2, multiprocessing_context=context, **options)


class Workers(unittest.TestCase):
    def test_workers_do_not_disturb_an_attached_loader(self):
        for context in CONTEXTS:
            with self.subTest(context), RingServer(rows=4000) as server:
                loader = echoline.Loader("train", runtime_dir=server.dir)
                kept = loader.next()["label"]
                squares = []
                for step, square in enumerate(data_loader(Squares(), context, batch_size=8), 1):
                    squares += square.tolist()
                    if step == 3:
                        kept = kept.copy()
                    self.assertEqual(loader.next().step, step)
                self.assertEqual(squares, [at * at for at in range(64)])
                self.assertEqual(kept.tolist(), [0, 1, 2, 3])
                self.assertEqual([loader.next().step for _ in range(50)], list(range(9, 59)))

    def test_the_parents_loader_is_refused_in_a_worker_with_what_to_do(self):
        with RingServer(rows=4000) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            with self.assertRaisesRegex(echoline.Forked, "attach in the child itself"):
                next(iter(data_loader(Holding(loader), "fork", batch_size=None)))
            for context in "spawn", "forkserver":
                with self.assertRaisesRegex(TypeError, "a Loader of its own"):
                    next(iter(data_loader(Holding(loader), context, batch_size=None)))
            self.assertEqual(loader.next().step, 0)

    def test_a_loader_made_in_each_worker_works(self):
        for context in CONTEXTS:
            with self.subTest(context), RingServer(rows=400, slots=8, consumers=2) as server:
                found = {}
                for step, labels in data_loader(LoaderInWorker(server.dir), context, batch_size=None):
                    found.setdefault(step, []).extend(labels)
                self.assertEqual(sorted(found), list(range(100)))
                for step, labels in found.items():
                    self.assertEqual(sorted(labels), [4 * step + row for row in range(4)])

    def test_workers_keep_no_slot_of_a_killed_parent(self):
        with RingServer(rows=4000, consumers=2) as server:
            other = echoline.Loader("train", runtime_dir=server.dir)
            with subprocess.Popen([sys.executable, "-B", "-c", KILLED, server.dir], stdout=subprocess.PIPE,
                                  start_new_session=True) as parent:
                try:
                    self.assertEqual(parent.stdout.readline(), b"ready\n")
                    for _ in range(4):
                        other.next()
                    with self.assertRaises(TimeoutError):
                        other.next(timeout=0.3)  # the parent holds the first slot
                    parent.kill()
                    killed = time.monotonic()
                    self.assertEqual(other.next(timeout=10).step, 4)
                    self.assertLess(time.monotonic() - killed, 1)
                finally:
                    os.killpg(parent.pid, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main(verbosity=1)
