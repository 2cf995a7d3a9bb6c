"""echoline.Loader: epochs, views and their leases, states, death of the daemon."""
import copy
import gc
import itertools
import json
import pickle
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import echoline
from ring_server import RingServer, images, labels, points, sample_ids, tokens


class Epochs(unittest.TestCase):
    def test_a_for_is_one_epoch_and_len_is_exact(self):
        with RingServer(last=2, rows=42) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            self.assertEqual(len(loader), 11)
            for epoch in range(3):
                seen = []
                for step, batch in enumerate(loader):
                    rows = range(4 * step, min(4 * step + 4, 42))
                    self.assertEqual((batch.epoch, batch.step, batch.rows), (epoch, step, len(rows)))
                    np.testing.assert_array_equal(batch["image"], images(epoch, rows))
                    np.testing.assert_array_equal(batch["label"], labels(epoch, rows))
                    np.testing.assert_array_equal(batch.sample_ids, sample_ids(epoch, rows))
                    np.testing.assert_array_equal(batch.uses, [row % 3 for row in rows])
                    self.assertEqual(batch.fresh, sum(row % 3 == 0 for row in rows))
                    self.assertEqual(batch.is_last, step == 10)
                    seen += rows
                self.assertEqual(seen, list(range(42)))

    def test_break_abandons_the_epoch(self):
        with RingServer() as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            for epoch in range(4):
                for batch in loader:
                    self.assertEqual(batch.epoch, epoch)
                    if batch.step == epoch:
                        break

    def test_what_a_break_leaves_in_variables_stays_as_it_was(self):
        with RingServer(rows=400, last=2, ragged=1) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            kept = []
            for epoch in range(6):
                for batch in loader:
                    image, words, ids = batch["image"], batch["tokens"], batch.sample_ids
                    if batch.step == epoch:
                        break
                kept.append((image, words, ids, batch))
            for epoch, (image, words, ids, batch) in enumerate(kept):
                rows = range(4 * epoch, 4 * epoch + 4)
                np.testing.assert_array_equal(image, images(epoch, rows))
                np.testing.assert_array_equal(ids, sample_ids(epoch, rows))
                np.testing.assert_array_equal(batch["label"], labels(epoch, rows))
                for row, value in zip(rows, words):
                    np.testing.assert_array_equal(value, tokens(row))
                self.assertFalse(image.flags.writeable)

    def test_ranks_have_their_parts_and_padding_is_masked(self):
        with RingServer(last=3, rows=42, slots=8, consumers=4) as server:
            ranks = [echoline.Loader("train", rank=rank, world_size=4, runtime_dir=server.dir) for rank in range(4)]
            for step, batches in enumerate(zip(*ranks)):
                valid = np.concatenate([batch["label"][batch.valid] for batch in batches])
                np.testing.assert_array_equal(valid, labels(0, range(4 * step, min(4 * step + 4, 42))))
                self.assertEqual([batch.rows for batch in batches], [1] * 4)
                del batches
            self.assertEqual(step, 10)

    def test_another_batch_size(self):
        with RingServer(last=2, slots=5) as server:
            loader = echoline.Loader("train", batch_size=7, runtime_dir=server.dir)
            rows = []
            for batch in loader:
                rows.append(batch.rows)
            self.assertEqual(rows, [7, 7, 7, 7, 7, 5])
        with RingServer(last=2, slots=5) as server:
            with self.assertRaisesRegex(echoline.Error, r"publish\.slots"):
                echoline.Loader("train", batch_size=12, runtime_dir=server.dir)

    def test_what_is_let_in_never_needs_more_slots_at_an_epochs_end(self):
        refused = []
        for last, rows, size in itertools.product((1, 2, 3), (37, 39, 41), (3, 5, 7, 9, 11)):
            with RingServer(batch=8, slots=4, last=last, rows=rows, tail=1) as server:
                try:
                    loader = echoline.Loader("train", batch_size=size, runtime_dir=server.dir)
                except echoline.Error as error:
                    self.assertRegex(str(error), "slots of the stream at once")
                    refused.append((last, rows, size))
                    continue
                steps = [batch.step for _ in range(3) for batch in loader]
                self.assertEqual(steps, 3 * list(range(len(loader))), (last, rows, size))
        self.assertEqual(refused, [(1, 37, 11), (1, 39, 11), (1, 41, 9), (1, 41, 11)])

    def test_without_a_known_length_len_raises_a_type_error(self):
        with RingServer(variable=1) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            with self.assertRaisesRegex(TypeError, "factor"):
                len(loader)
            self.assertEqual(loader.fresh_per_epoch, 14)
            self.assertEqual(sum(batch.rows for batch in loader), 40)

    def test_ragged_rows(self):
        with RingServer(ragged=2, last=2) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            self.assertEqual(loader.fields["points"][1:], (np.float32, (4, 2), True))
            for batch in loader:
                rows = range(4 * batch.step, 4 * batch.step + 4)
                self.assertIn("points float32 ragged [n, 2]", repr(batch))
                for row, value in zip(rows, batch["points"]):
                    self.assertFalse(value.flags.owndata)
                    np.testing.assert_array_equal(value, points(row), strict=True)
                longest = max(row % 5 for row in rows)
                self.assertEqual(batch["points"].padded(-1).shape, (4, longest, 2))
                self.assertEqual(batch["points"].padded(length=4).shape, (4, 4, 2))
                with self.assertRaisesRegex(echoline.InvalidArgument, f"has {longest} elements, more than the length"):
                    batch["points"].padded(length=longest - 1)
                np.testing.assert_array_equal(batch.copy()["points"][3], points(rows[3]))
                for row, value in zip(rows, batch["tokens"]):
                    np.testing.assert_array_equal(value, tokens(row))
                padded = batch["tokens"].padded(-1)
                self.assertEqual(padded.shape[0], 4)
                self.assertEqual((padded != -1).sum(), sum(row % 5 for row in rows))
                self.assertEqual(len(batch["tokens"][1:3]), 2)


class Views(unittest.TestCase):
    def setUp(self):
        self.server = RingServer(rows=4000)
        self.addCleanup(self.server.__exit__)
        self.loader = echoline.Loader("train", runtime_dir=self.server.dir)

    def test_arrays_are_views_that_nobody_can_write(self):
        image = next(iter(self.loader))["image"]
        self.assertFalse(image.flags.owndata)
        with self.assertRaises(ValueError):
            image[0] = 1
        with self.assertRaises(ValueError):
            image.flags.writeable = True
        with self.assertRaises(ValueError):
            image.reshape(-1).view().flags.writeable = True

    def test_the_slot_is_held_by_the_last_view_and_no_longer(self):
        batch = self.loader.next()
        part = batch["image"][1:2].reshape(-1)[3:9]
        expected = part.copy()
        del batch
        with self.assertRaises(echoline.LeaseHeld):
            for _ in range(8):
                self.loader.next()
        np.testing.assert_array_equal(part, expected)
        del part
        for _ in range(8):
            self.loader.next()

    def test_a_list_of_batches_ends_in_lease_held_that_says_what_to_do(self):
        with self.assertRaisesRegex(echoline.LeaseHeld, r"copy.*publish\.slots"):
            list(self.loader)
        gc.collect()
        self.assertEqual(len([batch.copy() for batch, _ in zip(self.loader, range(100))]), 100)

    def test_a_copy_is_equal_and_ones_own(self):
        copies = [self.loader.next().copy() for _ in range(20)]
        for step, copy in enumerate(copies):
            np.testing.assert_array_equal(copy["image"], images(0, range(4 * step, 4 * step + 4)))
            self.assertEqual(copy.step, step)
            copy["image"][:] = 0
            np.testing.assert_array_equal(copy.sample_ids, sample_ids(0, range(4 * step, 4 * step + 4)))

    def test_it_is_a_mapping(self):
        batch = self.loader.next()
        self.assertEqual(list(batch), ["image", "label"])
        self.assertEqual(set(batch.keys()), {"image", "label"})
        self.assertEqual({name: value.shape for name, value in batch.items()},
                         {"image": (4, 5, 7, 3), "label": (4,)})
        self.assertIn("image", batch)
        self.assertNotIn("nothing", batch)
        with self.assertRaisesRegex(KeyError, "image, label"):
            batch["picture"]

    def test_a_batch_outlives_loader_and_daemon(self):
        batch = self.loader.next()
        self.loader.close()
        self.server.kill()
        self.server.start()
        np.testing.assert_array_equal(batch["image"], images(0, range(4)))
        with self.assertRaises(echoline.Error):
            self.loader.next()

    def test_a_closed_loaders_batch_stays_though_others_read_on(self):
        other = echoline.Loader("train", job="other", runtime_dir=self.server.dir)
        batch = self.loader.next()
        self.loader.close()
        for step in range(20):
            self.assertEqual(other.next().step, step)
        np.testing.assert_array_equal(batch["image"], images(0, range(4)))

    def test_all_that_belongs_to_such_a_batch_stays(self):
        with RingServer(rows=400, ragged=2) as server:
            other = echoline.Loader("train", job="other", runtime_dir=server.dir)
            with echoline.Loader("train", runtime_dir=server.dir) as loader:
                loader.next()
                batch = loader.next()
                flags = batch.flags.copy()
            for _ in range(17):  # so that its slot gets rows of other lengths
                other.next()
            rows = range(4, 8)
            np.testing.assert_array_equal(batch["label"], labels(0, rows))
            np.testing.assert_array_equal(batch.sample_ids, sample_ids(0, rows))
            np.testing.assert_array_equal(batch.uses, [row % 3 for row in rows])
            np.testing.assert_array_equal(batch.flags, flags)
            for row, of_tokens, of_points in zip(rows, batch["tokens"], batch["points"]):
                np.testing.assert_array_equal(of_tokens, tokens(row))
                np.testing.assert_array_equal(of_points, points(row))

    def test_dlpack_hands_a_copy_on(self):
        batch = self.loader.next().copy()
        np.testing.assert_array_equal(np.from_dlpack(batch["image"]), images(0, range(4)))

    def test_views_pickle_as_arrays(self):
        batch = self.loader.next()
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(batch["image"])), images(0, range(4)))

    def test_what_belongs_to_this_process_does_not_pickle(self):
        batch = next(iter(self.loader))
        for mine in self.loader, batch, self.loader.__iter__():
            for send in pickle.dumps, copy.deepcopy:
                with self.assertRaisesRegex(TypeError, "a Loader of its own"):
                    send(mine)
        sent = pickle.loads(pickle.dumps(batch.copy()))
        np.testing.assert_array_equal(sent["image"], batch["image"])


class States(unittest.TestCase):
    def test_a_state_from_the_loop_body_resumes_at_the_next_batch(self):
        with RingServer(rows=40) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            states, ids = [loader.state_dict()], []
            for _ in range(3):
                for batch in loader:
                    states.append(json.loads(json.dumps(loader.state_dict())))
                    ids.append(batch.sample_ids.copy())
            loader.close()
            for taken in (0, 1, 9, 10, 11, 19, 20, 25):
                server.kill()
                server.start()
                other = echoline.Loader("train", runtime_dir=server.dir)
                other.load_state_dict(states[taken])
                self.assertEqual(other.state_dict(), states[taken])
                for expected in ids[taken:taken + 3]:
                    batch = other.next() or other.next()
                    np.testing.assert_array_equal(batch.sample_ids, expected)
                other.close()

    def test_a_loaded_state_is_not_a_break(self):
        with RingServer() as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            loader.skip(6)
            state = loader.state_dict()
            loader.close()
            loader = echoline.Loader("train", runtime_dir=server.dir, state=state)
            self.assertEqual([batch.step for batch in loader], [6, 7, 8, 9])
            self.assertEqual([batch.step for batch in loader][:2], [0, 1])

    def test_a_state_of_another_seed_is_refused(self):
        with RingServer(seed=1) as one, RingServer(seed=2) as other:
            state = echoline.Loader("train", runtime_dir=one.dir).state_dict()
            with self.assertRaisesRegex(echoline.FailedPrecondition, "seed"):
                echoline.Loader("train", runtime_dir=other.dir).load_state_dict(state)

    def test_a_broken_state_is_refused(self):
        with RingServer() as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            with self.assertRaises(echoline.InvalidArgument):
                loader.load_state_dict({**loader.state_dict(), "row": "many"})

    def test_wrong_arguments_are_value_errors(self):
        with RingServer() as server:
            for arguments in ({"rank": 1}, {"batch_size": 0}, {"join": "middle"}, {"reattach": "soon"},
                              {"world_size": 3}, {"rank": 2 ** 32}, {"batch_size": 2 ** 32 + 8},
                              {"local_world_size": -1}, {"reattach": float("inf")}, {"reattach": "1e99h"},
                              {"state": "{}"}):
                with self.assertRaises(ValueError, msg=arguments):
                    echoline.Loader("train", runtime_dir=server.dir, **arguments)
            with self.assertRaises(ValueError):
                echoline.Loader("train", runtime_dir=server.dir).next(timeout=float("nan"))
            with self.assertRaisesRegex(echoline.NotFound, "streams: train"):
                echoline.Loader("other", runtime_dir=server.dir)
        with self.assertRaisesRegex(echoline.NotFound, "start echolined"):
            echoline.Loader("train", runtime_dir="/nowhere")


class Deaths(unittest.TestCase):
    def test_without_reattach_the_loss_is_an_error_within_a_second(self):
        with RingServer(batches_max=0) as server:
            loader = echoline.Loader("train", reattach="0s", runtime_dir=server.dir)
            killed = []
            threading.Timer(0.2, lambda: (killed.append(time.monotonic()), server.process.kill())).start()
            with self.assertRaises(echoline.DaemonGone):
                loader.next()
            self.assertLess(time.monotonic() - killed[0], 1)

    def test_a_restart_is_one_long_wait(self):
        with RingServer() as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            steps = []
            for batch in loader:
                steps.append(batch.step)
                if batch.step == 4:
                    server.kill()
                    threading.Timer(0.3, server.start).start()
            self.assertEqual(steps, list(range(10)))

    def test_losses_are_reported_for_rows_with_a_use(self):
        with RingServer() as server, echoline.Loader("train", runtime_dir=server.dir) as loader:
            batch = loader.next()
            self.assertEqual(loader.report(np.arange(4) / 2, batch.uses), 4)
            self.assertEqual(loader.report([0.5, np.nan, np.inf], [0, 1, 2]), 1)
            self.assertEqual(loader.report(np.zeros(0, np.float16), batch.uses[:0]), 0)
            for losses, uses, said in ((0.5, batch.uses, "a loss without reduction"), (np.zeros((4, 1)), batch.uses, "shapes"),
                                       (batch.uses, np.zeros(4), "report\\(losses, uses\\)")):
                with self.assertRaisesRegex(echoline.InvalidArgument, said):
                    loader.report(losses, uses)

    def test_a_time_out_is_a_timeout_error(self):
        with RingServer(batches_max=0) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            begin = time.monotonic()
            with self.assertRaises(TimeoutError):
                loader.next(timeout=0.2)
            self.assertLess(time.monotonic() - begin, 0.6)

    def test_close_ends_a_wait_in_another_thread(self):
        with RingServer(batches_max=1) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            loader.next()
            threading.Timer(0.2, loader.close).start()
            with self.assertRaisesRegex(echoline.Error, "closed"):
                loader.next()
            self.assertEqual(loader.state_dict()["row"], 4)

    def test_a_forked_child_is_told_and_the_parent_goes_on(self):
        program = ("import os, sys, echoline\n"
                   "loader = echoline.Loader('train', runtime_dir=sys.argv[1])\n"
                   "batch = loader.next()\n"
                   "pid = os.fork()\n"
                   "if pid == 0:\n"
                   "    try: loader.next()\n"
                   "    except echoline.Forked: del batch, loader; os._exit(7)\n"
                   "    os._exit(8)\n"
                   "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7\n"
                   "assert [b.step for b in loader][:3] == [0, 1, 2]\n"
                   "assert batch['label'][0] == 0\n")
        with RingServer() as server:
            done = subprocess.run([sys.executable, "-B", "-c", program, server.dir], capture_output=True, text=True,
                                  timeout=30, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=1)
