"""Tests of steps that run users' code: the worker processes of a file, and the rows of a stream."""
import os
import pathlib

import numpy as np

from support.daemon_process import Daemon, stream_yaml
from support.memory_use import held, memory_files
from support.process_case import ProcessCase
from support.programs import require_library, wait_until

require_library()
import echoline  # noqa: E402  (it needs the library)


def workers_of(path):
    """The worker processes of this file."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if os.fsencode(path) in words and (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(int(entry.name))
        except (OSError, UnicodeDecodeError):
            continue
    return found


class UserCodeCase(ProcessCase):
    """Derived classes give `steps`, the pipeline, and in setUp `source`, the file of the code."""
    SEED = 7

    def setUp(self):
        super().setUp()
        self.place = self.folder()
        (self.place / "marks").mkdir()
        # After the daemons' ends: nothing is left of the workers.
        self.addCleanup(lambda: wait_until(lambda: not workers_of(self.source), "the end of the workers", seconds=10))

    def daemon(self, *arguments, bad="50%", workers=2, metrics=0, environment=None, **options):
        yaml = stream_yaml(self.steps(*arguments, **options), seed=self.SEED, more=f"    bad_records: {{limit: {bad}}}\n")
        environment = {"TEST_MARKS": str(self.place / "marks"), **(environment or {})}
        return Daemon(yaml, workers=workers, metrics=metrics, environment=environment)

    def rows(self, daemon, epochs=1, **options):
        """{(epoch, sample, use, n): {field: row}} of whole epochs, in their order; n counts replaced rows, and is 0 for others."""
        found = {}
        with echoline.Loader("train", runtime_dir=str(daemon.runtime_dir), **options) as loader:
            for _ in range(epochs):
                for batch in loader:
                    for row in range(batch.rows):
                        replaced = len(found) + 1 if batch.flags[row] else 0
                        key = (batch.epoch, int(batch.sample_ids[row]), int(batch.uses[row]), replaced)
                        self.assertNotIn(key, found)
                        found[key] = {name: np.array(array[row]) for name, array in batch.items()}
                        found[key]["flags"] = int(batch.flags[row])
        return found

    def check_same_rows(self, found, expected):
        self.assertEqual(list(found), list(expected))
        for key, row in found.items():
            for name, value in row.items():
                np.testing.assert_array_equal(value, expected[key][name], f"{key} {name}")

    def check_storm(self, records, kinds, late, **options):
        """The step `storm` loses its process for a third of the records, once each, by `kinds` kinds of faults in turn; those
        whose numbers are in `late` end by the time limit. Each seventh record from 1 on is bad. All others have the rows of a
        run without faults, in three epochs of two uses each, and nothing is left of the faults. Returns the log."""
        options["echo"] = "echo: {factor: 2, window: 24}"

        def read():
            with self.daemon("storm", metrics=True, **options) as daemon:
                rows = self.rows(daemon, epochs=3)
                wait_until(lambda: daemon.total("echoline_python_workers") == 2 and len(workers_of(self.source)) == 2,
                           "two workers", seconds=30)
                lost = [daemon.total("echoline_python_calls_total", outcome=outcome) for outcome in ("died", "timeout")]
                bad = daemon.total("echoline_records_bad_total")
                return rows, lost, bad, held(daemon.process.pid)[1], memory_files(daemon.process.pid), daemon.log()

        disturbed, lost, bad, kept, memory, log = read()
        undisturbed, lost_again, _, kept_again, memory_again, _ = read()  # the marks are there: no fault happens again
        self.check_same_rows(disturbed, undisturbed)
        faults = records // 3
        hangs = sum(number % kinds in late for number in range(faults))
        self.assertEqual((lost[0], lost_again[0]), (faults - hangs, 0))
        # On a busy machine, a few of hundreds of calls without a fault take too long.
        self.assertIn(lost[1], range(hangs, hangs + faults // 50 + 1))
        self.assertIn(lost_again[1], range(faults // 50 + 1))
        self.assertLess(abs(kept - kept_again), 3, "descriptors")
        self.assertLess(abs(memory - memory_again), 1 << 20)
        delivered = {sample for (_, sample, *_), row in undisturbed.items() if row["flags"] == 0}
        self.assertEqual(delivered, {record for record in range(records) if record % 7 != 1})
        self.assertGreaterEqual(bad, 3 * (records - len(delivered)))
        return log
