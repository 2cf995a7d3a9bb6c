"""The tests of mixup and CutMix that echoline.torch and echoline.jax share, on the CPU."""
import itertools
import types

import echoline
import numpy as np
from echoline._ahead import Ahead
from echoline._mix import random_of

from ring_server import RingServer, images, labels

CLASSES = 40  # RingServer's labels are the rows of the epoch


def one_hot(classes):
    return np.eye(CLASSES, dtype=np.float32)[classes]


def place(**other):
    return types.SimpleNamespace(**{"seed": 7, "epoch": 3, "step": 11, "rank": 2, "uses": [0], **other})


class MixTests:
    """A mixin: the test class derives from it and unittest.TestCase, and sets `module` (echoline.torch, ...)."""

    def loader(self, server, **options):
        return self.module.Loader("train", runtime_dir=server.dir, **options)

    def cut_mix(self, alpha=1.0, **options):
        return self.module.CutMix(alpha, CLASSES, layout="hwc", **options)

    def one_of_two(self):
        return self.module.RandomChoice([self.cut_mix(0.3), self.cut_mix(1.0)], p=[0.25, 0.75])

    def check_cut(self, rows, batch, partners=None):
        """Checks each pixel of the rows, and the areas that the labels state. Default: rows are mixed in a circle."""
        partners = np.roll(rows, 1) if partners is None else partners
        plain, mixed, soft = images(0, rows), np.asarray(batch["image"]), np.asarray(batch["label"])
        cut = (mixed[:len(rows)] != plain).any(axis=(0, 3))  # the box is that of all rows, and all rows differ
        np.testing.assert_array_equal(mixed[:len(rows)], np.where(cut[None, :, :, None], images(0, partners), plain))
        self.assertEqual(cut.sum(), np.outer(cut.any(axis=1), cut.any(axis=0)).sum())
        share = 1 - cut.mean()
        np.testing.assert_allclose(soft[:len(rows)], share * one_hot(rows) + (1 - share) * one_hot(partners), atol=1e-6)
        return share

    def test_cut_mix_takes_one_box_from_the_row_before_and_labels_by_area(self):
        with RingServer() as server:
            mix, shares = self.cut_mix(), set()
            for step, batch in enumerate(itertools.islice(self.loader(server), 10)):
                shares.add(self.check_cut(list(range(4 * step, 4 * step + 4)), mix(batch)))
                np.testing.assert_array_equal(batch["image"], images(0, range(4 * step, 4 * step + 4)))
            self.assertGreater(len(shares), 4)

    def test_a_resumed_run_mixes_alike_and_ranks_have_their_own_draws(self):
        def run(state=None, rank=0):
            made = []
            with RingServer(batch=8) as server:
                loader = self.loader(server, collate=self.one_of_two(), rank=rank, world_size=2, state=state)
                for batch in loader:
                    made.append((np.asarray(batch["image"]), np.asarray(batch["label"])))
                    if len(made) == 3:
                        third = loader.state_dict()
            return made, third if len(made) > 2 else None

        whole, state = run()
        resumed, other = run(state)[0], run(rank=1)[0]
        self.assertEqual([len(made) for made in (whole, resumed, other)], [5, 2, 5])
        for (image, label), (image_again, label_again) in zip(whole[3:], resumed):
            np.testing.assert_array_equal(image, image_again)
            np.testing.assert_array_equal(label, label_again)
        self.assertNotEqual(*([label.max(axis=1).tolist() for _, label in made] for made in (whole, other)))

    def test_partners_can_be_the_same_rows_of_the_next_batch_of_the_epoch(self):
        next_rows = self.module.RandomChoice([self.cut_mix(0.3, partner="next_batch"), self.cut_mix(partner="next_batch")])
        for last in (2, 3):  # partial, pad
            for variable in (0, 1):  # whether the end is known before
                with RingServer(last=last, rows=38, slots=3, variable=variable) as server:
                    steps = []
                    for batch in self.loader(server, collate=next_rows, fields={"image": "image", "label": "label"}):
                        rows = range(4 * batch.step, min(4 * batch.step + 4, 38))
                        partners = [row + 4 if row + 4 < 38 else row + 2 for row in rows]  # the last batch has two rows
                        self.check_cut(list(rows), batch, partners if batch.step < 9 else None)
                        steps.append(batch.step)
                    self.assertEqual(steps, list(range(10)))

    def test_with_partners_in_the_next_batch_states_name_the_batch_after_the_mixed_one(self):
        mix = self.cut_mix(partner="next_batch")

        def run(rank, state=None):
            with RingServer(batch=8, last=2, rows=36) as server:
                loader, found = self.loader(server, collate=mix, rank=rank, world_size=2, state=state), []
                for batch in loader:
                    found.append((np.asarray(batch["image"]), np.asarray(batch["label"]), loader.state_dict(), loader.epoch))
                self.assertEqual((loader.state_dict()["epoch"], loader.state_dict()["row"]), (1, 0))
                return found

        for rank in (0, 1):
            whole = run(rank)
            self.assertEqual([(state["epoch"], state["row"]) for *_, state, _ in whole],
                             [(0, 8), (0, 16), (0, 24), (0, 32), (1, 0)])
            self.assertEqual([epoch for *_, epoch in whole], [0, 0, 0, 0, 1])
            for step in (1, 3, 4):
                for (image, label, *_), (again, label_again, *_) in zip(whole[step:], run(rank, whole[step - 1][2])):
                    np.testing.assert_array_equal(image, again)
                    np.testing.assert_array_equal(label, label_again)
            rows = np.arange(4) + 4 * rank
            self.check_cut(rows, {"image": whole[0][0], "label": whole[0][1]}, rows + 8)
        with RingServer(batch=8, last=2, rows=33, slots=8) as server:  # rank 0 has no row of its own in the last batch
            loader = self.loader(server, collate=mix, world_size=2, local_world_size=1)
            batches = list(loader)[-2:]
            self.assertEqual([batch.valid_rows for batch in batches], [4, 0])
            self.check_cut(list(range(24, 28)), batches[0])
            np.testing.assert_array_equal(batches[1]["image"], images(0, [32] * 4))

    def test_loops_that_end_early_skips_and_time_limits_with_partners_in_the_next_batch(self):
        mix = self.cut_mix(partner="next_batch")
        with RingServer(batches_max=4) as server:
            loader = self.loader(server, collate=mix)
            for batch in loader:
                if batch.step == 1:
                    break
            self.assertEqual(loader.state_dict()["row"], 8)
            self.assertEqual(loader.next().step, 2)  # of the same epoch
            for _ in range(2):
                with self.assertRaises(TimeoutError):
                    loader.next(timeout=0.05)  # its partners are not published
                self.assertEqual(loader.state_dict()["row"], 12)
            loader.skip(2)
            self.assertEqual(loader.state_dict()["row"], 20)
            iter(loader)
            self.assertEqual((loader.epoch, loader.state_dict()["row"]), (1, 0))
        with RingServer(batches_max=1) as server:
            loader = self.loader(server, collate=mix)
            with self.assertRaises(TimeoutError):
                loader.next(timeout=0.05)
            self.assertEqual(loader.state_dict()["row"], 0)
            iter(loader)  # no batch was given, so the epoch begins here
            self.assertEqual((loader.epoch, loader.state_dict()["row"]), (0, 0))

    def test_partners_in_the_next_batch_need_a_slot_more_and_the_next_batch(self):
        mix = self.cut_mix(partner="next_batch")
        with RingServer(slots=2) as server:
            held = self.loader(server, collate=lambda batch: batch)
            first = held.next()
            with self.assertRaisesRegex(echoline.InvalidArgument, r"takes partners from the next batch: call mix\(batch, next"):
                mix(first)
            second = held.next()
            mixed = mix(first, second)
            self.check_cut(list(range(4)), mixed, list(range(4, 8)))
            np.testing.assert_array_equal(mix(first, first)["image"], self.cut_mix()(first)["image"])  # a use of the same batch
        with RingServer(slots=2) as server, echoline.Loader("train", runtime_dir=server.dir) as loader:
            ahead, kept = Ahead(loader), []
            with self.assertRaisesRegex(echoline.LeaseHeld, "a loop holds three: publish.slots .* must be at least 3"):
                for _ in range(2):
                    kept.append(ahead.next(lambda batch: batch, None))
            self.assertEqual(len(kept), 1)
        self.assertRaises(echoline.InvalidArgument, self.cut_mix, partner="next")

    def test_repeats_that_fill_the_last_batch_are_not_mixed(self):
        with RingServer(last=3, rows=38) as server:
            for batch in self.loader(server, collate=self.cut_mix()):
                pass
            self.assertEqual(batch.valid_rows, 2)
            self.check_cut([36, 37], batch)
            np.testing.assert_array_equal(batch["label"][2:], one_hot([36, 37]))
            np.testing.assert_array_equal(batch["image"][2:], images(0, [36, 37]))

    def test_fields_choose_and_rename_after_a_mix_that_is_the_collate(self):
        with RingServer() as server:
            mix = self.cut_mix()
            with self.assertRaisesRegex(KeyError, r"CutMix\(alpha=1, classes=40\) needs field 'label'; there are: image"):
                self.loader(server, collate=mix, fields=("image",))
            loader = self.loader(server, collate=mix, fields=("label", "image", "valid"))
            label, image, valid = loader.next()
            self.check_cut(list(range(4)), {"image": image, "label": label})
            self.assertTrue(valid.all())
            self.assertRegex(repr(loader), r"giving tuples of label, image, valid, mixed by CutMix\(alpha=1, classes=40\)$")
        with RingServer() as server:
            batch = self.loader(server, collate=mix, fields={"image": "pixels", "label": "target"}).next()
            self.check_cut(list(range(4)), {"image": batch["pixels"], "label": batch["target"]})
            self.assertEqual((batch.seed, batch.rank, batch.step), (0, 0, 0))

    def test_what_cannot_be_mixed_is_refused(self):
        with RingServer() as server:
            loader = self.loader(server)
            batch, invalid = loader.next(), echoline.InvalidArgument
            for mix, why in ((self.module.MixUp(0.2, CLASSES), "has the type .*uint8, and only floats .* normalize"),
                             (self.module.CutMix(1, 3), "must be 0 to 2, and this batch has 0 to 3"),
                             (self.cut_mix(label="image"), r"must have one class for each row, not the shape \[4, 5, 7, 3\]"),
                             (self.cut_mix(image="label"), "not that of a batch of images"),
                             (self.module.CutMix(1, CLASSES), "channels seem to be last, so give layout='hwc'")):
                with self.assertRaisesRegex(invalid, why):
                    mix(batch)
            with self.assertRaisesRegex(KeyError, "no field 'target'; there are: image, label"):
                self.cut_mix(label="target")(batch)
            with self.assertRaisesRegex(invalid, "lost its place in the stream"):
                self.cut_mix()(dict(batch))
        for alpha in (0, -1.0, float("inf"), float("nan"), "1"):
            with self.assertRaisesRegex(invalid, "alpha must be a number above 0"):
                self.module.MixUp(alpha, 2)
        for make in (lambda: self.module.MixUp(1, 0), lambda: self.module.MixUp(1, 1.5), lambda: self.module.RandomChoice([]),
                     lambda: self.module.RandomChoice([max]), lambda: self.module.RandomChoice([self.cut_mix()], p=[0.5]),
                     lambda: self.module.CutMix(1, 2, layout="nchw")):
            self.assertRaises(invalid, make)

    def test_draws_depend_on_all_of_a_batchs_place_and_never_change(self):
        def drawn(**other):
            return random_of(place(**other)).beta(0.4, 0.4)

        self.assertAlmostEqual(drawn(), 0.9891565905828723, places=12)
        changed = {drawn(), drawn(seed=8), drawn(epoch=4), drawn(step=12), drawn(rank=3), drawn(uses=[1])}
        self.assertEqual(len(changed), 6)
        shares = np.array([drawn(step=step, seed=2 ** 64 - 1) for step in range(2000)])
        self.assertLess(abs(shares.mean() - 0.5), 0.03)
        self.assertLess(abs(shares.var() - 0.25 / 1.8), 0.01)  # of Beta(a, a): 1 / (4 (2 a + 1))
