"""The compiled module leaks no references, memory or file descriptors, and refuses to work where it cannot."""
import gc
import os
import pathlib
import sys
import unittest

import numpy as np

import echoline
import echoline.cuda
from echoline._library import native
from ring_server import RingServer, images

BATCHES = int(os.environ.get("ECHOLINE_LEAK_BATCHES", 300_000))


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def counts(loader):
    return [sys.getallocatedblocks(), len(gc.get_objects()), sys.getrefcount(echoline.Batch),
            sys.getrefcount(loader._fields), sys.getrefcount(None), resident_bytes()]


def everything(loader, count):
    """Takes this many batches and uses everything that a trainer can use."""
    left = count
    while left > 0:
        for batch in loader:
            left -= 1
            kind = left % 64
            if kind < 16:
                batch["image"], batch["label"], batch["tokens"][1:3], batch.sample_ids, batch.uses, batch.valid
            elif kind == 16:
                batch.copy(), dict(batch), batch.step, repr(batch)
            elif kind == 17:
                try:
                    batch["picture"]
                except KeyError:
                    pass
            elif kind == 18:
                loader.state_dict(), len(loader), loader.fields, loader.epoch
            elif kind == 19 and left < count:
                break
        try:
            loader.next(timeout="soon")
        except TypeError:
            pass


class Leaks(unittest.TestCase):
    def test_many_batches_leave_nothing(self):
        with RingServer(rows=4000, slots=64, ragged=1) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            everything(loader, 20_000)  # warm-up: creates what is created only once
            gc.collect()
            before = counts(loader)
            everything(loader, BATCHES)
            gc.collect()
            after = counts(loader)
        for name, was, now, room in zip(("blocks", "objects", "Batch", "fields", "None", "bytes"), before, after,
                                        (500, 100, 10, 10, 1000, 4 << 20)):
            self.assertLess(now - was, room, name)

    def test_many_loaders_leave_nothing(self):
        def attach_and_leave(kept):
            loader = echoline.Loader("train", runtime_dir=server.dir)
            if kept % 3 == 0:
                loader.close()
            with self.assertRaises(echoline.NotFound):
                echoline.Loader("other", runtime_dir=server.dir)

        def held():
            gc.collect()
            return [len(os.listdir("/proc/self/fd")),
                    len(pathlib.Path("/proc/self/maps").read_text(encoding="ascii").splitlines()),
                    sys.getallocatedblocks(), sys.getrefcount(echoline.Loader)]

        with RingServer(batches_max=0) as server:
            for kept in range(20):
                attach_and_leave(kept)
            before = held()
            for kept in range(300):
                attach_and_leave(kept)
            for name, was, now, room in zip(("descriptors", "mappings", "blocks", "Loader"), before, held(),
                                            (3, 10, 500, 10)):
                self.assertLess(now - was, room, name)

    def test_the_batch_goes_with_its_last_view_and_views_outlive_everything(self):
        with RingServer(rows=4000) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            views = [loader.next()["image"][1:, :2], loader.next().sample_ids[2:], iter(loader)]
            del loader
            views.pop()
            gc.collect()
        np.testing.assert_array_equal(views[0], images(0, range(4))[1:, :2])
        self.assertEqual(views[1].tolist(), [row * 7919 for row in (6, 7)])


class Refusals(unittest.TestCase):
    def test_a_loader_that_was_never_attached_says_so(self):
        loader = echoline.Loader.__new__(echoline.Loader)
        for use in loader.next, loader.state_dict, loader.__iter__, loader.__len__, lambda: loader.skip(1):
            with self.assertRaisesRegex(echoline.InvalidArgument, "never attached"):
                use()

    def test_what_only_loaders_make_is_made_by_nobody_else(self):
        with RingServer() as server:
            memory = type(echoline.Loader("train", runtime_dir=server.dir).next()._flags())
        for kind in memory, echoline.cuda.Tensor, echoline.cuda.Batch:
            with self.subTest(kind), self.assertRaisesRegex(TypeError, "only a loader"):
                kind()
            with self.subTest(kind), self.assertRaises(TypeError):
                object.__new__(kind)

    def test_a_subinterpreter_is_refused(self):
        try:
            import _interpreters as interpreters
        except ImportError:
            try:
                import _xxsubinterpreters as interpreters
            except ImportError:
                self.skipTest("this Python shows no subinterpreters")
        # By itself: numpy, which the package imports first, may refuse before it.
        program = ("import importlib.machinery, importlib.util\n"
                   f"loader = importlib.machinery.ExtensionFileLoader('_echoline', {native.__spec__.origin!r})\n"
                   "loader.exec_module(importlib.util.module_from_spec(\n"
                   "    importlib.util.spec_from_loader('_echoline', loader)))\n")
        interpreter = interpreters.create()
        try:
            failure = interpreters.run_string(interpreter, program)
            self.assertIn("subinterpreter", str(failure and failure.formatted))
        except interpreters.RunFailedError as error:
            self.assertIn("subinterpreter", str(error))
        finally:
            interpreters.destroy(interpreter)


if __name__ == "__main__":
    unittest.main(verbosity=1)
