"""The machine of a run, as far as figures depend on it."""
import datetime
import os
import pathlib
import platform
import subprocess
from typing import NamedTuple

from . import ROOT

SIMD = {"avx512f": "AVX-512", "avx2": "AVX2", "sse4_1": "SSE4.1", "asimd": "NEON"}  # the best first


class Machine(NamedTuple):
    date: str
    version: str  # of this working tree
    cpu: str
    simd: str
    cores: int
    memory_gb: float
    system: str
    load_begin: float
    load_end: float

    def describe(self):
        return (f"{self.date}, version {self.version}; {self.cpu}, {self.cores} cores, {self.simd}, {self.memory_gb:.0f} GB, "
                f"{self.system}; load {self.load_begin:.1f} at the beginning, {self.load_end:.1f} at the end.")


def cpu_facts():
    """{key: value} of the first processor."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def git_version():
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() or "unknown"


def load():
    return round(os.getloadavg()[0], 1)


def machine(load_begin):
    facts = cpu_facts()
    flags = (facts.get("flags") or facts.get("Features") or "").split()
    simd = next((name for flag, name in SIMD.items() if flag in flags), "no SIMD that is known here")
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return Machine(datetime.date.today().isoformat(), git_version(), facts.get("model name", platform.machine()), simd,
                   os.cpu_count(), round(memory, 1), system, load_begin, load())
