"""`factor: auto` behind a line whose rate jumps by 1/8 to 8 at random times: how long the factor takes to be within 10 % of R
(at least 1, at most `max`), how often it changes after a jump, and the rows of the whole run relative to a second run, behind
the same jumps, with the best fixed factor, which is `max`."""
import random
import secrets
import tempfile
import threading
import time

from predictions_run import Trainer
from suite.rounds import Row, Table, say
from support.daemon_process import Daemon, stream_yaml
from support.programs import wait_until
from support.records import DECODE, Records
from support.slow_line import Line, Server

PROGRAMS = ("ECHOLINE_LIBRARY",)
ONE_ROUND = True
BATCH, RECORDS, FACTOR_MAX, STEP_SECONDS = 8, 2000, 5, 0.05
JUMPS, LEAST_RATIO, MOST_RATIO = 12, 0.5, 12
WITHIN = 0.1


class FactorWatch:
    """Reads the factor all the time. `seen`: [(time, factor)] of its changes."""

    def __init__(self, daemon):
        self.seen, self._daemon, self._ends = [], daemon, threading.Event()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self):
        while not self._ends.wait(0.1):
            factor = self._daemon.total("echoline_echo_factor")
            if not self.seen or self.seen[-1][1] != factor:
                self.seen.append((time.monotonic(), factor))

    def stop(self):
        self._ends.set()
        self._thread.join()

    def settled(self, wanted, begin, end):
        """Seconds from `begin` until the factor is near `wanted` and stays so until `end`; None: it is not, at the end."""
        at = None
        for moment, factor in (each for each in self.seen if each[0] < end):
            near = abs(factor - wanted) <= WITHIN * wanted
            at = (max(moment, begin) if at is None else at) if near else None
        return None if at is None else at - begin

    def changes(self, begin, end):
        return sum(begin < moment < end for moment, _ in self.seen)


def jumps(seed, count):
    """[(R, seconds that it lasts)]"""
    draw, ratio, found = random.Random(seed), 1.0, []
    while len(found) < count:
        jump = 8 ** draw.uniform(-1, 1)
        if not LEAST_RATIO <= ratio * jump <= MOST_RATIO:
            continue
        ratio *= jump
        found.append((ratio, draw.uniform(12, 25)))
    return found


def run(folder, found, factor):
    """Reads behind the jumps: [(seconds until it settled, changes)] of each, and batches in all."""
    line = Line()
    records = Records(folder, count=RECORDS, shards=2, ballast=(27_000, 27_010))
    server = Server(records.folder, line)
    streams = stream_yaml(
        [f"read: {{url: ['{server.url}/records-000.tar', '{server.url}/records-001.tar'], format: webdataset}}",
         "shuffle: {window: 50}", DECODE, f"echo: {{factor: {factor}, max: {FACTOR_MAX}, window: 150}}",
         f"batch: {{size: {BATCH}, last: partial}}", "publish: {slots: 4}"])
    of_a_batch = BATCH * records.bytes / RECORDS
    rows = []
    with Daemon(streams, metrics=True) as daemon:
        line.bytes_per_second = of_a_batch / STEP_SECONDS
        trainer = Trainer(daemon, STEP_SECONDS)
        wait_until(lambda: trainer.batches > 10 / STEP_SECONDS, "R is known", period=0.05)
        watch = FactorWatch(daemon)
        try:
            first, start = trainer.batches, time.monotonic()
            for ratio, seconds in found:
                line.bytes_per_second = of_a_batch / STEP_SECONDS / ratio
                begin = time.monotonic()
                time.sleep(seconds)
                end = time.monotonic()
                wanted = min(max(ratio, 1), FACTOR_MAX)
                rows.append((watch.settled(wanted, begin, end), watch.changes(begin, end)))
                say(f"factor {factor}, R {ratio:.2f} for {end - begin:.1f} s: settled after {rows[-1][0]} s, {rows[-1][1]} changes, "
                    f"factor {watch.seen[-1][1]}")
            batches = trainer.batches - first
            say(f"factor {factor}: {batches} batches in {time.monotonic() - start:.0f} s")
        finally:
            watch.stop()
            trainer.stop()
            server.stop()
    return rows, batches


def measure(options):
    seed = secrets.randbelow(10 ** 6)
    with tempfile.TemporaryDirectory() as folder:
        found = jumps(seed, 2 if options.quick else JUMPS)
        rows, batches = run(folder, found, "auto")
        _, most = run(folder, found, FACTOR_MAX)
    times = [seconds for seconds, _ in rows if seconds is not None]
    note = f"{len(rows)} jumps drawn with seed {seed}; {len(times)} had settled when the next one came."
    return [Table("After a jump of the line", "seconds, and number", [
                Row("until the factor stays within 10 % of R", times), Row("changes of the factor", [count for _, count in rows])],
                more_is_better=False, note=note),
            Table("Rows of the whole run", "relative to the best fixed factor", [Row("factor: auto", [batches / most])])]
