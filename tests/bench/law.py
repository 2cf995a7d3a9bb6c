"""The systems law of echoing: the period of a fresh batch and its uses behind a slow line, relative to the law's prediction,
for every echo point with pairs (R, e) on both sides of e = R; and the uses per second at R = 6 for every e from 2 to 8, in
interleaved rounds. law_run.py measures a point; a deviation above 5 % is a failure of the law, or of a busy machine."""
import contextlib
import functools
import itertools
import statistics
import sys
import tempfile

import law_run
from suite.rounds import Row, Table, interleave

PROGRAMS = ("ECHOLINE_LIBRARY",)
ONE_ROUND = True  # the notes say what the values are
PAIRS = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (4, 2), (4, 2.5), (4, 4), (4, 8))  # a point takes 8 to 20 s
SLOW, FACTORS = 6, range(2, 9)  # in rounds
EXAMPLE = law_run.Point("sample", SLOW, 5)
T_UP = 0.06  # seconds of the line for a batch
WITHIN = 0.05


def seen_at(photos, point):
    seen = law_run.measure(photos, point)
    with contextlib.redirect_stdout(sys.stderr):  # the page is written to stdout
        law_run.report(point, seen)
    return seen


def points(pairs):
    return [law_run.Point(place, ratio, factor, T_UP) for (ratio, factor), place in itertools.product(pairs, law_run.POINTS)]


def measured(pairs, rounds):
    """{point: what each round saw}"""
    with tempfile.TemporaryDirectory() as folder:
        photos = law_run.Photos(folder)
        found = interleave({point: functools.partial(seen_at, photos, point) for point in points(pairs)}, rounds)
    for point, reason in found.reasons.items():
        raise RuntimeError(f"{point}: {reason}")
    return found.results


def median(rounds, pick):
    return statistics.median(pick(seen) for seen in rounds)


def periods(seen):
    """A table of all pairs."""
    pairs = sorted({(point.ratio, point.factor) for point in seen})
    rows = [Row(f"R = {ratio}, e = {factor}", [median(seen[point], lambda one: one.period / one.law) for point in points([(ratio, factor)])])
            for ratio, factor in pairs]
    deviations = [median(rounds, lambda one: one.deviation) for rounds in seen.values()]
    outside = sum(abs(each) > WITHIN for each in deviations)
    note = (f"Each value is the median of the four echo points, with the lowest and the highest. {outside} of {len(deviations)} points "
            f"are more than {WITHIN * 100:.0f} % away; the worst is {max(deviations, key=abs) * 100:+.1f} %.")
    return Table("Period, relative to the systems law", "seen / law", rows, note=note)


def uses(seen):
    """A table of the uses per second, which are e divided by the period. More is better."""
    def share(one):
        return one.law / one.period
    factors = sorted({point.factor for point in seen})
    rows = [Row(f"e = {factor}", [median(seen[point], share) for point in points([(SLOW, factor)])]) for factor in factors]
    example = EXAMPLE._replace(t_up=T_UP)
    if example in seen:
        rows.append(Row(f"e = {example.factor}, before augmentation, by round", [share(one) for one in seen[example]]))
    least = min(median(rounds, share) for rounds in seen.values())
    return Table(f"Uses per second at R = {SLOW}", "seen / max{t_up, e t_down}", rows,
                 note=f"Each value is the median of the four echo points, with the lowest and the highest; of each point, the median of "
                      f"its rounds counts. The least of all points is {least:.3f}.")


def measure(options):
    if options.quick:
        seen = measured([(2, 2)], 1)
        return [periods(seen)]
    slow = measured([(SLOW, factor) for factor in FACTORS], options.rounds)
    seen = measured(PAIRS, 1)
    return [periods({**seen, **slow}), uses(slow)]
