#!/usr/bin/env python3
"""Measures the systems law: a table of periods over echo points, R and e, and the largest deviation.

    ECHOLINED=... ECHOLINE_CLI=... ECHOLINE_LIBRARY=... PYTHONPATH=client/python systems_law.py [--all]

By default it measures every echo point with pairs (R, e) on both sides of e = R; --all measures R in {1, 2, 4, 6} with
e in {1, ..., 8}, 128 points, about 40 minutes. Exit code 1 where a point is more than 5 % away."""
import argparse
import itertools
import sys
import tempfile

import law_run

PAIRS = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (4, 2), (4, 2.5), (4, 4), (4, 8), (6, 3), (6, 5), (6, 6), (6, 8))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every R with every e")
    parser.add_argument("--place", choices=law_run.POINTS, action="append", help="only this echo point; repeatable")
    parser.add_argument("--t-up", type=float, default=0.06, help="seconds of the line for a batch")
    parser.add_argument("--within", type=float, default=0.05, help="allowed deviation")
    options = parser.parse_args()
    pairs = itertools.product((1, 2, 4, 6), range(1, 9)) if options.all else PAIRS
    worst = []
    with tempfile.TemporaryDirectory() as folder:
        photos = law_run.Photos(folder)
        for (ratio, factor), place in itertools.product(pairs, options.place or law_run.POINTS):
            point = law_run.Point(place, ratio, factor, options.t_up)
            seen = law_run.measure(photos, point)
            law_run.report(point, seen)
            worst.append((abs(seen.deviation), point, seen))
    deviation, point, seen = max(worst, key=lambda entry: entry[0])
    outside = sum(entry[0] > options.within for entry in worst)
    print(f"worst of {len(worst)}, {outside} outside {options.within * 100:.0f} %:")
    law_run.report(point, seen)
    return 0 if deviation <= options.within else 1


if __name__ == "__main__":
    sys.exit(main())
