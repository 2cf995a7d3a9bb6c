#!/usr/bin/env python3
"""Jobs that share one pass: `echoline read` as 1 to 8 jobs on one stream of JPEGs, compared with 8 daemons with one job each
on the same processors, in turn. Prints figures and judges nothing.

    ECHOLINED=... ECHOLINE_CLI=... [ECHOLINE_TEST_DATA=...] jobs.py [--seconds N] [--rounds N] [--most N]

CPU of a batch is the daemon's CPU time for one published batch, preparation and hand-over together. Rates are photos a
second and photos for each CPU-second of all daemons and jobs; other work on the machine does not change the latter."""
import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

from handoff import cpu_seconds  # noqa: E402
from support import photos  # noqa: E402
from support.daemon_process import Daemon, stream_yaml  # noqa: E402
from support.programs import binary, end_with_parent  # noqa: E402

BATCH = 32


def stream(paths, jobs):
    """A stream whose first pass begins when all jobs are attached."""
    urls = ", ".join(f"'{path}'" for path in paths)
    steps = [f"read: {{url: [{urls}], format: webdataset}}", "shuffle: {window: 256}",
             "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
             "random_resized_crop: {field: image, size: [224, 224]}", "horizontal_flip: {field: image}",
             f"batch: {{size: {BATCH}}}", f"publish: {{slots: 3, jobs: [{', '.join(jobs)}]}}"]
    return stream_yaml(steps)


def names(count):
    return [f"job{place}" for place in range(count)]


def started(daemon, job, batches):
    return subprocess.Popen([binary("ECHOLINE_CLI"), "read", "train", "--runtime-dir", daemon.runtime_dir, "--job", job,
                             "--batches", str(batches), "--json"], stdout=subprocess.PIPE, preexec_fn=end_with_parent)


def reports(readers):
    found = [json.loads(reader.communicate()[0].splitlines()[-1]) for reader in readers]
    if any(reader.returncode for reader in readers):
        raise RuntimeError("a job ended with an error")
    return found


class Seen(NamedTuple):
    rates: list       # of each job, photos/s
    efficiency: list  # of each job, photos for each CPU-second of all
    batch_cpu: float  # CPU-seconds of the daemons for a batch

    @classmethod
    def of(cls, found, daemon_cpu, published):
        cpu = daemon_cpu + sum(report["cpu_seconds"] for report in found)
        return cls([report["samples"] / report["seconds"] for report in found],
                   [report["samples"] / cpu for report in found], daemon_cpu / published)

    def report(self, name):
        print(f"  {name}: {min(self.rates):6.1f} to {max(self.rates):6.1f} photos/s each, {sum(self.rates):7.1f} in all; "
              f"{sum(self.efficiency):7.1f} for each CPU-second; {self.batch_cpu * 1000:.1f} CPU-ms a batch", flush=True)
        return self


def measure(daemons, jobs, batches):
    """Runs each job on its daemon; daemons may repeat."""
    def now():
        each = set(daemons)
        return (sum(daemon.metric_lines("echoline_batches_total")['{stream="train"}'] for daemon in each),
                sum(cpu_seconds(daemon.process.pid) for daemon in each))

    time.sleep(1)  # until the slots are full
    before = now()
    found = reports([started(daemon, job, batches) for daemon, job in zip(daemons, jobs, strict=True)])
    time.sleep(1)  # until they are full again
    after = now()
    return Seen.of(found, after[1] - before[1], after[0] - before[0])


def together(paths, count, batches):
    with Daemon(stream(paths, names(count)), metrics=True) as daemon:
        return measure([daemon] * count, names(count), batches)


def apart(paths, count, batches):
    with contextlib.ExitStack() as running:
        daemons = [running.enter_context(Daemon(stream(paths, [job]), metrics=True)) for job in names(count)]
        return measure(daemons, names(count), batches)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8, help="of each reading")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=8, help="jobs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = photos.shards(folder)
        batches = max(20, int(together(paths, 1, 40).rates[0] / BATCH * options.seconds))
        turns = [turn(paths, batches, options.most) for _ in range(options.rounds)]
    for name in turns[0]:
        print(f"{name}: {statistics.median(found[name] for found in turns):.2f} "
              f"({min(found[name] for found in turns):.2f} to {max(found[name] for found in turns):.2f})", flush=True)


def turn(paths, batches, most):
    """Measures each number of jobs once and the separate daemons; the ratios."""
    shared = [together(paths, count, batches).report(f"{count} jobs") for count in range(1, most + 1)]
    alone = apart(paths, most, max(20, 2 * batches // most)).report(f"{most} daemons")
    one, all_jobs = shared[0], shared[-1]
    return {f"CPU of a batch, {most} jobs against 1": all_jobs.batch_cpu / one.batch_cpu,
            "slowest job's rate, least of all numbers of jobs against 1 job":
                min(min(seen.rates) for seen in shared) / one.rates[0],
            "this for each CPU-second": min(min(seen.efficiency) for seen in shared) / one.efficiency[0],
            f"rate of {most} jobs in all, on one daemon against {most}": sum(all_jobs.rates) / sum(alone.rates),
            "that for each CPU-second": sum(all_jobs.efficiency) / sum(alone.efficiency)}


if __name__ == "__main__":
    main()
