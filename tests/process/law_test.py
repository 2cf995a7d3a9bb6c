#!/usr/bin/env python3
"""The systems law of echoing with a loose tolerance, one point of each kind; tests/bench/law.py measures it."""
from support.process_case import ProcessCase, main
from support.programs import require_library

import law_run  # of tests/bench

require_library()

TOLERANCE = 0.2  # the machine has other work to do


class SystemsLaw(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.photos = law_run.Photos(cls.class_folder(), count=128)

    def check(self, place, ratio, factor):
        point = law_run.Point(place, ratio, factor, t_up=0.04)
        seen = law_run.measure(self.photos, point)
        law_run.report(point, seen)
        self.assertLess(abs(seen.deviation), TOLERANCE)

    def test_below_r_more_uses_cost_no_time(self):
        self.check("sample", 4, 2)
        self.check("record", 4, 2.5)

    def test_beyond_r_the_trainer_limits(self):
        self.check("augmented", 2, 3)
        self.check("batch", 2, 3)

    def test_at_r_line_and_trainer_limit_together(self):
        self.check("batch", 4, 4)


if __name__ == "__main__":
    main()
