"""echoline.jax.Loader on the CPU. Skipped where there is no JAX."""
import unittest

import numpy as np

from framework_case import FrameworkTests
from mix_case import MixTests, one_hot
from ring_server import RingServer, images, points, tokens

try:
    import jax
    import jax.numpy as jnp
    import echoline
    import echoline.jax
    from echoline._mix import random_of
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


class JaxMix(MixTests, unittest.TestCase):
    module = echoline.jax

    def test_mixup_blends_images_and_labels_with_the_drawn_share(self):
        with RingServer() as server:
            for batch in self.loader(server, fields={"image": "image", "label": "label"}):
                rows = list(range(4 * batch.step, 4 * batch.step + 4))
                batch["image"] = batch["image"].astype(jnp.float32) / 255
                mixed = echoline.jax.MixUp(0.3, 40)(batch)
                share, plain = random_of(batch).beta(0.3, 0.3), images(0, rows).astype(np.float32) / 255
                np.testing.assert_allclose(mixed["image"], share * plain + (1 - share) * np.roll(plain, 1, 0), atol=1e-6)
                np.testing.assert_allclose(mixed["label"], share * one_hot(rows) + (1 - share) * one_hot(np.roll(rows, 1)),
                                           atol=1e-6)


if __name__ == "__main__":
    unittest.main(verbosity=1)
