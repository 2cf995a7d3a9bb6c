"""Jobs that share one pass: `echoline read` as 1 to 8 jobs on one stream of JPEGs, compared with 8 daemons with one job each
on the same processors. CPU of a batch is the daemon's CPU time for one published batch, preparation and hand-over together.
Rates are photos a second, and photos for each CPU-second of all daemons and jobs; other work on the machine changes the
latter little."""
import contextlib
import json
import subprocess
import tempfile
import time
from typing import NamedTuple

from suite.rounds import Row, Table, cpu_seconds, interleave
from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.programs import binary, end_with_parent

PROGRAMS = ()
BATCH = 32
MOST = 8


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


def run_jobs(daemons, jobs, batches):
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
        return run_jobs([daemon] * count, names(count), batches)


def apart(paths, count, batches):
    with contextlib.ExitStack() as running:
        daemons = [running.enter_context(Daemon(stream(paths, [job]), metrics=True)) for job in names(count)]
        return run_jobs(daemons, names(count), batches)


def ratios(shared, alone):
    """{what: value of one round}; `shared` are the results of 1, 2, ... jobs on one daemon."""
    one, every = shared[0], shared[-1]
    return {f"CPU time of a batch, {len(shared)} jobs relative to one": every.batch_cpu / one.batch_cpu,
            "slowest job of any number of jobs, relative to a single job":
                min(min(seen.rates) for seen in shared) / one.rates[0],
            "slowest job, photos per CPU-second": min(min(seen.efficiency) for seen in shared) / one.efficiency[0],
            f"photos per second of {MOST} jobs, relative to {MOST} daemons": sum(every.rates) / sum(alone.rates),
            f"photos per CPU-second of {MOST} jobs, relative to {MOST} daemons": sum(every.efficiency) / sum(alone.efficiency)}


def measure(options):
    """The ratios compare runs of the same round, so a round is all of them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = photos.shards(folder)
        seconds = 1 if options.quick else 8
        batches = max(20, int(together(paths, 1, 40).rates[0] / BATCH * seconds))
        ways = {count: lambda count=count: together(paths, count, batches) for count in range(1, MOST + 1)}
        ways["apart"] = lambda: apart(paths, MOST, max(20, 2 * batches // MOST))
        found = interleave(ways, options.rounds)
    if found.reasons:
        return [Table("Jobs that share a preparation", "ratio", [found.row(name, label=str(name)) for name in found.reasons])]
    turns = [ratios([found.results[count][turn] for count in range(1, MOST + 1)], found.results["apart"][turn])
             for turn in range(options.rounds)]
    return [Table("Jobs that share a preparation", "ratio", [Row(name, [turn[name] for turn in turns]) for name in turns[0]])]
