#!/usr/bin/env python3
"""A daemon's batches on a GPU, with the fake CUDA driver: every row has the values that a trainer on the host gets, also
after a resume in the middle of an epoch, and when the daemon is killed during copies."""
import json
import signal
import unittest

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.photos import numpy
from support.process_case import ProcessCase, main
from support.programs import skip

try:
    import cuda_driver  # of tests/python
    import echoline
    import echoline.cuda
except (ImportError, OSError, unittest.SkipTest) as missing:
    skip(f"the Python package, or the fake driver: {missing}")

ECHO = (2, 3)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def normalized(pixels):
    return ((pixels / 255 - MEAN) / STD).transpose(0, 3, 1, 2)


class GpuBatches(ProcessCase):
    @classmethod
    def setUpClass(cls):
        url = photos.made_shards(cls.class_folder(), shards=1, records=80)[0]
        cls.streams = stream_yaml(
            [f"read: {{url: '{url}', format: webdataset}}", "shuffle: {window: 16}",
             "echo: {factor: 1.5, window: 24}", "decode: {image: {key: jpg, as: rgb}}",
             "random_resized_crop: {field: image, size: [24, 32]}", "batch: {size: 8, last: pad}", "publish: {slots: 6}"])
        cls.device = cuda_driver.Device()
        with Daemon(cls.streams) as daemon:
            with echoline.Loader("train", runtime_dir=daemon.runtime_dir) as host:
                cls.expected = {(batch.epoch, batch.step): batch
                                for _ in range(2) for batch in map(echoline.Batch.copy, host)}

    def tearDown(self):
        self.assertEqual(cuda_driver.misuses(), [])

    def loader(self, daemon, **options):
        transform = echoline.cuda.Normalize(MEAN, STD, layout="chw")
        return echoline.cuda.Loader("train", runtime_dir=daemon.runtime_dir, echo=ECHO, depth=3,
                                    transforms={"image": transform}, **options)

    def check(self, batch):
        """Compares the batch with the host's; (epoch, step, use on the device)."""
        wanted = self.expected[batch.epoch, batch.step]
        numpy.testing.assert_allclose(self.device.array(batch["image"]), normalized(wanted["image"]), atol=1e-5)
        for words in ("sample_ids", "valid"):
            numpy.testing.assert_array_equal(getattr(batch, words), getattr(wanted, words))
        uses = set((batch.uses - ECHO[0] * wanted.uses).tolist())
        self.assertEqual(len(uses), 1)
        return batch.epoch, batch.step, uses.pop()

    def taken(self, loader, count):
        """The next `count` batches, also across the end of an epoch."""
        while count > 0:
            batch = loader.next(timeout=60)
            if batch is not None:
                yield batch
                count -= 1

    @cuda_driver.with_kernels
    def test_rows_equal_those_of_the_host_and_a_state_resumes_exactly(self):
        with Daemon(self.streams) as daemon, self.loader(daemon) as loader:
            whole = [self.check(batch) for _ in range(2) for batch in loader]
            self.assertEqual(len(whole), 2 * len(loader))
            self.assertEqual(sorted(whole), [(epoch, step, use) for epoch, step in sorted(self.expected) for use in (0, 1)])
        with Daemon(self.streams) as daemon, self.loader(daemon) as loader:
            start = loader.state_dict()
            for taken in (3, len(loader) - 1, len(loader) + 4):
                with self.subTest(taken=taken):
                    loader.load_state_dict(start)
                    given = [self.check(batch) for batch in self.taken(loader, taken)]
                    self.assertEqual(given, whole[:taken])
                    state = json.loads(json.dumps(loader.state_dict()))
                    after = [self.check(batch) for batch in self.taken(loader, 3)]
                    self.assertEqual(after, whole[taken:taken + 3])
                    loader.load_state_dict(state)
                    self.assertEqual([self.check(batch) for batch in self.taken(loader, 3)], after)

    @cuda_driver.with_kernels
    def test_a_daemon_killed_during_copies_loses_no_batch(self):
        with Daemon(self.streams) as daemon, self.loader(daemon) as loader:
            given = []
            for count, batch in enumerate(loader):
                given.append(self.check(batch))
                if count == 4:
                    daemon.stop(signal.SIGKILL)
                    daemon.start()
            self.assertEqual(sorted(given), [(0, step, use) for epoch, step in sorted(self.expected) if epoch == 0
                                             for use in (0, 1)])
        del batch
        self.assertEqual(cuda_driver.await_counts({"registrations": 0}), {"registrations": 0})


if __name__ == "__main__":
    main()
