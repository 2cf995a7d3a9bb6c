"""echoline.cuda with the fake CUDA driver: contents and lifetime of batches, device echo, loops and their ends."""
import gc
import json
import sys
import threading
import time
import unittest
from unittest import mock

import numpy as np

import cuda_driver
import echoline
import echoline.cuda
from echoline._ahead import Ahead
from cuda_case import OnTheDevice, steps
from dlpack_consumer import consume, tensor_of
from ring_server import RingServer, images, labels, points, tokens


class Batches(OnTheDevice):
    def test_all_bytes_are_those_of_the_host(self):
        with RingServer(last=2, rows=42, consumers=2, ragged=2) as server:
            host = echoline.Loader("train", runtime_dir=server.dir, job="host")
            with echoline.cuda.Loader("train", runtime_dir=server.dir) as loader:
                self.assertEqual((len(loader), loader.epoch, list(loader.fields)), (11, 0, ["image", "label", "tokens", "points"]))
                for _ in range(3):
                    given = 0
                    for batch, wanted in zip(loader, host):
                        given += 1
                        for name in ("image", "label"):
                            np.testing.assert_array_equal(self.device.array(batch[name]), wanted[name])
                        for name, element_bytes in (("tokens", 4), ("points", 8)):
                            values, offsets = (self.device.array(part) for part in batch[name])
                            np.testing.assert_array_equal(values, wanted[name].values)
                            np.testing.assert_array_equal(offsets, wanted[name].offsets * element_bytes)
                        for fact in ("epoch", "step", "rows", "valid_rows", "fresh", "bucket_length", "is_last"):
                            self.assertEqual(getattr(batch, fact), getattr(wanted, fact), fact)
                        for words in ("sample_ids", "uses", "flags", "valid"):
                            np.testing.assert_array_equal(getattr(batch, words), getattr(wanted, words))
                    self.assertEqual(given, 11)
                self.assertEqual(loader.stats()["uses"], 33)

    def test_how_the_device_reads_the_ring_is_said_once(self):
        with RingServer() as server, self.assertLogs("echoline", "INFO") as log:
            with echoline.cuda.Loader("train", runtime_dir=server.dir) as loader:
                for _ in loader:
                    pass
        self.assertEqual([line for line in log.output if "GPU 0 reads" in line],
                         ["INFO:echoline:stream train: GPU 0 reads the shared memory itself, registered read-only"])

    def test_memory_that_the_driver_refuses_to_register_is_copied(self):
        for refusal in (2, 801):  # CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_SUPPORTED
            cuda_driver.fail("cuMemHostRegister_v2", refusal)
            with RingServer() as server, self.assertLogs("echoline", "INFO") as log:
                with echoline.cuda.Loader("train", runtime_dir=server.dir) as loader:
                    self.assertEqual(loader.stats()["path"], "staged")
                    for batch in loader:
                        self.check(batch)
            self.assertRegex(str(log.output), "GPU 0 reads pinned memory.*: the shared memory could not be registered")

    @cuda_driver.with_kernels
    def test_ragged_rows_are_padded_on_the_device(self):
        with RingServer(ragged=2) as server, \
                echoline.cuda.Loader("train", runtime_dir=server.dir, pad={"tokens": -1, "points": -1}) as loader:
            for batch in loader:
                for name, rows, wanted in (("tokens", tokens, np.full((4, 4), -1, np.int32)),
                                           ("points", points, np.full((4, 4, 2), -1, np.float32))):
                    for row, number in enumerate(steps(batch)):
                        wanted[row, :len(rows(number))] = rows(number)
                    np.testing.assert_array_equal(self.device.array(batch[name]), wanted)

    @cuda_driver.with_kernels
    def test_pixels_are_normalised(self):
        mean, std = (0.5, 0.25, 0.125), (0.5, 1.0, 2.0)
        for layout in ("chw", "hwc"):
            transform = echoline.cuda.Normalize(mean, std, "float32", layout)
            with RingServer() as server, \
                    echoline.cuda.Loader("train", runtime_dir=server.dir, transforms={"image": transform}) as loader:
                for batch in loader:
                    wanted = (images(batch.epoch, steps(batch)) / 255 - mean) / std
                    if layout == "chw":
                        wanted = wanted.transpose(0, 3, 1, 2)
                    np.testing.assert_allclose(self.device.array(batch["image"]), wanted, atol=1e-6)

    @cuda_driver.with_kernels
    def test_bfloat16_goes_by_dlpack_alone(self):
        transform = echoline.cuda.Normalize(dtype="bfloat16")
        with RingServer() as server, \
                echoline.cuda.Loader("train", runtime_dir=server.dir, transforms={"image": transform}) as loader:
            image = next(iter(loader))["image"]
            self.assertEqual((image.dtype, image.shape), ("bfloat16", (4, 3, 5, 7)))
            self.assertFalse(hasattr(image, "__cuda_array_interface__"))
            tensor = tensor_of(image.__dlpack__())
            self.assertEqual((tensor.code, tensor.bits, tensor.lanes), (4, 16, 1))
            wide = self.device.array(image).astype(np.uint32) << 16
            np.testing.assert_allclose(wide.view(np.float32), images(0, range(4)).transpose(0, 3, 1, 2) / 255, atol=2e-3)


class Echo(OnTheDevice):
    def test_each_batch_is_given_as_often_as_asked(self):
        with RingServer() as server, echoline.cuda.Loader("train", runtime_dir=server.dir, echo=(3, 5)) as loader:
            self.assertEqual(len(loader), 30)
            given = []
            for batch in loader:
                self.check(batch)
                given.append((batch.step, batch.uses.tolist()))
            for step in range(10):
                uses = [use for other, use in given if other == step]
                self.assertEqual(uses, [[row % 3 * 3 + use for row in range(4 * step, 4 * step + 4)] for use in range(3)])
            self.assertEqual(loader.stats()["uses"], 30)

    @cuda_driver.with_kernels
    def test_flips_differ_by_use_and_are_the_same_in_every_run(self):
        def run():
            with RingServer() as server, \
                    echoline.cuda.Loader("train", runtime_dir=server.dir, echo=(2, 3),
                                         transforms={"image": echoline.cuda.Flip()}) as loader:
                return [(batch.step, self.device.array(batch["image"])) for batch in loader]

        flips, first = [], run()
        for step, pixels in first:
            plain = images(0, range(4 * step, 4 * step + 4))
            for got, wanted in zip(pixels, plain):
                flips.append(np.array_equal(got, wanted[:, ::-1]))
                self.assertTrue(flips[-1] or np.array_equal(got, wanted))
        self.assertTrue(10 < sum(flips) < 70, flips)
        self.assertTrue(any(not np.array_equal(a, b) for s, a in first for t, b in first if s == t))
        for (step, pixels), (again, others) in zip(first, run()):
            self.assertEqual(step, again)
            np.testing.assert_array_equal(pixels, others)

    @cuda_driver.with_kernels
    def test_a_state_goes_on_with_exactly_the_next_use(self):
        options = {"echo": (3, 5), "transforms": {"image": echoline.cuda.Flip()}}
        with RingServer() as server, echoline.cuda.Loader("train", runtime_dir=server.dir, **options) as loader:
            whole = [(b.epoch, b.step, b.uses.tolist(), self.device.array(b["image"])) for b in loader]
        for taken in (1, 7, 14, 29):
            # The other trainer has read nothing, so the server still has the rows at the position of the state.
            with self.subTest(taken=taken), RingServer(slots=64) as server, \
                    echoline.Loader("train", runtime_dir=server.dir, job="keeper"):
                with echoline.cuda.Loader("train", runtime_dir=server.dir, **options) as loader:
                    batches = iter(loader)
                    for _ in range(taken):
                        next(batches)
                    state = json.loads(json.dumps(loader.state_dict()))
                    with self.assertRaises(echoline.FailedPrecondition):
                        echoline.cuda.Loader("train", runtime_dir=server.dir, job="other", echo=(2, 5), state=state)
                with echoline.cuda.Loader("train", runtime_dir=server.dir, **options) as loader:
                    loader.load_state_dict(state)
                    rest = [(b.epoch, b.step, b.uses.tolist(), self.device.array(b["image"])) for b in loader]
                self.assertEqual([r[:3] for r in rest], [w[:3] for w in whole[taken:]])
                for got, wanted in zip(rest, whole[taken:]):
                    np.testing.assert_array_equal(got[3], wanted[3])


    def test_batches_can_be_taken_one_ahead_with_states_of_the_one_that_was_given(self):
        """As loaders do whose mix has its partners in the next batch."""
        def pairs(loader, most=100):
            ahead, found = Ahead(loader), []
            ahead.begin_epoch()
            while len(found) < most and (pair := ahead.next(lambda batch: batch, None)) is not None:
                for batch in pair:
                    if batch is not None:
                        self.check(batch)
                found.append([(b.epoch, b.step, b.uses.tolist()) for b in pair if b is not None])
                pair = None
            return found, ahead.state_dict()

        options = {"echo": (2, 3), "depth": 4}
        with RingServer() as server, echoline.cuda.Loader("train", runtime_dir=server.dir, **options) as loader:
            whole, _ = pairs(loader)
        self.assertEqual([len(pair) for pair in whole], [2] * 19 + [1])
        self.assertEqual([pair[1] for pair in whole[:-1]], [pair[0] for pair in whole[1:]])
        for taken in (1, 8, 19):
            with self.subTest(taken=taken), RingServer(slots=64) as server, \
                    echoline.Loader("train", runtime_dir=server.dir, job="keeper"):
                with echoline.cuda.Loader("train", runtime_dir=server.dir, **options) as loader:
                    _, state = pairs(loader, taken)
                with echoline.cuda.Loader("train", runtime_dir=server.dir, **options) as loader:
                    loader.load_state_dict(state)
                    self.assertEqual(pairs(loader)[0], whole[taken:])


class Loops(OnTheDevice):
    def test_a_break_abandons_the_epoch(self):
        with RingServer() as server, echoline.cuda.Loader("train", runtime_dir=server.dir, echo=(2, 3)) as loader:
            for epoch in range(4):
                for count, batch in enumerate(loader):
                    self.check(batch)
                    self.assertEqual(batch.epoch, epoch)
                    if count == 2 * epoch:
                        break
            self.assertEqual(loader.epoch, 3)

    def test_kept_batches_end_in_words_and_letting_go_of_them_helps(self):
        with RingServer(slots=8) as server, echoline.cuda.Loader("train", runtime_dir=server.dir, depth=3) as loader:
            kept = []
            with self.assertRaisesRegex(echoline.LeaseHeld, "the trainer itself holds the device buffers.*depth, 3 now"):
                for batch in loader:
                    kept.append(batch["label"])  # the tensor holds the buffer
            self.assertEqual(len(kept), 3)
            for step, label in enumerate(kept):
                np.testing.assert_array_equal(self.device.array(label), labels(0, range(4 * step, 4 * step + 4)))
            del batch, label
            kept.clear()
            self.assertEqual(sum(1 for _ in loader), 10)

    def test_a_loop_holds_no_batch_and_goes_on_after_an_error(self):
        with RingServer(slots=8) as server, echoline.cuda.Loader("train", runtime_dir=server.dir, depth=2) as loader:
            batches = iter(loader)
            kept = [next(batches) for _ in range(2)]
            with self.assertRaises(echoline.LeaseHeld):
                next(batches)
            kept.clear()
            self.assertEqual(next(batches).step, 2)
            for batch in loader:
                del batch
                self.assertEqual([b.step for b in (loader.next(timeout=60), loader.next(timeout=60))], [1, 2])
                break

    def test_what_a_library_lets_go_of_later_is_waited_for(self):
        with RingServer(slots=8) as server, echoline.cuda.Loader("train", runtime_dir=server.dir, depth=2) as loader:
            loader._patience = 60.0
            ends = [consume(loader.next()["image"].__dlpack__()) for _ in range(2)]
            later = threading.Timer(0.1, ends[0])
            later.start()
            batch = loader.next()
            self.assertEqual(batch.step, 2)
            self.check(batch)
            later.join()
            ends[1]()

    def test_such_waiting_ends_with_the_time_limit(self):
        with RingServer(slots=8) as server, echoline.cuda.Loader("train", runtime_dir=server.dir, depth=2) as loader:
            loader._patience = 20.0
            kept = [loader.next() for _ in range(2)]
            began = time.monotonic()
            with self.assertRaises(echoline.LeaseHeld):
                loader.next(timeout=0.1)
            self.assertLess(time.monotonic() - began, 10)
            self.assertEqual(len(kept), 2)

    def test_what_such_waiting_took_is_part_of_the_time_limit(self):
        class Busy:
            """A device whose buffers are all held for its first calls, and which has no batch then."""
            def __init__(self):
                self.limits = []

            def next(self, _, limit):
                self.limits.append(limit)
                raise echoline.LeaseHeld("all are held") if len(self.limits) < 4 else TimeoutError

        with RingServer(slots=8) as server, echoline.cuda.Loader("train", runtime_dir=server.dir, depth=2) as loader:
            loader._patience = 60.0
            with mock.patch.object(loader, "_device", Busy()) as busy, self.assertRaises(TimeoutError):
                loader.next(timeout=60)
            self.assertEqual(busy.limits, sorted(busy.limits, reverse=True))
            self.assertLess(busy.limits[3], busy.limits[0])
            with mock.patch.object(loader, "_device", Busy()) as busy, self.assertRaises(TimeoutError):
                loader.next()
            self.assertEqual(busy.limits, [None] * 4)

    def test_time_limits_and_closing_from_another_thread(self):
        with RingServer(batches_max=1) as server:
            loader = echoline.cuda.Loader("train", runtime_dir=server.dir)
            self.assertIsNotNone(loader.next(timeout=60))
            with self.assertRaises(TimeoutError):
                loader.next(timeout=0.1)
            closer = threading.Timer(0.2, loader.close)
            closer.start()
            with self.assertRaisesRegex(echoline.Error, "closed"):
                loader.next()
            closer.join()
            with self.assertRaisesRegex(echoline.Error, "closed"):
                loader.state_dict()

    def test_threads_share_a_loader_by_next(self):
        with RingServer(rows=400, slots=8) as server, \
                echoline.cuda.Loader("train", runtime_dir=server.dir, depth=8, echo=(2, 3)) as loader:
            given = []

            def run():
                try:
                    while (batch := loader.next(timeout=60)) is not None:
                        self.check(batch)
                        given.append((batch.step, int(batch.uses[0]) % 2))
                except Exception as error:  # pylint: disable=broad-except
                    given.append(error)

            threads = [threading.Thread(target=run) for _ in range(3)]
            for thread in threads:
                thread.start()
            run()
            # Each thread got the end of one epoch.
            for thread in threads:
                thread.join()
            whole = [(step, use) for step in range(100) for use in (0, 1)]
            self.assertEqual(sorted(given), sorted(4 * whole))

    def test_batches_outlive_their_loader(self):
        with RingServer() as server:
            loader = echoline.cuda.Loader("train", runtime_dir=server.dir)
            batch = next(iter(loader))
            loader.close()
            del loader
            self.check(batch)
            del batch
            self.assertEqual(cuda_driver.await_counts({"device_bytes": 0}), {"device_bytes": 0})

    def test_nothing_is_left_on_the_device(self):
        before = cuda_driver.counters()
        with RingServer(slots=64) as server, echoline.Loader("train", runtime_dir=server.dir, job="keeper"):
            for depth in (2, 5):
                with echoline.cuda.Loader("train", runtime_dir=server.dir, depth=depth, echo=(2, 3)) as loader:
                    for batch in loader:
                        capsules = [batch["image"].__dlpack__(), batch["label"]._bytes()]
                    del batch, capsules
                del loader
        names = ("contexts", "streams", "events", "modules", "device_allocations", "host_allocations", "registrations")
        wanted = {name: before[name] for name in names}
        self.assertEqual(cuda_driver.await_counts(wanted), wanted)

    def test_many_batches_leave_no_objects(self):
        def everything(loader, count):
            while count > 0:
                for batch in loader:
                    image, ragged = batch["image"], batch["tokens"]
                    for tensor in (image, *ragged):
                        tensor.__dlpack__(), tensor.__dlpack__(max_version=(1, 0), stream=-1), tensor._bytes()
                        tensor.__cuda_array_interface__, tensor.shape, tensor.dtype, tensor.pointer
                    batch.uses, batch.valid, repr(batch), loader.state_dict(), loader.stats()
                    for wrong in (lambda: batch["picture"], lambda: image.__dlpack__(max_version=1)):
                        self.assertRaises((KeyError, TypeError), wrong)
                    count -= 1

        with RingServer(rows=400, slots=8, ragged=1) as server, \
                echoline.cuda.Loader("train", runtime_dir=server.dir, echo=2) as loader:
            everything(loader, 400)  # warm-up: creates what is created only once
            gc.collect()
            before = sys.getallocatedblocks(), sys.getrefcount(None), sys.getrefcount(echoline.cuda.Batch)
            everything(loader, 2000)
            gc.collect()
            after = sys.getallocatedblocks(), sys.getrefcount(None), sys.getrefcount(echoline.cuda.Batch)
        for was, now, room in zip(before, after, (500, 500, 10)):
            self.assertLess(now - was, room)

    def test_wrong_arguments_leave_no_loader_behind(self):
        normalize, flip = echoline.cuda.Normalize, echoline.cuda.Flip()
        with RingServer(ragged=1, slots=64) as server, echoline.Loader("train", runtime_dir=server.dir, job="keeper"):
            for wrong in ({"transforms": {"picture": flip}}, {"transforms": {"image": normalize(mean=(1, 2))}},
                          {"transforms": {"image": normalize(dtype="int8")}}, {"transforms": {"label": flip}},
                          {"transforms": {"image": normalize(layout="nhwc")}}, {"transforms": {"image": 1}},
                          {"transforms": {"image": normalize(std=0)}}, {"pad": {"image": 0}}, {"depth": 1}, {"depth": -1},
                          {"echo": 0}, {"echo": (2, 1), "transforms": {"image": flip}}, {"device": 1}):
                with self.subTest(wrong=wrong), self.assertRaises(echoline.InvalidArgument):
                    echoline.cuda.Loader("train", runtime_dir=server.dir, **wrong)
            self.assertEqual(sum(1 for _ in echoline.cuda.Loader("train", runtime_dir=server.dir)), 10)


class OtherThreads(OnTheDevice):
    """The driver may wait for the device, and the device for a Python thread, for example in a host function of a stream."""

    def setUp(self):
        super().setUp()
        # Then a thread runs only while another one has released the GIL voluntarily.
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1000)
        self.turns, self.ended = 0, False
        thread = threading.Thread(target=self.count)
        self.addCleanup(thread.join)
        self.addCleanup(setattr, self, "ended", True)
        thread.start()

    def count(self):
        while not self.ended:
            self.turns += 1
            time.sleep(0)

    def check_that_they_run(self, work, make=list):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            made = make()
            before = self.turns
            work(made)
            if self.turns != before:
                return
        self.fail("no other thread has run")

    def test_while_a_batch_is_asked_for(self):
        def ask(_):
            try:
                loader.next(timeout=0)
                self.fail("there are no batches")
            except TimeoutError:
                pass

        with RingServer(batches_max=0) as server, echoline.cuda.Loader("train", runtime_dir=server.dir) as loader:
            self.check_that_they_run(ask)

    def test_while_a_batch_is_given_back(self):
        with RingServer(rows=400_000, slots=8) as server, echoline.cuda.Loader("train", runtime_dir=server.dir) as loader:
            self.check_that_they_run(echoline.cuda.Batch.release, loader.next)
            self.check_that_they_run(list.clear, lambda: [loader.next()])
            self.check_that_they_run(list.clear, lambda: [loader.next()["image"]])


if __name__ == "__main__":
    unittest.main(verbosity=1)
