"""Predictions of `echoline analyze` from a run under one setting, compared with the rates of runs under others: workers, cached
share, rate of the store, echo point and factor, speed of the trainer. DS-Analyzer's experiment on this machine."""
import statistics
import sys
import tempfile

import predictions_run
from predictions_run import Setting
from suite.rounds import Row, Table

PROGRAMS = ("ECHOLINE_LIBRARY", "ECHOLINE_CLI")
ONE_ROUND = True  # a setting takes 10 s
BASES = (Setting(), Setting(line=250, trainer=150, workers=2, cached=50), Setting(line=60, place="sample", factor=3))
OTHERS = (Setting(workers=2), Setting(cached=25), Setting(cached=50), Setting(cached=100), Setting(line=50),
          Setting(line=200), Setting(line=800), Setting(trainer=80), Setting(place="record", factor=2),
          Setting(place="sample", factor=2), Setting(place="sample", factor=6, workers=2),
          Setting(place="augmented", factor=3), Setting(place="batch", factor=2),
          Setting(line=40, trainer=120, cached=60, workers=2))


def text(setting):
    echo = "" if setting.place == "none" else f", {setting.place} echo x {setting.factor:g}"
    return (f"store {setting.line:g}/s, trainer {setting.trainer:g}/s, {setting.workers} workers, cached {setting.cached} %"
            f"{echo}")


def compared(photos, bases, others):
    """[(base, other, predicted / seen rate, predicted - seen stall share)]; the rates of all settings come first."""
    seen = {}
    for setting in others:
        seen[setting] = predictions_run.measure(photos, setting)["measured"]
        print(f"{text(setting)}: {seen[setting]['rows_per_second']:.1f} rows/s seen", file=sys.stderr, flush=True)
    found = []
    for base in bases:
        questions = [other.what_if(base, seen[other]["cached_share"]) for other in others]
        for other, predicted in zip(others, predictions_run.measure(photos, base, questions)["what_if"]):
            found.append((base, other, predicted["rows_per_second"] / seen[other]["rows_per_second"],
                          predicted["stall_share"] - seen[other]["stall_share"]))
            print(f"{text(base)}  ->  {text(other)}: {predicted['rows_per_second']:.1f} predicted, "
                  f"{seen[other]['rows_per_second']:.1f} seen, limit {predicted['limit']}", file=sys.stderr, flush=True)
    return found


def measure(options):
    bases, others = (BASES[:1], OTHERS[:2]) if options.quick else (BASES, OTHERS)
    with tempfile.TemporaryDirectory() as folder:
        found = compared(predictions_run.Photos(folder), bases, others)
    errors = sorted(abs(ratio - 1) for _, _, ratio, _ in found)
    stalls = sorted(abs(difference) for *_, difference in found)
    rows = [Row(text(base), [ratio for of_base, _, ratio, _ in found if of_base == base]) for base in bases]
    note = (f"{len(found)} predictions. Error of the rate: median {statistics.median(errors) * 100:.1f} %, 95th percentile "
            f"{errors[int(0.95 * (len(errors) - 1))] * 100:.1f} %. Error of the stall share: median "
            f"{statistics.median(stalls) * 100:.1f} points, 95th percentile {stalls[int(0.95 * (len(stalls) - 1))] * 100:.1f}")
    return [Table("Rates predicted from one setting for others", "predicted / seen", rows, note=note + ".")]
