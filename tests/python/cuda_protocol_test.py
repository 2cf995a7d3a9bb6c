"""Batches on a GPU for other libraries: DLPack, CUDA's array interface, streams."""
import threading
import unittest

import cuda_driver
import echoline
import echoline.cuda
from cuda_case import LEGACY, OnTheDevice
from dlpack_consumer import api, consume, managed_of, tensor_of
from ring_server import RingServer


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
            with self.assertRaisesRegex(echoline.FailedPrecondition, "released"):
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


if __name__ == "__main__":
    unittest.main(verbosity=1)
