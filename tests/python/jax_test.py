"""echoline.jax.Loader on the CPU. Skipped where there is no JAX."""
import unittest
import weakref

import numpy as np

from ring_server import RingServer, images, labels, sample_ids, tokens

try:
    import jax
    import jax.numpy as jnp
    import echoline
    import echoline.jax
except ImportError as error:
    raise unittest.SkipTest(f"no JAX: {error}") from error


class JaxLoader(unittest.TestCase):
    def test_batches_are_dicts_of_arrays(self):
        with RingServer(last=2, rows=42, ragged=1) as server:
            loader = echoline.jax.Loader("train", runtime_dir=server.dir)
            self.assertEqual(len(loader), 11)
            for epoch in range(2):
                for step, batch in enumerate(loader):
                    rows = range(4 * step, min(4 * step + 4, 42))
                    self.assertIsInstance(batch["image"], jax.Array)
                    np.testing.assert_array_equal(batch["image"], images(epoch, rows))
                    np.testing.assert_array_equal(batch["label"], labels(epoch, rows))
                    np.testing.assert_array_equal(batch.sample_ids, sample_ids(epoch, rows))
                    values, offsets = batch["tokens"]
                    np.testing.assert_array_equal(values[offsets[1]:offsets[2]], tokens(rows[1]))

    def test_arrays_keep_their_values_while_they_live(self):
        # Longer than the ring: what was a view of a slot that is filled anew would show other rows.
        with RingServer(rows=400, slots=8) as server:
            kept = []
            for batch in echoline.jax.Loader("train", runtime_dir=server.dir):
                step = jax.jit(lambda image: image.astype(jnp.int32).sum(axis=(1, 2, 3)))(batch["image"])
                kept.append((batch.step, step))
            for step, sums in kept:
                wanted = images(0, range(4 * step, 4 * step + 4)).astype(np.int32).sum(axis=(1, 2, 3))
                np.testing.assert_array_equal(sums, wanted)
            self.assertEqual(len(kept), 100)

    def test_a_loop_holds_no_batch(self):
        with RingServer() as server:
            for batch in echoline.jax.Loader("train", runtime_dir=server.dir):
                gone = weakref.ref(batch)
                del batch
                self.assertTrue(gone() is None)

    def test_tuples_and_states(self):
        with RingServer() as server:
            with self.assertRaises(KeyError):
                echoline.jax.Loader("train", runtime_dir=server.dir, fields=("picture",))
            loader = echoline.jax.Loader("train", runtime_dir=server.dir, fields=("label", "image"))
            for label, _ in loader:
                np.testing.assert_array_equal(label, labels(0, range(4)))
                break
            state = loader.state_dict()
            loader.close()
            loader = echoline.jax.Loader("train", runtime_dir=server.dir, state=state)
            self.assertEqual(int(next(iter(loader))["label"][0]), 4)
            self.assertEqual(loader.next(timeout=30)["label"].tolist(), [8, 9, 10, 11])

    def test_a_gpu_is_for_a_jax_that_has_one(self):
        try:
            jax.devices("cuda")
            self.skipTest("this JAX sees a GPU")
        except RuntimeError:
            pass
        with RingServer() as server:
            with self.assertRaisesRegex(echoline.Error, "'cuda:1'.*has no CUDA"):
                echoline.jax.Loader("train", runtime_dir=server.dir, device="cuda:1")
            with self.assertRaises(echoline.InvalidArgument):
                echoline.jax.Loader("train", runtime_dir=server.dir, device="tpu")
            with self.assertRaisesRegex(echoline.InvalidArgument, "echo is for GPUs"):
                echoline.jax.Loader("train", runtime_dir=server.dir, echo=2)
            loader = echoline.jax.Loader("train", runtime_dir=server.dir, device=jax.devices("cpu")[0])
            self.assertEqual(sum(1 for _ in loader), 10)


if __name__ == "__main__":
    unittest.main(verbosity=1)
