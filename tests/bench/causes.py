"""Known causes of waits: of what trainers waited, the share that the daemon charges to the cause, and what its verdict names.
A slow store, a slow step, a slow trainer (which waits for nothing), a slow rank, a cache that is too small, and a daemon
that is away."""
import json
import tempfile
import threading
import time
import urllib.request
from typing import NamedTuple

import predictions_run
from predictions_run import BATCH, Setting
from suite.rounds import Row, Table, say
from support.daemon_process import Daemon
from support.programs import wait_until

PROGRAMS = ("ECHOLINE_LIBRARY", "ECHOLINE_CLI")
SECONDS = 12  # of a measurement; a verdict looks at the last ten
WAITS = "echoline_consumer_wait_seconds_total"


class Case(NamedTuple):
    """`steps`: seconds that each rank works on a batch; `limit`: what the verdict is to name."""
    setting: Setting
    cause: str
    limit: str
    steps: tuple = (0.001,)
    away: bool = False


CASES = {
    "a slow store": Case(Setting(line=60), "fetch", "storage"),
    "a slow step on one core": Case(Setting(line=10_000), "prep", "workers"),
    "a slow trainer": Case(Setting(line=10_000), "", "trainers", (0.2,)),
    "a slow rank": Case(Setting(line=10_000), "peer", "jobs", (0.001, 0.2)),
    "a cache for a fifth of the data": Case(Setting(line=60, cached=20), "fetch", "storage"),
    "a daemon that is away": Case(Setting(line=10_000), "daemon", "daemon", (0.02,), away=True),
}


class Ranks:
    """A thread for each rank of a job, which takes batches and works on them."""

    def __init__(self, daemon, steps):
        self.batches, self._ends = 0, threading.Event()
        self._threads = [threading.Thread(target=self._train, args=(daemon.runtime_dir, rank, steps))
                         for rank in range(len(steps))]
        for thread in self._threads:
            thread.start()

    def _train(self, runtime_dir, rank, steps):
        import echoline
        with echoline.Loader("train", rank=rank, world_size=len(steps), runtime_dir=runtime_dir) as loader:
            while not self._ends.is_set():
                for batch in loader:
                    del batch
                    self.batches += 1
                    time.sleep(steps[rank])
                    if self._ends.is_set():
                        break

    def stop(self):
        self._ends.set()
        for thread in self._threads:
            thread.join()


def waits(daemon):
    """{cause: seconds, summed over the ranks}"""
    return {cause: daemon.total(WAITS, cause=cause) for cause in ("fetch", "prep", "publish", "peer", "daemon")}


def verdict_of(daemon):
    with urllib.request.urlopen(f"http://127.0.0.1:{daemon.metrics}/status.json", timeout=60) as answer:
        return json.load(answer)["streams"][0]["verdict"]


def share(photos, case):
    """The share of the waits that is charged to the cause; of a slow trainer, the share of its time without waits."""
    pipeline = predictions_run.pipeline(photos, case.setting)
    with Daemon(pipeline, workers=case.setting.workers, memory="512MiB", metrics=True) as daemon:
        ranks = Ranks(daemon, case.steps)
        try:
            # Behind the first epoch: caches are full then.
            first = predictions_run.RECORDS / BATCH * 1.3 if case.setting.cached else 20
            wait_until(lambda: ranks.batches > first, "the first batches", period=0.05)
            before = waits(daemon)
            if case.away:
                daemon.stop()
                time.sleep(SECONDS / 3)
                daemon.start()
                wait_until(lambda: waits(daemon)["daemon"] > 0, "the trainer's return")
                before = dict.fromkeys(before, 0.0)  # the new daemon counts from 0
            else:
                time.sleep(SECONDS)
            waited = {cause: seconds - before[cause] for cause, seconds in waits(daemon).items()}
            verdict = verdict_of(daemon)
        finally:
            ranks.stop()
    say(f"{waited}; {verdict}")
    if verdict["limit"] != case.limit:
        raise RuntimeError(f"the verdict names {verdict['limit']} instead of {case.limit}")
    total = sum(waited.values())
    return waited[case.cause] / total if case.cause else 1 - total / SECONDS


def measure(options):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        photos = predictions_run.Photos(folder)
        for name, case in CASES.items():
            values = [share(photos, case) for _ in range(1 if options.quick else options.rounds)]
            what = f"charged to {case.cause}" if case.cause else "of its time without waits"
            rows.append(Row(f"{name}: {what}, the verdict names {case.limit}", values))
    return [Table("Waits by known causes", "share", rows)]
