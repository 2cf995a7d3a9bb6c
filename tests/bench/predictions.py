"""Rates that `echoline analyze` predicts from a run under one setting, compared with runs under 60 others: workers, cached
share, rate of the store, echo point and factor, speed of the trainer. DS-Analyzer's experiment (PVLDB 14(5), 2021, section
4) on this machine. Half of the settings are fixed; the others are drawn at each run, so that no model can be fitted to them."""
import random
import secrets
import statistics
import sys
import tempfile

import predictions_run
from predictions_run import Setting
from suite.rounds import Row, Table

PROGRAMS = ("ECHOLINE_LIBRARY", "ECHOLINE_CLI")
ONE_ROUND = True  # a setting takes 20 s
# The store is the limit of these, so that its rate is seen. Under `sample` echo pictures are decoded whole, else only the part
# that the crop needs: each predicts the settings of its own kind.
BASE, SAMPLE_BASE = Setting(line=100), Setting(line=60, place="sample", factor=2)
FIXED = (
    Setting(workers=2), Setting(cached=25), Setting(cached=50), Setting(cached=75), Setting(cached=100),
    Setting(line=25), Setting(line=50), Setting(line=200), Setting(line=800), Setting(trainer=40), Setting(trainer=80),
    Setting(line=50, cached=50), Setting(line=800, workers=2), Setting(line=800, workers=2, trainer=900),
    Setting(line=400, cached=50, trainer=200), Setting(line=40, trainer=120, cached=60, workers=2),
    Setting(place="record", factor=1.5), Setting(place="record", factor=2), Setting(place="record", factor=6),
    Setting(line=30, place="record", factor=4), Setting(place="sample", factor=2), Setting(place="sample", factor=4),
    Setting(place="sample", factor=6, workers=2), Setting(line=30, place="sample", factor=5),
    Setting(place="augmented", factor=3), Setting(line=30, place="augmented", factor=5),
    Setting(line=400, place="augmented", factor=2), Setting(place="batch", factor=2),
    Setting(line=30, place="batch", factor=4), Setting(line=30, place="batch", factor=6, trainer=100))


def drawn(seed, count):
    """Settings from the whole range of each value; rates are log-uniform."""
    draw = random.Random(seed)
    settings = []
    for _ in range(count):
        place = draw.choice(("none", "none", "record", "sample", "augmented", "batch"))
        settings.append(Setting(
            line=round(20 * 40 ** draw.random(), 1), trainer=round(30 * 20 ** draw.random(), 1), workers=draw.choice((1, 2)),
            cached=draw.choice((0, 0, 0, 20, 40, 60, 80, 100)), place=place,
            factor=1 if place == "none" else draw.choice((1.5, 2, 3, 4, 5, 6))))
    return settings


def text(setting):
    echo = "" if setting.place == "none" else f", {setting.place} echo x {setting.factor:g}"
    return (f"store {setting.line:g}/s, trainer {setting.trainer:g}/s, {setting.workers} workers, cached {setting.cached} %"
            f"{echo}")


def compared(photos, base, other):
    """(predicted / seen rate, predicted - seen stall share) of a setting. The run that is asked comes right after the run with
    the setting: the speed of a shared machine changes from minute to minute."""
    seen = predictions_run.measure(photos, other)["measured"]
    [predicted] = predictions_run.measure(photos, base, [other.what_if(base, seen["cached_share"])])["what_if"]
    print(f"{text(other)}: {predicted['rows_per_second']:.1f} predicted, {seen['rows_per_second']:.1f} seen, "
          f"stall {predicted['stall_share']:.2f} predicted, {seen['stall_share']:.2f} seen, limit "
          f"{predicted['limit']}", file=sys.stderr, flush=True)
    return predicted["rows_per_second"] / seen["rows_per_second"], predicted["stall_share"] - seen["stall_share"]


def spread(values, unit):
    ordered = sorted(abs(value) for value in values)
    last = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"median {100 * statistics.median(ordered):.1f} {unit}, 95th percentile {100 * last:.1f} {unit}"


def measure(options):
    seed = secrets.randbelow(10 ** 6)
    fixed, others = (FIXED[:2], drawn(seed, 1)) if options.quick else (FIXED, drawn(seed, 30))
    rows, rates, stalls = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        photos = predictions_run.Photos(folder)
        for name, settings in (("fixed settings", fixed), (f"settings drawn with seed {seed}", others)):
            found = [compared(photos, SAMPLE_BASE if one.place == "sample" else BASE, one) for one in settings]
            rows.append(Row(f"{len(found)} {name}", [rate for rate, _ in found]))
            rates += [rate - 1 for rate, _ in found]
            stalls += [stall for _, stall in found]
    note = (f"{len(rates)} predictions. Error of the rate: {spread(rates, '%')}. Error of the stall share: "
            f"{spread(stalls, 'points')}.")
    return [Table("Rates predicted from one setting for others", "predicted / seen", rows, note=note)]
