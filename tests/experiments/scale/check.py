#!/usr/bin/env python3
"""Runs a job on four hosts (network namespaces) behind limits, computes the same with the model, and prints both. Exit code
1 if one differs by more than --tolerance.

    ECHOLINED=... ECHOLINE_CLI=... ECHOLINE_LIBRARY=... PYTHONPATH=client/python check.py [--only TEXT] [--tolerance 0.1]"""
import argparse
import contextlib
import sys
import tempfile

from cluster_run import BATCH, HOSTS, READ_AHEAD, SLOTS, STEPS, Cluster, Setting
from model import Fleet, Job, Store, simulate

# The first one gives the time of a step without limits, the trainers' all-reduce included; the model gets it from there.
SETTINGS = [
    Setting("no limit"),
    Setting("store, 8 MB/s for all", store=8e6),
    Setting("one host with a link of 2 MB/s", links=(0, 2e6, 0, 0)),
    Setting("store, 5 MB/s, and a fleet", store=5e6, fleet=True),
    Setting("all answers after 1 s", late="latency: 1s"),
]


def model(setting, cluster, step_seconds, epoch):
    """The period of the steps of an epoch."""
    job = Job(hosts=HOSTS, samples=BATCH // HOSTS, record_bytes=cluster.record_bytes, step_seconds=step_seconds,
              make_seconds=0.0, link=[link or 1e9 for link in setting.links], read_ahead=READ_AHEAD, slots=SLOTS,
              request_bytes=READ_AHEAD)
    fleet = Fleet(HOSTS, 1e9, kept=1.0) if setting.fleet and epoch > 0 else None
    store = Store(setting.store or 1e9, first_byte=1.0 if "1s" in setting.late else 0.0)
    return 1 / simulate(job, store, 4 * STEPS, fleet).rate(STEPS)


def periods(setting, ends):
    """{epoch: period} of the steps after those of the start. Where a fleet makes epochs differ, of the first one, too."""
    def between(first, last):
        return (ends[last - 1] - ends[first - 1]) / (last - first)
    later = {1: between(STEPS + SLOTS, len(ends))}
    return {0: between(SLOTS + 4, STEPS - SLOTS), **later} if setting.fleet else later


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="settings whose name contains this, and the first one")
    parser.add_argument("--tolerance", type=float, default=0.1)
    options = parser.parse_args()
    worst, step_seconds = 0.0, None
    print("| limit | epoch | seconds for a step, seen | model | difference |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        cluster = Cluster(folder)
        stack.callback(cluster.stop)
        for setting in SETTINGS:
            if step_seconds is not None and options.only not in setting.name:
                continue
            for epoch, seen in periods(setting, cluster.run(setting)).items():
                step_seconds = step_seconds or seen
                computed = model(setting, cluster, step_seconds, epoch)
                difference = computed / seen - 1
                worst = max(worst, abs(difference))
                print(f"| {setting.name} | {'first' if epoch == 0 else 'later'} | {seen:.3f} | {computed:.3f} | "
                      f"{100 * difference:+.1f} % |", flush=True)
    sys.exit(worst > options.tolerance)


if __name__ == "__main__":
    main()
