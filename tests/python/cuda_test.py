"""echoline.cuda on the stand-in of the CUDA driver: whose memory is whose, in which order, and how it ends."""
import ctypes
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import cuda_driver
import echoline
import echoline.cuda
from ring_server import RingServer, images, labels, sample_ids, tokens

LEGACY = 0


def steps(batch):
    return range(4 * batch.step, 4 * batch.step + batch.rows)


class OnTheDevice(unittest.TestCase):
    def setUp(self):
        self.device = cuda_driver.Device()
        self.addCleanup(self.device.close)

    def tearDown(self):
        self.assertEqual(cuda_driver.misuses(), [])
        self.assertEqual(cuda_driver.counters()["torn_reads"], 0)

    def check(self, batch, stream=LEGACY):
        rows = steps(batch)
        np.testing.assert_array_equal(self.device.array(batch["image"], stream), images(batch.epoch, rows))
        np.testing.assert_array_equal(self.device.array(batch["label"], stream), labels(batch.epoch, rows))
        np.testing.assert_array_equal(batch.sample_ids, sample_ids(batch.epoch, rows))


class Batches(OnTheDevice):
    def test_all_bytes_are_those_of_the_host(self):
        with RingServer(last=2, rows=42, consumers=2, ragged=1) as server:
            host = echoline.Loader("train", runtime_dir=server.dir, job="host")
            with echoline.cuda.Loader("train", runtime_dir=server.dir) as loader:
                self.assertEqual((len(loader), loader.epoch, list(loader.fields)), (11, 0, ["image", "label", "tokens"]))
                for _ in range(3):
                    given = 0
                    for batch, wanted in zip(loader, host):
                        given += 1
                        for name in ("image", "label"):
                            np.testing.assert_array_equal(self.device.array(batch[name]), wanted[name])
                        ragged = batch["tokens"]
                        np.testing.assert_array_equal(self.device.array(ragged.values), wanted["tokens"].values)
                        np.testing.assert_array_equal(self.device.array(ragged.offsets), wanted["tokens"].offsets * 4)
                        for fact in ("epoch", "step", "rows", "valid_rows", "fresh", "is_last"):
                            self.assertEqual(getattr(batch, fact), getattr(wanted, fact), fact)
                        for words in ("sample_ids", "uses", "flags", "valid"):
                            np.testing.assert_array_equal(getattr(batch, words), getattr(wanted, words))
                    self.assertEqual(given, 11)
                self.assertEqual(loader.stats()["uses"], 33)

    @cuda_driver.with_kernels
    def test_ragged_rows_are_padded_on_the_device(self):
        with RingServer(ragged=1) as server, \
                echoline.cuda.Loader("train", runtime_dir=server.dir, pad={"tokens": -1}) as loader:
            for batch in loader:
                wanted = np.full((4, 4), -1, np.int32)
                for row, number in enumerate(steps(batch)):
                    wanted[row, :len(tokens(number))] = tokens(number)
                np.testing.assert_array_equal(self.device.array(batch["tokens"]), wanted)

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
            # The keeper has read nothing, so the server still has what a state asks for.
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
            # Each met the end of one epoch.
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
            self.assertEqual(cuda_driver.counters()["device_bytes"], 0)

    def test_nothing_is_left_on_the_device(self):
        before = cuda_driver.counters()
        with RingServer(slots=64) as server, echoline.Loader("train", runtime_dir=server.dir, job="keeper"):
            for depth in (2, 5):
                with echoline.cuda.Loader("train", runtime_dir=server.dir, depth=depth, echo=(2, 3)) as loader:
                    for batch in loader:
                        capsules = [batch["image"].__dlpack__(), batch["label"]._bytes()]
                    del batch, capsules
                del loader
        after = cuda_driver.counters()
        for name in ("contexts", "streams", "events", "modules", "device_allocations", "host_allocations", "registrations"):
            self.assertEqual(after[name], before[name], name)

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
            everything(loader, 400)  # what is made once is made
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


# Of DLPack, as a consumer sees them.
class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class DlManaged(ctypes.Structure):
    _fields_ = [("tensor", DlTensor), ("owner", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class DlVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("owner", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DlTensor)]


NAMES = {b"dltensor": DlManaged, b"dltensor_versioned": DlVersioned}
api = ctypes.pythonapi
api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


def managed_of(capsule):
    name = api.PyCapsule_GetName(capsule)
    return NAMES[name].from_address(api.PyCapsule_GetPointer(capsule, name))


def tensor_of(capsule):
    return managed_of(capsule).tensor


USED = b"used_dltensor"  # lives as long as capsules of that name


def consume(capsule):
    """What a library does: it renames the capsule and owns the structure; the result ends it, without Python's lock."""
    managed = managed_of(capsule)
    api.PyCapsule_SetName(capsule, USED)
    return lambda: ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))


class Protocols(OnTheDevice):
    def setUp(self):
        super().setUp()
        self.server = RingServer(slots=8)
        self.loader = echoline.cuda.Loader("train", runtime_dir=self.server.dir, depth=2)

    def tearDown(self):
        self.loader.close()
        self.server.__exit__()
        super().tearDown()

    def stream(self):
        made = self.device.stream()
        self.addCleanup(self.device.destroy, made)
        return made

    def test_both_kinds_of_capsules_say_where_and_what(self):
        image = self.loader.next()["image"]
        self.assertEqual(image.__dlpack_device__(), (2, 0))
        for capsule, name in ((image.__dlpack__(), b"dltensor"), (image.__dlpack__(max_version=(0, 8)), b"dltensor"),
                              (image.__dlpack__(stream=1, max_version=(1, 1)), b"dltensor_versioned")):
            self.assertEqual(api.PyCapsule_GetName(capsule), name)
            tensor = tensor_of(capsule)
            self.assertEqual((tensor.data, tensor.device_type, tensor.device), (image.pointer, 2, 0))
            self.assertEqual((tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset), (1, 8, 1, 0))
            self.assertEqual((tensor.shape[:tensor.rank], tensor.strides[:tensor.rank]), ([4, 5, 7, 3], [105, 21, 3, 1]))
        self.assertEqual((managed_of(capsule).major, managed_of(capsule).flags), (1, 0))

    def test_what_cannot_be_is_a_buffer_error(self):
        image = self.loader.next()["image"]
        image.__dlpack__(dl_device=(2, 0), copy=False, stream=-1)
        for wrong in ({"copy": True}, {"dl_device": (1, 0)}):
            with self.assertRaises(BufferError):
                image.__dlpack__(**wrong)
        with self.assertRaises(TypeError):
            image.__dlpack__(1)

    def test_a_consumer_keeps_the_batch_until_its_deleter(self):
        deleters = [consume(self.loader.next()["image"].__dlpack__()) for _ in range(2)]
        with self.assertRaises(echoline.LeaseHeld):
            self.loader.next(timeout=60)
        thread = threading.Thread(target=deleters[0])
        thread.start()
        thread.join()
        batch = self.loader.next(timeout=60)
        self.assertEqual(batch.step, 2)
        deleters[1]()
        self.check(batch)

    def test_a_capsule_that_nobody_consumed_gives_its_batch_back(self):
        for step in range(6):
            capsule = self.loader.next(timeout=60)["image"].__dlpack__(max_version=(1, 0))
            self.assertEqual(managed_of(capsule).tensor.shape[0], 4, step)

    def test_the_array_interface_names_the_stream(self):
        stream = self.stream()
        for number, told in ((LEGACY, 1), (stream, stream)):
            self.loader._stream_of = lambda number=number: number
            label = self.loader.next()["label"]
            self.assertEqual(label.__cuda_array_interface__,
                             {"shape": (4,), "typestr": "<i8", "data": (label.pointer, False), "version": 3,
                              "strides": None, "stream": told})

    def test_another_stream_is_made_to_wait(self):
        mine, other = self.stream(), self.stream()
        self.loader._stream_of = lambda: mine
        cuda_driver.set_delay(20_000, 30_000)
        for batch in self.loader:
            batch["image"].__dlpack__(stream=other)
            self.check(batch, other)
            batch.wait(None)
            self.check(batch, LEGACY)
        cuda_driver.set_delay(0, 200)

    def test_giving_back_by_hand(self):
        batch = self.loader.next()
        image = batch["image"]
        batch.release()
        batch.release(LEGACY)
        for use in (lambda: batch["label"], image.__dlpack__, lambda: image.pointer, lambda: batch.uses):
            with self.assertRaisesRegex(echoline.FailedPrecondition, "given back"):
                use()
        self.assertEqual(sum(1 for _ in self.loader), 10)

    def test_a_captured_stream_is_refused(self):
        stream = self.stream()
        self.loader._stream_of = lambda: stream
        cuda_driver.set_capture(stream, 1)
        with self.assertRaisesRegex(echoline.InvalidArgument, "captured into a CUDA graph"):
            self.loader.next()
        cuda_driver.set_capture(stream, 0)
        self.check(self.loader.next(), stream)


class Ends(unittest.TestCase):
    def run_in_process(self, code, **environment):
        with RingServer(batches_max=1) as server:
            process = subprocess.Popen([sys.executable, "-c", code, server.dir], stdout=subprocess.PIPE, text=True,
                                       stderr=subprocess.PIPE, env={**os.environ, **environment})
            if "ready" in code:
                self.assertEqual(process.stdout.readline(), "ready\n")
                time.sleep(0.1)  # into the wait; without it the test shows less, and passes
                process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        return process.returncode, errors

    def test_ctrl_c_ends_a_wait(self):
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "loader = echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n"
                                           "batch = loader.next()\nprint('ready', flush=True)\nloader.next()\n")
        self.assertIn("KeyboardInterrupt", errors)
        self.assertEqual(code, -signal.SIGINT, errors)

    def test_a_forked_child_is_told(self):
        code, errors = self.run_in_process("import os, sys, echoline.cuda\n"
                                           "loader = echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n"
                                           "batch = loader.next()\n"
                                           "if os.fork() == 0:\n"
                                           "    for use in (loader.next, loader.stats, lambda: batch['image']):\n"
                                           "        try: use(); os._exit(1)\n"
                                           "        except echoline.Forked: pass\n"
                                           "    del batch; loader.close(); os._exit(0)\n"
                                           "assert os.wait()[1] == 0\n"
                                           "assert loader.state_dict()['row'] == 4, loader.state_dict()\n")
        self.assertEqual((code, errors), (0, ""))

    def test_a_process_may_end_without_closing(self):
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "loader = echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n"
                                           "batch = loader.next()\n")
        self.assertEqual((code, errors), (0, ""))

    def test_no_gpu_is_said(self):
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n",
                                           FAKE_CUDA_DEVICES="0")
        self.assertEqual(code, 1)
        self.assertRegex(errors, r"echoline\._errors\.\w+: .*(CUDA|GPU)")

    @unittest.skipIf("ECHOLINE_GPU_RATE" not in os.environ, "the examples are not built")
    def test_the_example_in_cpp(self):
        def run(**environment):
            with RingServer() as server:
                return subprocess.run([os.environ["ECHOLINE_GPU_RATE"], "train", "2", "3", "5"], capture_output=True,
                                      text=True, timeout=60, check=False,
                                      env={**os.environ, "ECHOLINE_RUNTIME_DIR": server.dir, **environment})

        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^240 rows, 28 of them fresh, in 60 uses of 2[0-9] batches: \d+ rows/s; shared memory "
                                      r"registered read-only\ncopied .*waiting [\d.]+ % of the time\n$")
        done = run(FAKE_CUDA_DEVICES="0")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^gpu_rate: unavailable: .*CUDA_ERROR_NO_DEVICE")

    def test_failures_of_the_driver_are_told_by_name(self):
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n",
                                           FAKE_CUDA_FAIL="cuMemAlloc_v2:2:1")
        self.assertEqual(code, 1)
        self.assertRegex(errors, "of GPU memory for a batch; lower the depth.*CUDA_ERROR_OUT_OF_MEMORY")
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "loader = echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n"
                                           "while loader.next(): pass\n", FAKE_CUDA_FAIL="async:700:1+")
        self.assertEqual(code, 1)
        self.assertRegex(errors, "CUDA_ERROR_ILLEGAL_ADDRESS")


if __name__ == "__main__":
    unittest.main(verbosity=1)
