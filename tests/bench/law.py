"""The systems law of echoing: the period of a fresh batch and its uses behind a slow line, relative to the law's prediction,
for every echo point with pairs (R, e) on both sides of e = R. law_run.py measures a point; a deviation above 5 % is a
failure of the law, or of a busy machine."""
import contextlib
import itertools
import sys
import tempfile

import law_run
from suite.rounds import Row, Table

PROGRAMS = ("ECHOLINE_LIBRARY",)
ONE_ROUND = True  # a point takes 8 to 50 s
PAIRS = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (4, 2), (4, 2.5), (4, 4), (4, 8), (6, 3), (6, 5), (6, 6), (6, 7), (6, 8))
T_UP = 0.06  # seconds of the line for a batch
WITHIN = 0.05


def measure(options):
    pairs = PAIRS[3:4] if options.quick else PAIRS
    with tempfile.TemporaryDirectory() as folder:
        photos = law_run.Photos(folder)
        seen = {}
        for (ratio, factor), place in itertools.product(pairs, law_run.POINTS):
            point = law_run.Point(place, ratio, factor, T_UP)
            seen[point] = law_run.measure(photos, point)
            with contextlib.redirect_stdout(sys.stderr):  # the page is written to stdout
                law_run.report(point, seen[point])
    rows = [Row(f"R = {ratio}, e = {factor}", [seen[point].period / seen[point].law for point in seen
                                              if (point.ratio, point.factor) == (ratio, factor)])
            for ratio, factor in pairs]
    outside = sum(abs(each.deviation) > WITHIN for each in seen.values())
    worst = max(seen.values(), key=lambda each: abs(each.deviation))
    note = (f"Each value is the median of the four echo points, with the lowest and the highest. {outside} of {len(seen)} points are more than "
            f"{WITHIN * 100:.0f} % away; the worst is {worst.deviation * 100:+.1f} %")
    return [Table("Period, relative to the systems law", "seen / law", rows, note=note + ".")]
