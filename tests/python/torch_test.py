"""echoline.torch.Loader on the CPU. Skipped where there is no torch."""
import unittest
import warnings
import weakref

from ring_server import RingServer, images, labels

try:
    import torch
    import echoline
    import echoline.torch
except ImportError as error:
    raise unittest.SkipTest(f"no torch: {error}") from error


class TorchLoader(unittest.TestCase):
    def test_batches_are_dicts_of_tensors_on_the_shared_memory(self):
        with RingServer(last=2, rows=42) as server, warnings.catch_warnings():
            warnings.simplefilter("error")
            loader = echoline.torch.Loader("train", runtime_dir=server.dir)
            self.assertEqual(len(loader), 11)
            for epoch in range(2):
                for step, batch in enumerate(loader):
                    rows = range(4 * step, min(4 * step + 4, 42))
                    self.assertTrue(torch.equal(batch["image"], torch.from_numpy(images(epoch, rows))))
                    self.assertTrue(torch.equal(batch["label"], torch.from_numpy(labels(epoch, rows))))
                    self.assertEqual(batch.uses.tolist(), [row % 3 for row in rows])
                    self.assertTrue(batch.valid.all())

    def test_a_tensor_holds_its_slot(self):
        with RingServer(rows=4000) as server:
            loader = echoline.torch.Loader("train", runtime_dir=server.dir, fields=("label",))
            batches = iter(loader)
            kept = [next(batches)[0][1:]]
            with self.assertRaises(echoline.LeaseHeld):
                for _ in batches:
                    pass
            self.assertEqual(kept[0].tolist(), [1, 2, 3])
            kept.clear()
            self.assertEqual(sum(1 for _ in loader), 1000)

    def test_a_loop_holds_no_batch(self):
        with RingServer() as server:
            for batch in echoline.torch.Loader("train", runtime_dir=server.dir):
                gone = weakref.ref(batch)
                del batch
                self.assertTrue(gone() is None)

    def test_tuples_states_and_clones(self):
        with RingServer() as server:
            with self.assertRaises(KeyError):
                echoline.torch.Loader("train", runtime_dir=server.dir, fields=("picture",))
            loader = echoline.torch.Loader("train", runtime_dir=server.dir, fields=("label", "image"))
            for label, image in loader:
                label, image = label.clone(), image.float()
                state = loader.state_dict()
                break
            loader.close()
            loader = echoline.torch.Loader("train", runtime_dir=server.dir, state=state)
            self.assertEqual(next(iter(loader)).clone()["label"][0], 4)
            self.assertEqual(loader.next(timeout=30)["label"].tolist(), [8, 9, 10, 11])

    def test_a_gpu_is_for_a_torch_that_has_one(self):
        if torch.cuda.is_available():
            self.skipTest("this torch sees a GPU: tests/bench/gpu/torch_test.py")
        with RingServer() as server:
            for device in ("cuda", torch.device("cuda", 1)):
                with self.assertRaisesRegex(echoline.Error, f"{device}.*this torch .* (is built without CUDA|sees no GPU)"):
                    echoline.torch.Loader("train", runtime_dir=server.dir, device=device)
            with self.assertRaises(NotImplementedError):
                echoline.torch.Loader("train", runtime_dir=server.dir, device="meta")
            for name in ("depth", "echo", "transforms", "pad"):
                with self.assertRaisesRegex(echoline.InvalidArgument, f"{name} is for GPUs"):
                    echoline.torch.Loader("train", runtime_dir=server.dir, **{name: 2})
            self.assertEqual(sum(1 for _ in echoline.torch.Loader("train", runtime_dir=server.dir, device="cpu")), 10)

    def test_types_of_torch_name_those_of_a_transform(self):
        from echoline.cuda import _dtype_number
        numbers = [_dtype_number("image", dtype) for dtype in (torch.float16, torch.float32, torch.bfloat16)]
        self.assertEqual(numbers, [9, 10, 12])


if __name__ == "__main__":
    unittest.main(verbosity=1)
