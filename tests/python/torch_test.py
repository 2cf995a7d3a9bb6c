"""echoline.torch.Loader on the CPU. Skipped where there is no torch."""
import signal
import subprocess
import sys
import types
import unittest
import unittest.mock
import warnings

from framework_case import FrameworkTests
from mix_case import CLASSES, MixTests
from ring_server import RingServer, points

try:
    import torch
    import echoline
    import echoline.torch
    from echoline._mix import random_of
except ImportError as error:
    raise unittest.SkipTest(f"no torch: {error}") from error


class TorchLoader(FrameworkTests, unittest.TestCase):
    module, array_type = echoline.torch, torch.Tensor

    def setUp(self):
        # Torch warns about arrays that cannot be written.
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("error")

    def test_a_tensor_holds_its_slot(self):
        with RingServer(rows=4000) as server:
            loader = self.loader(server, fields=("label",))
            batches = iter(loader)
            kept = [next(batches)[0][1:]]
            with self.assertRaises(echoline.LeaseHeld):
                for _ in batches:
                    pass
            self.assertEqual(kept[0].tolist(), [1, 2, 3])
            kept.clear()
            self.assertEqual(sum(1 for _ in loader), 1000)

    def test_ragged_fields_are_lists_of_views(self):
        with RingServer(ragged=2) as server:
            for batch in self.loader(server):
                for row, value in enumerate(batch["points"]):
                    self.assertEqual(value.tolist(), points(4 * batch.step + row).tolist())
                    self.assertEqual(value.shape[1:], (2,))
                whole = echoline.torch.padded(batch["points"], -1, length=5)
                self.assertEqual(whole.shape, (4, 5, 2))
                for row, value in zip(whole, batch["points"]):
                    self.assertEqual(row.tolist(), value.tolist() + [[-1, -1]] * (5 - len(value)))
                with self.assertRaisesRegex(echoline.InvalidArgument, "more than the length to pad to, 0"):
                    echoline.torch.padded(batch["points"], length=0)
                first, second = batch["points"][1:3]
                if len(first) and len(second):
                    self.assertEqual(second.data_ptr() - first.data_ptr(), first.numel() * first.element_size())

    def test_clones_outlive_their_batch(self):
        with RingServer(rows=400, slots=8) as server:
            kept = [batch.clone()["label"] for batch in self.loader(server)]
            self.assertEqual(torch.cat(kept).tolist(), list(range(400)))

    def test_writable_tensors_are_copies_that_can_be_kept_and_written_to(self):
        with RingServer(rows=400, slots=8) as server:
            loader = self.loader(server, fields=("image", "label"), writable=True)
            kept = list(loader)
            for image, _ in kept:
                image.mul_(0)
            self.assertEqual(int(sum(image.sum() for image, _ in kept)), 0)
            self.assertEqual(torch.cat([label for _, label in kept]).tolist(), list(range(400)))
        with RingServer() as server, self.loader(server) as plain:
            batch = plain.next()
            self.assertRegex(repr(batch), r"^TensorBatch\(epoch 0, step 0, 4 rows of .*label int64 \[\]")
            self.assertRegex(repr(loader), r"^echoline.torch.Loader\('train', .*giving tuples of image, label$")

    def end_of(self, server, what, *options):
        """Runs a program that has the first batch and does `what`, and returns how it ended."""
        program = ("import ctypes, os, sys, echoline.torch\n"
                   f"batch = echoline.torch.Loader('train', runtime_dir={server.dir!r}).next()\n{what}\n")
        done = subprocess.run([sys.executable, "-B", *options, "-c", program], capture_output=True, text=True, timeout=60,
                              check=False)
        return done.returncode, done.stderr

    def test_writing_to_a_tensor_of_shared_memory_names_batch_and_field(self):
        with RingServer() as server:
            status, said = self.end_of(server, "batch['image'].mul_(0)")
            self.assertEqual(status, -signal.SIGSEGV)
            self.assertRegex(said, r"^echoline: this fault is a write to field 'image' of the batch at epoch 0, step 0, "
                                   r"which is read-only shared memory: write to its clone\(\), or use .*writable=True")
        with RingServer() as server:
            _, said = self.end_of(server, "batch['label'].add_(1)", "-X", "faulthandler")
            self.assertRegex(said, r"(?s)write to field 'label'.*Fatal Python error: Segmentation fault.*line 3 in <module>")
        with RingServer() as server:
            status, said = self.end_of(server, "ctypes.string_at(0)")
            self.assertEqual((status, said), (-signal.SIGSEGV, ""))  # another fault
        with RingServer() as server:
            status, said = self.end_of(server, "image, child = batch['image'], os.fork()\n"
                                               "if child == 0: image.sum()\n"
                                               "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) + 100)")
            self.assertEqual(status, 100 - signal.SIGSEGV, said)
            self.assertIn("a forked child to field 'image'", said)

    def test_losses_that_still_have_gradients_are_reported(self):
        with RingServer() as server, self.loader(server) as loader:
            batch = loader.next()
            losses = torch.ones(4, dtype=torch.bfloat16, requires_grad=True) * 2
            self.assertEqual(loader.report(losses, batch.uses), 4)

    def test_states_work_as_those_of_a_stateful_data_loader(self):
        def epochs(make):
            """What loaders give that continue before the first batch, within an epoch, and at its end."""
            loader, found = make(), []
            states = [loader.state_dict()]
            batches = iter(loader)
            first = [int(next(batches)[0]) for _ in range(3)]
            states.append(loader.state_dict())
            found.append(first + [int(batch[0]) for batch in batches])
            states.append(loader.state_dict())
            for state in states:
                loader = make()
                loader.load_state_dict(state)
                self.assertEqual(len(loader), 10)
                found.append([int(batch[0]) % 1_000_000 for batch in loader])  # labels of RingServer have the epoch before
                found.append([int(batch[0]) % 1_000_000 for batch in loader])
            return found

        def make():
            server = self.enterContext(RingServer())
            return self.loader(server, collate=lambda batch: batch["label"].clone())

        whole, rest = list(range(0, 40, 4)), list(range(12, 40, 4))
        expected = [whole, whole, whole, rest, whole, whole, whole]
        self.assertEqual(epochs(make), expected)
        try:
            with warnings.catch_warnings(action="ignore"):
                from torchdata.stateful_dataloader import StatefulDataLoader
        except ImportError:
            self.skipTest("no torchdata to compare with")
        with warnings.catch_warnings(action="ignore"):
            self.assertEqual(epochs(lambda: StatefulDataLoader(list(range(40)), batch_size=4)), expected)

    def test_a_data_loader_around_a_data_set_gives_the_batches_and_refuses_workers(self):
        with RingServer() as server:
            data = echoline.torch.Dataset(self.loader(server, fields=("label", "image")))
            loader = torch.utils.data.DataLoader(data, batch_size=None)
            self.assertEqual(len(loader), 10)
            for epoch in range(2):
                found = [label[0].item() for label, _ in loader]
                self.assertEqual(found, [epoch * 1_000_000 + row for row in range(0, 40, 4)])
            workers = torch.utils.data.DataLoader(data, batch_size=None, num_workers=1)
            with self.assertRaisesRegex(echoline.InvalidArgument, "give the DataLoader num_workers=0"):
                next(iter(workers))

    def test_a_batch_made_of_a_dict_as_frameworks_do_has_the_fields_only(self):
        with RingServer() as server:
            batch = self.loader(server).next()
            moved = type(batch)({name: value.clone() for name, value in batch.items()})
            self.assertEqual(moved["label"].tolist(), [0, 1, 2, 3])
            self.assertRegex(repr(moved), r"^TensorBatch\(image uint8 \[5, 7, 3\], label int64 \[\]\)$")

    def test_a_gpu_device_needs_a_torch_that_sees_one(self):
        if torch.cuda.is_available():
            self.skipTest("this torch sees a GPU: tests/bench/gpu/torch_test.py")
        with RingServer() as server:
            for device in ("cuda", torch.device("cuda", 1)):
                with self.assertRaisesRegex(echoline.Error, f"{device}.*this torch .* (is built without CUDA|sees no GPU)"):
                    self.loader(server, device=device)
            with self.assertRaises(NotImplementedError):
                self.loader(server, device="meta")
            for name in ("depth", "echo", "transforms", "pad"):
                with self.assertRaisesRegex(echoline.InvalidArgument, f"{name} is for GPUs"):
                    self.loader(server, **{name: 2})
            self.assertEqual(sum(1 for _ in self.loader(server, device="cpu")), 10)

    def test_types_of_torch_choose_the_type_of_a_transform(self):
        from echoline.cuda import _dtype_number
        numbers = [_dtype_number("image", dtype) for dtype in (torch.float16, torch.float32, torch.bfloat16)]
        self.assertEqual(numbers, [9, 10, 12])


class TorchMix(MixTests, unittest.TestCase):
    module = echoline.torch

    def torchvision(self, kind, alpha):
        try:
            with warnings.catch_warnings(action="ignore"):
                from torchvision.transforms import v2
        except ImportError:
            self.skipTest("no torchvision to compare with")
        return getattr(v2, kind)(alpha=alpha, num_classes=CLASSES)

    def check_against(self, kind, batch, alpha):
        """Gives torchvision's transform the draws of the batch."""
        random, theirs = random_of(batch), self.torchvision(kind, alpha)
        share = random.beta(alpha, alpha)
        places = [torch.tensor([random.randint(7)]), torch.tensor([random.randint(5)])]
        theirs._dist = types.SimpleNamespace(sample=lambda shape: share)
        with unittest.mock.patch("torch.randint", side_effect=places):
            image, label = theirs(batch["image"], batch["label"])
        mixed = getattr(echoline.torch, kind)(alpha, CLASSES)(batch)
        for name, expected in (("image", image), ("label", label)):
            self.assertEqual(mixed[name].dtype, expected.dtype)
            self.assertTrue(torch.equal(mixed[name], expected), f"{kind}, {name}, {expected.dtype}, step {batch.step}")

    def test_values_are_those_of_torchvision_with_the_same_draws(self):
        with RingServer() as server:
            for batch in self.loader(server):
                plain = batch["image"].permute(0, 3, 1, 2)
                for image in (plain.float() / 255, (plain / 255).to(torch.bfloat16), plain.double()):
                    batch["image"] = image
                    self.check_against("MixUp", batch, 0.3)
                for image in (plain, plain.half()):
                    batch["image"] = image
                    self.check_against("CutMix", batch, 1.0)
                if batch.epoch > 0:
                    break

    def test_soft_labels_are_mixed_as_they_are_and_the_memory_format_stays(self):
        with RingServer() as server:
            batch = self.loader(server).next()
            batch["image"] = batch["image"].permute(0, 3, 1, 2).float()
            hard = echoline.torch.MixUp(0.3, CLASSES)(batch)
            batch["label"] = torch.nn.functional.one_hot(batch["label"], CLASSES).float()
            soft = echoline.torch.MixUp(0.3, CLASSES)(batch)
            self.assertTrue(torch.equal(hard["label"], soft["label"]))
            self.assertTrue(soft["image"].is_contiguous(memory_format=torch.channels_last))
            with self.assertRaisesRegex(echoline.InvalidArgument, "neither a class for each row nor 3 shares"):
                echoline.torch.MixUp(0.3, 3)(batch)


if __name__ == "__main__":
    unittest.main(verbosity=1)
