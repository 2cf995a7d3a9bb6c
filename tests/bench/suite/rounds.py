"""Runs the loaders of a benchmark in turn, and keeps what each round gave."""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time
import unittest
from typing import NamedTuple

PATIENCE = 600  # seconds for a run of another loader


class Unavailable(Exception):
    """A loader that cannot be measured here; the text says why."""


def cpu_seconds(pid):
    """CPU time of a process with all its threads. The kernel's clock of a process has nanoseconds, /proc only 10 ms."""
    cpu_of_a_process = 2
    return time.clock_gettime((~int(pid)) << 3 | cpu_of_a_process)


def with_children(pid):
    """The process and its children that run."""
    children = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
    return [int(pid), *(int(child) for file in children for child in file.read_text(encoding="ascii").split())]


def family_cpu_seconds(pid):
    """CPU time of the process and its children that run."""
    return sum(map(cpu_seconds, with_children(pid)))


def children_cpu_seconds():
    """CPU time of all processes that this one has started and waited for, and of theirs."""
    used = os.times()
    return used.children_user + used.children_system


def processors():
    """(seconds that all processors together were busy, seconds that they were there), since the machine started."""
    user, nice, system, idle, iowait, irq, softirq, steal, *_ = map(int, pathlib.Path("/proc/stat").read_text(
        encoding="ascii").split("\n", 1)[0].split()[1:])
    busy = user + nice + system + irq + softirq + steal
    ticks = os.sysconf("SC_CLK_TCK")
    return busy / ticks, (busy + idle + iowait) / ticks


def busy_share(before, after):
    """Of the processors, between two results of processors()."""
    return (after[0] - before[0]) / (after[1] - before[1])


class Spread(NamedTuple):
    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values):
        return cls(statistics.median(values), min(values), max(values))


def number(value):
    """Three digits at least, as 1,136 or 0.0041."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


class Row(NamedTuple):
    """One loader in a table: a value for each round, or the reason why there is none."""
    name: str
    values: list
    reason: str = ""


class Table(NamedTuple):
    """One figure of a benchmark. `references` names the rows that the others are compared with."""
    title: str
    unit: str
    rows: list
    references: tuple = ()
    more_is_better: bool = True
    note: str = ""

    def ratios(self, row, name):
        """How many times better the reference `name` is than this row, in each round; [] where one of them has no values."""
        reference = next((each for each in self.rows if each.name == name), row)
        if reference is row:
            return []
        pairs = zip(reference.values, row.values)
        return [ours / its if self.more_is_better else its / ours for ours, its in pairs if ours and its]


class Found:
    """What the rounds of some loaders gave: {loader: [result of each round]}, and why others gave nothing."""

    def __init__(self):
        self.results, self.reasons = {}, {}

    def row(self, name, pick=lambda result: result, label=None):
        """A row of the loader `name`; `pick` takes its number out of a result."""
        return Row(label or name, [pick(result) for result in self.results.get(name, [])], self.reasons.get(name, ""))

    def rows(self, pick=lambda result: result):
        return [self.row(name, pick) for name in [*self.results, *self.reasons]]


def say(line):
    """Shows progress. Only the results go to stdout."""
    print("  " + line, file=sys.stderr, flush=True)


def interleave(ways, rounds):
    """Calls each way once a round. `ways` is {loader: function}. A loader that fails once is left out, with its reason: the
    rounds of the others stay complete."""
    found = Found()
    for number in range(1, rounds + 1):
        for name, way in ways.items():
            if name in found.reasons:
                continue
            begin = time.monotonic()
            try:
                result = way()
            except FAILURES as error:
                found.results.pop(name, None)
                found.reasons[name] = reason_of(error)
                say(f"{name}: {found.reasons[name]}")
            else:
                found.results.setdefault(name, []).append(result)
                say(f"round {number} of {rounds}, {name}: {time.monotonic() - begin:.1f} s, load {os.getloadavg()[0]:.1f}")
    return found


FAILURES = (Unavailable, RuntimeError, OSError, ValueError, subprocess.SubprocessError, unittest.SkipTest)


def reason_of(error):
    if isinstance(error, (Unavailable, unittest.SkipTest)):
        return str(error)
    if isinstance(error, subprocess.CalledProcessError):
        errors = error.stderr.decode(errors="replace") if isinstance(error.stderr, bytes) else error.stderr or ""
        last = [line for line in errors.splitlines() if line.strip()] or ["no message"]
        return f"failed with exit code {error.returncode}: {last[-1].strip()[:160]}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no result within {error.timeout:.0f} s"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return "failed: " + re.sub(r"\S+/config\.yaml:", "configuration, ", lines[-1])[:160]  # not the name of a temporary folder
