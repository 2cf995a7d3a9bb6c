#!/usr/bin/env python3
"""A new echo factor while trainers read: every record has the uses of its block; a state resumes exactly, also on a daemon
that does not know the change; jobs and ranks stay together; a killed daemon makes no difference."""
import collections
import concurrent.futures
import contextlib
import re
import signal

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.records import DECODE, Records

BATCH, RECORDS, SLOTS, WINDOW = 8, 800, 8, 200

require_library()

import echoline  # noqa: E402


def rows_of(batch):
    return [(int(sample), int(use)) for sample, use, valid in zip(batch.sample_ids, batch.uses, batch.valid) if valid]


class Reading:
    """What one job reads: rows by epoch, and the state after each batch."""

    def __init__(self, daemon, job="job", state=None, **more):
        self.loader = echoline.Loader("train", job, state=state, runtime_dir=daemon.runtime_dir, **more)
        self.epochs = collections.defaultdict(list)
        self.states = []
        self.ended = []  # epochs whose last batch was marked as such
        self._loop = iter(self.loader)
        daemon.readings.callback(self.loader.close)

    def read(self, batches):
        for _ in range(batches):
            batch = next(self._loop, None)
            if batch is None:
                self._loop = iter(self.loader)
                batch = next(self._loop)
            self.epochs[batch.epoch] += rows_of(batch)
            if batch.is_last:
                self.ended.append(batch.epoch)
            del batch
            self.states.append(self.loader.state_dict())
        return self

    def read_epoch(self, epoch):
        """Reads to the end of this epoch."""
        while epoch not in self.ended:
            self.read(1)
        return self


class SetEcho(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.url = Records(cls.class_folder(), count=RECORDS, ballast=(0, 100)).url

    @contextlib.contextmanager
    def daemon(self, point="record", last="partial", factor=1.5, most=3, lanes=1, size=BATCH, read_ahead="64KiB", **more):
        echo = f"echo: {{factor: {factor}, max: {most}, window: {3 if point == 'batch' else WINDOW}}}"
        steps = [f"read: {{url: '{self.url}', format: webdataset, read_ahead: {read_ahead}}}", "shuffle: {window: 100}",
                 echo if point == "record" else "", DECODE,
                 "random_crop: {field: image, size: 8, padding: 2}", echo if point == "augmented" else "",
                 f"batch: {{size: {size}, last: {last}}}", echo if point == "batch" else "", f"publish: {{slots: {SLOTS}}}"]
        streams = stream_yaml(steps, more=f"    lanes: {lanes}\n")
        with Daemon(streams, **more) as daemon, contextlib.ExitStack() as daemon.readings:
            yield daemon

    def test_uses_within_a_step_are_on_all_ranks_of_one_batch_and_their_factor_cannot_change(self):
        ranks, batches = 4, RECORDS * 4 // 32
        steps = [f"read: {{url: '{self.url}', format: webdataset}}", "shuffle: {window: 100}", DECODE,
                 "echo: {factor: 4, spread: step}", "random_crop: {field: image, size: 8, padding: 2}",
                 "batch: {size: 32}"]
        with Daemon(stream_yaml(steps)) as daemon, contextlib.ExitStack() as readings:
            loaders = [readings.enter_context(echoline.Loader("train", rank=rank, world_size=ranks, local_world_size=ranks,
                                                              runtime_dir=daemon.runtime_dir)) for rank in range(ranks)]
            rows, crops, seen = [], 0, set()
            for step in range(batches):
                parts = [loader.next().copy() for loader in loaders]
                ids = parts[0].sample_ids.tolist()
                self.assertEqual(len(set(ids)), 8, "a rank has no record twice")
                for use, part in enumerate(parts):
                    self.assertEqual((part.step, part.sample_ids.tolist(), set(part.uses.tolist())), (step, ids, {use}))
                    rows.append(rows_of(part))
                crops += sum((part["image"] != parts[0]["image"]).any() for part in parts[1:])
                self.assertTrue(seen.isdisjoint(ids))
                seen.update(ids)
                if step == batches // 2:
                    state = loaders[1].state_dict()
            self.assertEqual(seen, set(range(RECORDS)))
            self.assertEqual(crops, 3 * batches, "each use has its own crop")
            self.assertIn("(echo.spread: step)", self.refusal(daemon, "train", "2"))
            for loader in loaders:
                loader.close()
            with echoline.Loader("train", state=state, runtime_dir=daemon.runtime_dir) as again:
                found = [pair for _ in range(batches - batches // 2 - 1) for pair in rows_of(again.next())]
                self.assertEqual(found, [pair for part in rows[(batches // 2 + 1) * ranks:] for pair in part])

    def set_echo(self, daemon, factor):
        """(epoch, row) from which the factor holds, as the command prints it."""
        done = daemon.command("set-echo", "train", factor)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(rf"echo factor of train is {factor} from row (\d+) of epoch (\d+) on", done.stdout)
        self.assertIsNotNone(found, done.stdout)
        return int(found[2]), int(found[1])

    def refusal(self, daemon, *arguments):
        """The error output of a `set-echo` that must fail."""
        done = daemon.command("set-echo", *arguments)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    def check_uses(self, rows, least, most):
        """Every record comes, its uses count from 0 without gaps, and their number is one that the factors allow."""
        uses = collections.defaultdict(list)
        for sample, use in rows:
            uses[sample].append(use)
        self.assertEqual(sorted(uses), list(range(RECORDS)))
        for sample, seen in uses.items():
            self.assertEqual(seen, list(range(len(seen))), f"sample {sample}")
            self.assertTrue(least <= len(seen) <= most, f"sample {sample}: {len(seen)} uses")

    def check_replay(self, reading, epoch, state, **stream):
        """Another daemon repeats the whole epoch from the list of changes in the state."""
        with self.daemon(**stream) as fresh:
            again = Reading(fresh, state={**state, "epoch": epoch, "row": 0})
            again.read_epoch(epoch)
            self.assertEqual(again.epochs[epoch], reading.epochs[epoch])

    def check_change(self, **stream):
        """Raises the factor in one epoch and lowers it in the next."""
        with self.daemon(**stream) as daemon:
            reading = Reading(daemon).read(20)
            changes = [self.set_echo(daemon, 2.75)]
            self.assertEqual(changes[0][0], 0)
            self.assertGreaterEqual(changes[0][1], 20 * BATCH)
            if stream.get("point") != "batch":
                self.assertLessEqual(changes[0][1], (20 + SLOTS + 1) * BATCH + WINDOW, "however far it is planned")
            reading.read_epoch(0).read(10)
            changes.append(self.set_echo(daemon, 1))
            reading.read_epoch(2)
        self.assertEqual(reading.ended, [0, 1, 2])
        if stream.get("point") != "batch" and stream.get("last") != "drop":
            self.check_uses(reading.epochs[0], 1, 3)
            self.check_uses(reading.epochs[1], 1, 3)
            self.check_uses(reading.epochs[2], 1, 1)
            self.assertGreater(len(reading.epochs[0]), 1.5 * RECORDS)
            self.assertEqual(len(reading.epochs[2]), RECORDS)
        with self.daemon(**stream) as fresh:
            unchanged = Reading(fresh).read_epoch(0)
        row = changes[0][1]
        self.assertEqual(reading.epochs[0][:row], unchanged.epochs[0][:row])
        self.assertNotEqual(reading.epochs[0][row:row + 1], unchanged.epochs[0][row:row + 1], "the exact row is said")
        lists = [state["changes"] for state in reading.states if state["epoch"] == 0]
        # States hold the change from its first block on, whose first rows may still be the same.
        self.assertLessEqual(lists.count([]), changes[0][1] // BATCH)
        self.assertEqual(lists[-1][0][1], 2750)
        for epoch in range(3):
            last = [state for state in reading.states if state["epoch"] == epoch][-1]
            self.check_replay(reading, epoch, last, **stream)
        with self.daemon(**stream) as fresh:
            for step in range(5, len(reading.states) - 5, 37):
                self.check_resume(fresh, reading, step, changes)

    def check_resume(self, fresh, reading, step, changes):
        """A state from before a change resumes as if there were no change."""
        state = reading.states[step]
        epoch, row = state["epoch"], state["row"]
        again = Reading(fresh, job=f"from {step}", state=state).read(25)
        again.loader.close()
        ends = [changed for in_epoch, changed in changes if in_epoch == epoch and changed >= row]
        count = min(len(again.epochs[epoch]), *(changed - row for changed in ends), RECORDS * 3)
        self.assertEqual(again.epochs[epoch][:count], reading.epochs[epoch][row:row + count], f"from state {state}")

    def test_records_have_the_uses_of_their_block_and_states_resume(self):
        for stream in ({}, {"read_ahead": "64MiB"}, {"lanes": 4, "read_ahead": "64MiB"},
                       {"point": "augmented", "lanes": 2, "last": "drop"}, {"point": "batch", "last": "drop"}):
            with self.subTest(**stream):
                self.check_change(**stream)

    def test_jobs_stay_together_and_ranks_agree(self):
        with self.daemon() as daemon:
            jobs = [Reading(daemon, job=job) for job in "ab"]
            ranks = [Reading(daemon, "ranks", rank=rank, world_size=2, batch_size=12) for rank in (0, 1)]
            everybody = [*jobs, *ranks]
            # Two batches of 12 have the rows of three batches of 8.
            for turn in range(60):
                for reading in jobs:
                    reading.read(3)
                for reading in ranks:
                    reading.read(2)
                if turn == 8:
                    self.set_echo(daemon, 2.25)
                if turn == 30:
                    self.set_echo(daemon, 1.25)
            self.assertEqual(daemon.log().count("echo factor 2.25 from"), 1, "they must share one pass")
            self.assertEqual(jobs[0].epochs, jobs[1].epochs)
            self.assertEqual(jobs[0].states, jobs[1].states)
            self.assertEqual(ranks[0].states, ranks[1].states)
            for reading in everybody:
                self.assertEqual(reading.ended[:1], [0])
            both = [row for pair in zip(batches(ranks[0].epochs[0]), batches(ranks[1].epochs[0]))
                    for part in pair for row in part]
            self.assertEqual(len(both), len(jobs[0].epochs[0]))
            whole = len(both) // 12 * 12
            self.assertEqual(both[:whole], jobs[0].epochs[0][:whole])

    def test_a_killed_daemon_makes_no_difference(self):
        for wait in (0, 40):  # batches from the change to the kill: before and after its first row
            with self.subTest(wait=wait), self.daemon() as daemon:
                reading = Reading(daemon).read(20)
                self.set_echo(daemon, 2.5)
                reading.read(wait)
                daemon.stop(signal.SIGKILL)
                daemon.start()
                reading.read_epoch(0)
                reading.read(5)
                self.check_uses(reading.epochs[0], 1, 3)
                self.assertGreater(len(reading.epochs[0]), 1.6 * RECORDS)
                last = [state for state in reading.states if state["epoch"] == 0][-1]
                self.check_replay(reading, 0, last)
                self.assertEqual(reading.states[-1]["changes"], [[0, 2500]])

    def test_ranks_agree_after_a_killed_daemon_started_again(self):
        with self.daemon() as daemon, concurrent.futures.ThreadPoolExecutor(2) as threads:
            ranks = [Reading(daemon, rank=rank, world_size=2) for rank in (0, 1)]
            list(threads.map(lambda reading, count: reading.read(count), ranks, (20, 22)))
            self.set_echo(daemon, 2.5)
            daemon.stop(signal.SIGKILL)
            daemon.start()
            list(threads.map(lambda reading: reading.read_epoch(0).read(5), ranks))
            for states in zip(*(reading.states[25:] for reading in ranks)):
                self.assertEqual(*states)
            both = [row for pair in zip(*(batches(reading.epochs[0], 4) for reading in ranks))
                    for part in pair for row in part]
            self.check_uses(both, 1, 3)
            self.assertGreater(len(both), 1.6 * RECORDS)

    def test_the_length_of_a_loader_is_known_until_it_changes(self):
        with self.daemon() as daemon:
            reading = Reading(daemon).read(5)
            self.assertEqual(len(reading.loader), 150)
            self.set_echo(daemon, 3)
            with self.assertRaisesRegex(TypeError, "set-echo"):
                len(reading.loader)
            self.assertEqual(reading.loader.fresh_per_epoch, RECORDS)
            reading.read_epoch(1)
            self.assertEqual(len(reading.epochs[1]), 3 * RECORDS)

    def test_a_later_trainer_begins_with_the_current_factor(self):
        with self.daemon() as daemon:
            done = daemon.command("set-echo", "train", "2")
            self.assertEqual(done.stdout, "echo factor of train is 2; no pass has another one\n")
            reading = Reading(daemon).read_epoch(0)
            self.check_uses(reading.epochs[0], 2, 2)
            self.assertEqual(reading.states[0]["changes"], [[0, 2000]])
            self.assertIn("x 2", daemon.command("show", "train").stdout)

    def test_impossible_factors_are_refused_and_the_same_factor_again_is_accepted(self):
        with self.daemon() as daemon:
            reading = Reading(daemon).read(5)
            self.assertIn("takes 1 to 3 (echo.max", self.refusal(daemon, "train", "3.5"))
            self.assertIn("'0.5' is not between 1 and 1000", self.refusal(daemon, "train", "0.5"))
            self.assertIn("finer than a thousandth", self.refusal(daemon, "train", "1.0005"))
            self.assertIn("no stream 'eval'", self.refusal(daemon, "eval", "2"))
            self.set_echo(daemon, 2)
            again = daemon.command("set-echo", "train", "2")
            self.assertEqual(again.stdout, "echo factor of train is 2; no pass has another one\n")
            runs = [daemon.command("set-echo", "train", 1 + change / 1000) for change in range(1, 65)]
            self.assertEqual([done.returncode for done in runs], 63 * [0] + [1], runs[-1])
            self.assertIn("64 changes of the factor an epoch", runs[-1].stderr)
            reading.read_epoch(0)


def batches(rows, size=6):
    return [rows[begin:begin + size] for begin in range(0, len(rows), size)]


if __name__ == "__main__":
    main()
