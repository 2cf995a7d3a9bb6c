"""The base of all tests over real processes."""
import pathlib
import sys
import tempfile
import unittest

from support.daemon_process import Daemon
from support.leftovers import Leftovers
from support.server_process import Server
from support.trainer_process import Trainer


class ProcessCase(unittest.TestCase):
    """Starts daemons, servers and trainers and ends them with the test. After the clean-up, no process that the test
    started may still run, and no shared memory of Echoline may be left."""

    def setUp(self):
        leftovers = Leftovers()
        self.addCleanup(lambda: leftovers.check(self.class_processes()))  # the first cleanup is the last to run

    def class_processes(self):
        """For a test that starts a server of its class again: the ids of processes that may still run after it."""
        return set()

    @classmethod
    def class_folder(cls):
        """A new folder that lives as long as the class's tests."""
        return pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="echoline-test-")))

    def folder(self):
        """A new folder that lives as long as the test."""
        return pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="echoline-test-")))

    @classmethod
    def class_resource(cls, resource):
        """Anything with stop(), which is called after the class's tests."""
        cls.addClassCleanup(resource.stop)
        return resource

    def resource(self, resource):
        """Anything with stop(), which is called after the test."""
        self.addCleanup(resource.stop)
        return resource

    def server(self, script, *arguments):
        """A program of tests/servers that ends with the test."""
        return self.resource(Server(script, *arguments))

    def unstarted(self, daemon):
        """A daemon that is stopped and checked at the end of the test, and is not started yet."""
        self.addCleanup(daemon.close)
        return daemon

    def started(self, daemon):
        """Starts a daemon that is stopped and checked at the end of the test."""
        return self.unstarted(daemon).start()

    def refused(self, streams, **options):
        """The log of a daemon whose start must fail with exit code 1."""
        code, log = self.unstarted(Daemon(streams, **options)).run_to_its_end()
        self.assertEqual(code, 1, log)
        return log

    def trainer(self, daemon, *arguments):
        """A started trainer program, which is killed at the end of the test if it still runs."""
        trainer = Trainer(daemon, *arguments)
        self.addCleanup(trainer.kill)
        return trainer

    def check_equal_batches(self, found, expected):
        """All are equal; shows the first difference only."""
        for one, other in zip(found, expected):
            self.assertEqual(one, other)
        self.assertEqual(len(found), len(expected))

    def check_same_as(self, lines, expected):
        """What a trainer wrote is the beginning of what another one wrote: nothing lost, read twice or out of order."""
        keys = ("epoch", "step", "rows", "pixels")
        for place, (one, other) in enumerate(zip(lines, expected)):
            self.assertEqual([one[key] for key in keys], [other[key] for key in keys], f"batch {place}")
        self.assertLessEqual(len(lines), len(expected))

    def check_steps(self, lines, steps_per_epoch, first=0):
        """What a trainer wrote are all steps of all epochs in order, from step number `first` of the run."""
        steps = [(line["epoch"], line["step"]) for line in lines if "epoch" in line]
        self.assertEqual(steps, [divmod(first + place, steps_per_epoch) for place in range(len(steps))])


class _Result(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    """Runs the tests of the program. Exit code 77 (ctest: skipped) if all of them were skipped, 1 if one failed or
    something is left after the last one."""
    leftovers = Leftovers()
    runner = unittest.TextTestRunner(verbosity=2, resultclass=_Result)
    result = unittest.main(testRunner=runner, exit=False).result
    leftovers.check()
    if result.wasSuccessful() and result.skipped and result.passed == 0:
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
