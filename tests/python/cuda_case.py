"""Base class of the tests that use the fake CUDA driver."""
import unittest

import numpy as np

import cuda_driver
from ring_server import images, labels, sample_ids

LEGACY = 0  # the legacy default stream


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
