#!/usr/bin/env python3
"""The systems law of echoing in a loose form, on one point of each kind; tests/bench/systems_law.py measures it."""
import os
import pathlib
import sys
import tempfile
import unittest

from daemon_process import skip

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import law_run  # noqa: E402
from law_run import Point  # noqa: E402

if not os.environ.get("ECHOLINE_LIBRARY"):
    skip("ECHOLINE_LIBRARY names no client library")

WITHIN = 0.2  # a machine with other work to do


class SystemsLaw(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.photos = law_run.Photos(folder.name, count=128)

    def check(self, place, ratio, factor):
        point = Point(place, ratio, factor, t_up=0.04)
        seen = law_run.measure(self.photos, point)
        law_run.tell(point, seen)
        self.assertLess(abs(seen.deviation), WITHIN)

    def test_below_r_uses_are_free_and_the_line_sets_the_pace(self):
        self.check("sample", 4, 2)
        self.check("record", 4, 2.5)

    def test_beyond_r_the_trainer_sets_the_pace(self):
        self.check("augmented", 2, 3)
        self.check("batch", 2, 3)

    def test_at_r_both_are_busy(self):
        self.check("batch", 4, 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
