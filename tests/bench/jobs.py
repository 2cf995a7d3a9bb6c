#!/usr/bin/env python3
"""Jobs that share one preparation: `echoline read` as 1 to 8 jobs on one stream of JPEGs, and against 8 daemons with a
job each on the same processors, in turn. Prints; judges nothing.

    ECHOLINED=... ECHOLINE_CLI=... [ECHOLINE_TEST_DATA=...] jobs.py [--seconds N] [--rounds N] [--most N]

CPU is the daemon's for a published batch, preparation and hand-off together; rates are photos a second."""
import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))

import line_photos  # noqa: E402
from daemon_process import Daemon, binary, end_with_parent, free_port, stream_yaml  # noqa: E402
from handoff import cpu_seconds  # noqa: E402

BATCH = 32


def stream(paths, jobs):
    """Whose first pass begins when all the jobs are there."""
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


def rates(found):
    return [report["samples"] / report["seconds"] for report in found]


def together(paths, count, batches):
    """(each job's rate, CPU-seconds for a batch) of so many jobs on one daemon."""
    def now(daemon):
        return daemon.metric_lines("echoline_batches_total")['{stream="train"}'], cpu_seconds(daemon.process.pid)

    with Daemon(stream(paths, names(count)), metrics=free_port()) as daemon:
        time.sleep(1)  # the slots are filled
        before = now(daemon)
        found = reports([started(daemon, job, batches) for job in names(count)])
        time.sleep(1)  # and filled again
        after = now(daemon)
    return rates(found), (after[1] - before[1]) / (after[0] - before[0])


def apart(paths, count, batches):
    """Each job's rate with as many daemons."""
    with contextlib.ExitStack() as running:
        daemons = [running.enter_context(Daemon(stream(paths, [job]))) for job in names(count)]
        time.sleep(1)
        return rates(reports([started(daemon, job, batches) for daemon, job in zip(daemons, names(count))]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8, help="of each reading")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=8, help="jobs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = line_photos.shards(folder)
        first, _ = together(paths, 1, 40)
        batches = max(20, int(first[0] / BATCH * options.seconds))
        turns = [turn(paths, batches, options.most) for _ in range(options.rounds)]
    for name in turns[0]:
        print(f"{name}: {statistics.median(found[name] for found in turns):.2f} "
              f"({min(found[name] for found in turns):.2f} to {max(found[name] for found in turns):.2f})", flush=True)


def turn(paths, batches, most):
    """Each number of jobs once, and the daemons apart; what is compared."""
    shared = {}
    for count in range(1, most + 1):
        shared[count] = together(paths, count, batches)
        each, cpu = shared[count]
        print(f"  {count} jobs: {min(each):6.1f} to {max(each):6.1f} photos/s each, {sum(each):7.1f} in all, "
              f"{cpu * 1000:.1f} CPU-ms a batch", flush=True)
    alone = apart(paths, most, max(20, 2 * batches // most))
    print(f"  {most} daemons: {min(alone):6.1f} to {max(alone):6.1f} photos/s each, {sum(alone):7.1f} in all", flush=True)
    slowest = [min(each) for each, _ in shared.values()]
    return {f"CPU of a batch, {most} jobs against 1": shared[most][1] / shared[1][1],
            "slowest job's rate, least of all numbers of jobs against 1 job": min(slowest) / slowest[0],
            f"rate of {most} jobs in all, on one daemon against {most}": sum(shared[most][0]) / sum(alone)}


if __name__ == "__main__":
    main()
