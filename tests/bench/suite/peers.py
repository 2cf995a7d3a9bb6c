"""Other loaders, each set in a virtual environment of its own. tests/bench/peers/SET.txt has the pinned packages of a set,
all of them: pip resolves nothing, so that a set is the same next year. Its first line names what the set is for."""
import contextlib
import fcntl
import functools
import os
import pathlib
import shutil
import subprocess

from . import BENCH, ROOT
from .rounds import Unavailable

FOLDER = ROOT / "build/bench-peers"
SYSTEM_PYTHON = "/usr/bin/python3"  # the one that has Debian's torch


def requirements(name):
    return BENCH / f"peers/{name}.txt"


def version(name, package):
    """The version of a package in a set."""
    for line in requirements(name).read_text(encoding="utf-8").splitlines():
        found, _, pinned = line.partition("==")
        if found.lower().replace("_", "-") == package:
            return pinned
    raise KeyError(f"{name}.txt has no {package}")


@contextlib.contextmanager
def locked(name):
    """Other runs of the suite wait until this one has installed the set."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@functools.cache
def _installed(name):
    """(interpreter of the set, reason why it is not there): one of them is None."""
    venv, wanted = FOLDER / name, requirements(name).read_text(encoding="utf-8")
    with locked(name):
        stamp = venv / "installed.txt"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return venv / "bin/python", None
        shutil.rmtree(venv, ignore_errors=True)
        system = "system packages" in wanted.splitlines()[0]
        subprocess.run([SYSTEM_PYTHON, "-m", "venv", *(["--system-site-packages"] if system else []), venv], check=True)
        log = FOLDER / f"{name}.log"
        with open(log, "wb") as out:
            done = subprocess.run([venv / "bin/pip", "install", "--disable-pip-version-check", "--no-deps", "--requirement",
                                   requirements(name)], stdout=out, stderr=out, check=False,
                                  env={**os.environ, "MAX_JOBS": str(os.cpu_count())})
        if done.returncode == 0:
            stamp.write_text(wanted, encoding="utf-8")
            return venv / "bin/python", None
        return None, last_error(log)


def last_error(log):
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["pip says nothing"])[-1].strip()[:160]


def python(name):
    """The interpreter of a set, which is installed first if need be. Unavailable where it does not install."""
    interpreter, reason = _installed(name)
    if reason:
        raise Unavailable(f"not installed: {reason}")
    return interpreter


def debian_python(module, package):
    """The system's interpreter, if it has a module of a Debian package."""
    done = subprocess.run([SYSTEM_PYTHON, "-c", f"import {module}"], capture_output=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"not installed: apt-get install {package}")
    return pathlib.Path(SYSTEM_PYTHON)
