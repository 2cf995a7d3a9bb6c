#!/usr/bin/env python3
"""echoline.torch.Loader(device="cuda") on a real GPU. Exits with 77, and prints SKIP, if torch sees none: nothing here replaces
torch or the driver. Environment as of tests/python: ECHOLINE_RING_SERVER, ECHOLINE_LIBRARY."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import torch
except ImportError as error:
    print(f"SKIP: no torch: {error}")
    sys.exit(77)
if not torch.cuda.is_available():
    print(f"SKIP: torch {torch.__version__} sees no GPU")
    sys.exit(77)

import echoline.torch
from ring_server import RingServer, images, labels, tokens

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def rows_of(batch):
    return range(4 * batch.step, 4 * batch.step + batch.rows)


def pixels(batch):
    return torch.from_numpy(images(batch.epoch, rows_of(batch)))


def normalized(batch):
    plain = pixels(batch).permute(0, 3, 1, 2).double() / 255
    return (plain - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)


def busy(milliseconds):
    """Keeps the current stream busy, so that work that is enqueued next reads late."""
    torch.cuda._sleep(int(milliseconds * 1e6))


class OnTheGpu(unittest.TestCase):
    def test_a_mix_takes_its_partners_from_the_next_batch(self):
        mix = echoline.torch.CutMix(1.0, 40, layout="hwc", partner="next_batch")
        for batch in self.loader(collate=mix):
            rows = torch.tensor(list(rows_of(batch)))
            partners = rows + 4 if batch.step < 9 else rows.roll(1)
            plain, others = pixels(batch), torch.from_numpy(images(0, partners.tolist()))
            cut = (batch["image"].cpu() != plain).any(3).any(0)
            self.assertTrue(torch.equal(batch["image"].cpu(), torch.where(cut[None, :, :, None], others, plain)))
            share = 1 - cut.float().mean()
            expected = sum(torch.nn.functional.one_hot(row, 40) * part for row, part in ((rows, share), (partners, 1 - share)))
            self.assertTrue(torch.allclose(batch["label"].cpu(), expected, atol=1e-6))

    def loader(self, rows=40, slots=8, ragged=0, **options):
        server = RingServer(rows=rows, slots=slots, ragged=ragged)
        self.addCleanup(server.__exit__)
        loader = echoline.torch.Loader("train", runtime_dir=server.dir, device="cuda", **options)
        self.addCleanup(loader.close)
        return loader

    def test_values_are_there_on_the_current_stream(self):
        loader = self.loader(rows=400)
        for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
            sums = []
            with torch.cuda.stream(stream):
                for batch in loader:
                    self.assertEqual(batch["image"].device.type, "cuda")
                    busy(1)
                    sums.append((pixels(batch), batch["image"].clone(), labels(batch.epoch, rows_of(batch)),
                                 batch["label"].clone()))
            stream.synchronize()
            self.assertEqual(len(sums), 100)
            for image, got, label, got_label in sums:
                self.assertTrue(torch.equal(got.cpu(), image))
                self.assertEqual(got_label.tolist(), label.tolist())

    def test_pixels_are_normalised(self):
        for dtype, allowed in ((torch.float32, 1e-5), (torch.float16, 5e-3), (torch.bfloat16, 3e-2)):
            for layout in ("chw", "hwc", "channels_last"):
                with self.subTest(dtype=dtype, layout=layout):
                    transform = echoline.torch.Normalize(MEAN, STD, dtype, layout)
                    for batch in self.loader(transforms={"image": transform}):
                        image, wanted = batch["image"], normalized(batch)
                        self.assertEqual(image.dtype, dtype)
                        if layout == "channels_last":
                            self.assertTrue(image.is_contiguous(memory_format=torch.channels_last))
                        if layout == "hwc":
                            image = image.permute(0, 3, 1, 2)
                        self.assertLess((image.cpu().double() - wanted).abs().max().item(), allowed)

    def test_flips_of_device_echo_are_the_same_in_every_run(self):
        options = {"echo": (2, 3), "transforms": {"image": echoline.torch.Flip()}}
        runs = [[(b.step, b.uses.tolist(), b["image"].cpu()) for b in self.loader(**options)] for _ in range(2)]
        self.assertEqual(len(runs[0]), 20)
        mirrored = 0
        for (step, uses, image), (again, also, other) in zip(*runs):
            self.assertEqual((step, uses), (again, also))
            self.assertTrue(torch.equal(image, other))
            plain = torch.from_numpy(images(0, range(4 * step, 4 * step + 4)))
            mirrored += sum(not torch.equal(a, b) for a, b in zip(image, plain))
        self.assertTrue(10 < mirrored < 70, mirrored)

    def test_ragged_fields_by_values_or_padded(self):
        for batch in self.loader(ragged=1):
            values, offsets = batch["tokens"]
            for row, number in enumerate(rows_of(batch)):
                self.assertEqual(values[offsets[row]:offsets[row + 1]].tolist(), tokens(number).tolist())
        for batch in self.loader(ragged=1, pad={"tokens": -1}):
            for row, number in enumerate(rows_of(batch)):
                self.assertEqual(batch["tokens"][row].tolist(), (tokens(number).tolist() + 4 * [-1])[:4])

    def test_a_state_goes_on_with_the_next_use(self):
        options = {"echo": (2, 3)}
        whole = [(b.step, b.uses.tolist()) for b in self.loader(**options)]
        loader = self.loader(**options)
        batches = iter(loader)
        for _ in range(7):
            next(batches)
        state = loader.state_dict()
        rest = [(b.step, b.uses.tolist()) for b in self.loader(state=state, **options)]
        self.assertEqual(rest, whole[7:])

    def test_kept_tensors_end_in_words(self):
        kept = []
        with self.assertRaises(echoline.LeaseHeld):
            for batch in self.loader(rows=400):
                kept.append(batch["label"])
        self.assertEqual(len(kept), 3)

    def test_beside_the_caching_allocator(self):
        sums = []
        for batch in self.loader(rows=400):
            busy(0.2)
            scratch = batch["image"].float() * 2  # freed and taken again each time
            sums.append((pixels(batch).sum().item() * 2, scratch.sum()))
            del scratch
        for wanted, got in sums:
            self.assertEqual(wanted, got.item())

    def test_a_graph_replays_on_copied_batches(self):
        transform = echoline.torch.Normalize(MEAN, STD, torch.float32)
        loader = self.loader(rows=400, transforms={"image": transform})
        static = torch.zeros(4, 3, 5, 7, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # warm-up, as torch.cuda.graph asks for
            for _ in range(3):
                (static * 2).sum(dim=(1, 2, 3))
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):  # the loader's threads copy meanwhile
            result = (static * 2).sum(dim=(1, 2, 3))
        for batch in loader:
            static.copy_(batch["image"])
            graph.replay()
            wanted = (normalized(batch) * 2).sum(dim=(1, 2, 3))
            self.assertLess((result.cpu().double() - wanted).abs().max().item(), 1e-3)

    def test_work_on_another_stream_is_joined(self):
        other = torch.cuda.Stream()
        sums = []
        for batch in self.loader(rows=400):
            other.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(other):
                busy(1)
                sums.append((pixels(batch), batch["image"].clone()))
            torch.cuda.current_stream().wait_stream(other)
        torch.cuda.synchronize()
        for wanted, got in sums:
            self.assertTrue(torch.equal(got.cpu(), wanted))


if __name__ == "__main__":
    unittest.main(verbosity=2)
