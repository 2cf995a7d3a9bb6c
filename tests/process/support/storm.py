"""For a storm of kills: trainers that are replaced after each kill and resume from the state that they wrote last, and
the times at which the daemon or the store was away, when trainers may wait."""
import json
import threading
import time

from support.trainer_process import Trainer


class Member:
    """One rank of one job over all its processes; each begins at the last state of the previous one."""

    def __init__(self, daemon, stream, job, rank=0, world_size=1, batch_size=None, pace=0.0):
        self.daemon, self.stream, self.job, self.rank = daemon, stream, job, rank
        self.world_size, self.batch_size, self.pace = world_size, batch_size, pace
        self.name = f"{stream}/{job}/{rank}"
        self.batches, self.waits, self.attached = [], [], []
        self.start()

    def start(self):
        size = ["--batch-size", self.batch_size] if self.batch_size else []
        state = self.batches[-1]["state"] if self.batches else None
        self.trainer = Trainer(self.daemon, "--stream", self.stream, "--job", self.job, "--rank", self.rank,
                               "--world-size", self.world_size, *size, "--pace", self.pace, "--checkpoint",
                               "--persist", 60, "--state", json.dumps(state))

    def kill(self):
        self.trainer.kill()
        self.keep(self.trainer.lines())

    def keep(self, lines):
        self.waits += [(line["time"], line["wait"]) for line in lines if "wait" in line]
        self.attached += [line["time"] for line in lines if "attached" in line]
        self.batches += [line for line in lines if "epoch" in line]
        self.trainer.discard()

    def is_of_job(self, other):
        return (self.stream, self.job) == (other.stream, other.job)

    def error(self):
        """Why it ended, if the test did not end it."""
        if self.trainer.process.poll() is None:
            return None
        return f"{self.name} ended with {self.trainer.process.returncode}: {self.trainer.lines()[-1:]}"

    def finish(self):
        """Ends its last process in order; all batches of all its processes."""
        self.keep(self.trainer.finish())
        return self.batches


def absence(begin, members):
    """[begin, end] of the time until all ranks of a killed job were attached again: its first ranks, and the jobs that
    share their pass, wait for the others (docs/semantics.md, "Jobs and passes")."""
    return [begin, max(next(time for time in member.attached if time > begin) for member in members)]


class Away:
    """When something was away. Several threads may call it."""

    def __init__(self, recovery=0.0):
        """`recovery`: seconds after its return that still count, because retries back off."""
        self.recovery, self.times, self._lock = recovery, [], threading.Lock()

    def begin(self):
        with self._lock:
            self.times.append([time.monotonic(), float("inf")])

    def end(self):
        with self._lock:
            self.times[-1][1] = time.monotonic() + self.recovery


class Heartbeat:
    """`with Heartbeat() as heartbeat:`; afterwards `heartbeat.late` is the longest time for which the machine, busy with
    other work, delayed a thread that needed a few milliseconds of CPU."""
    PERIOD, WORK = 0.1, 0.005  # seconds

    def __init__(self):
        self.late = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def _beat(self):
        begin = time.monotonic()
        while not self._over.wait(self.PERIOD):
            enough = time.thread_time() + self.WORK
            while time.thread_time() < enough:
                pass
            end = time.monotonic()
            self.late, begin = max(self.late, end - begin - self.PERIOD - self.WORK), end

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def longest_alone(end, wait, away):
    """The longest part of a wait, which ended at `end`, in which nothing was away; `away`: [begin, end] in any order.
    A wait may outlast several deaths."""
    longest, start = 0.0, end - wait
    for gone, back in sorted(away):
        if back <= start or gone >= end:
            continue
        longest = max(longest, gone - start)
        start = max(start, back)
    return max(longest, end - start)
