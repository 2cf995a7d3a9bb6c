"""echoline.jax.Loader on the CPU. Skipped where there is no JAX."""
import unittest

import numpy as np

from framework_case import FrameworkTests
from ring_server import RingServer, images, points, tokens

try:
    import jax
    import jax.numpy as jnp
    import echoline
    import echoline.jax
except ImportError as error:
    raise unittest.SkipTest(f"no JAX: {error}") from error


class JaxLoader(FrameworkTests, unittest.TestCase):
    module, array_type = echoline.jax, jax.Array

    def test_ragged_fields_are_pairs_of_values_and_offsets(self):
        with RingServer(ragged=2) as server:
            for batch in self.loader(server):
                for name, expected in (("tokens", tokens), ("points", points)):
                    values, offsets = batch[name]
                    np.testing.assert_array_equal(values[offsets[1]:offsets[2]], expected(4 * batch.step + 1))

    def test_arrays_keep_their_values_after_the_ring_reuses_the_slot(self):
        # More batches than slots: a view of a slot that was filled again would show other rows.
        with RingServer(rows=400, slots=8) as server:
            kept = []
            for batch in self.loader(server):
                step = jax.jit(lambda image: image.astype(jnp.int32).sum(axis=(1, 2, 3)))(batch["image"])
                kept.append((batch.step, step))
            for step, sums in kept:
                wanted = images(0, range(4 * step, 4 * step + 4)).astype(np.int32).sum(axis=(1, 2, 3))
                np.testing.assert_array_equal(sums, wanted)
            self.assertEqual(len(kept), 100)

    def test_a_gpu_device_needs_a_jax_that_sees_one(self):
        try:
            jax.devices("cuda")
            self.skipTest("this JAX sees a GPU")
        except RuntimeError:
            pass
        with RingServer() as server:
            with self.assertRaisesRegex(echoline.Error, "'cuda:1'.*has no CUDA"):
                self.loader(server, device="cuda:1")
            with self.assertRaises(echoline.InvalidArgument):
                self.loader(server, device="tpu")
            with self.assertRaisesRegex(echoline.InvalidArgument, "echo is for GPUs"):
                self.loader(server, echo=2)
            loader = self.loader(server, device=jax.devices("cpu")[0])
            self.assertEqual(sum(1 for _ in loader), 10)


if __name__ == "__main__":
    unittest.main(verbosity=1)
