"""The tests that echoline.torch.Loader and echoline.jax.Loader share, on the CPU."""
import weakref

import echoline
import numpy as np

from ring_server import RingServer, images, labels, sample_ids


class FrameworkTests:
    """A mixin: the test class derives from it and unittest.TestCase, and sets `module` (echoline.torch, ...) and
    `array_type` (the type of the batches' arrays)."""

    def loader(self, server, **options):
        return self.module.Loader("train", runtime_dir=server.dir, **options)

    def test_batches_are_dicts_of_the_frameworks_arrays(self):
        with RingServer(last=2, rows=42) as server:
            loader = self.loader(server)
            self.assertEqual(len(loader), 11)
            for epoch in range(2):
                for step, batch in enumerate(loader):
                    rows = range(4 * step, min(4 * step + 4, 42))
                    self.assertIsInstance(batch["image"], self.array_type)
                    np.testing.assert_array_equal(batch["image"], images(epoch, rows))
                    np.testing.assert_array_equal(batch["label"], labels(epoch, rows))
                    np.testing.assert_array_equal(batch.sample_ids, sample_ids(epoch, rows))
                    np.testing.assert_array_equal(batch.uses, [row % 3 for row in rows])
                    self.assertTrue(batch.valid.all())

    def test_a_loop_holds_no_batch(self):
        with RingServer() as server:
            for batch in self.loader(server):
                gone = weakref.ref(batch)
                del batch
                self.assertTrue(gone() is None)

    def test_fields_choose_and_order_a_tuple_and_an_unknown_one_is_refused(self):
        with RingServer() as server:
            with self.assertRaises(KeyError):
                self.loader(server, fields=("picture",))
            label, image = next(iter(self.loader(server, fields=("label", "image"))))
            np.testing.assert_array_equal(label, labels(0, range(4)))
            np.testing.assert_array_equal(image, images(0, range(4)))

    def test_a_tuple_can_hold_facts_about_its_rows(self):
        with RingServer() as server:
            ids, label, valid = next(iter(self.loader(server, fields=("sample_ids", "label", "valid"))))
            np.testing.assert_array_equal(ids, sample_ids(0, range(4)))
            np.testing.assert_array_equal(label, labels(0, range(4)))
            self.assertTrue(valid.all())

    def test_tuples_mark_the_repeats_that_fill_the_last_batch(self):
        with RingServer(last=3, rows=42) as server:
            with self.assertRaisesRegex(echoline.InvalidArgument, 'add "valid" to fields'):
                self.loader(server, fields=("label",))
            for last in self.loader(server, fields=("label", "valid")):
                pass
            self.assertEqual([len(values) for values in last], [4, 4])
            self.assertEqual(last[1].tolist(), [True, True, False, False])

    def test_fields_can_give_a_dict_other_names(self):
        with RingServer(last=3, rows=42) as server:
            with self.assertRaisesRegex(KeyError, "no field 'picture'"):
                self.loader(server, fields={"picture": "pixel_values"})
            loader = self.loader(server, fields={"image": "pixel_values", "valid": "mask"})
            for last in loader:
                self.assertEqual(sorted(last), ["mask", "pixel_values"])
            np.testing.assert_array_equal(last["pixel_values"][:2], images(0, range(40, 42)))
            self.assertEqual(last["mask"].tolist(), [True, True, False, False])
            self.assertEqual((last.step, last.valid_rows), (10, 2))
            self.assertRegex(repr(loader), "giving dicts of pixel_values, mask$")

    def test_collate_makes_what_the_loop_gives(self):
        def total(batch):
            return int(sum(batch["label"]))

        with RingServer() as server:
            loader = self.loader(server, collate=total)
            self.assertEqual(list(loader)[:2], [0 + 1 + 2 + 3, 4 + 5 + 6 + 7])
            self.assertEqual(loader.next(), int(sum(labels(1, range(4)))))
            self.assertRegex(repr(loader), "giving what total makes of dicts$")
        with RingServer() as server:
            self.assertEqual(self.loader(server, fields=("label", "valid"), collate=len).next(), 2)

    def test_a_batch_or_a_tuple_has_the_uses_to_report_losses(self):
        with RingServer() as server, self.loader(server) as loader:
            batch = loader.next()
            self.assertEqual(loader.report(batch["label"] * 0.5, batch.uses), 4)
        with RingServer() as server, self.loader(server, fields=("label", "uses")) as loader:
            label, uses = loader.next()
            self.assertEqual(loader.report(label * 0.5, uses), 4)

    def test_dir_lists_the_members_of_the_loader(self):
        with RingServer() as server, self.loader(server) as loader:
            self.assertLessEqual({"state_dict", "batch_size", "fields", "skip", "close"}, set(dir(loader)))
            self.assertEqual((loader.batch_size, loader.last), (4, "drop"))

    def test_a_state_resumes_at_the_next_batch(self):
        with RingServer() as server:
            loader = self.loader(server)
            for batch in loader:
                del batch
                break
            state = loader.state_dict()
            loader.close()
            loader = self.loader(server, state=state)
            self.assertEqual(int(next(iter(loader))["label"][0]), 4)
            self.assertEqual(loader.next(timeout=30)["label"].tolist(), [8, 9, 10, 11])
