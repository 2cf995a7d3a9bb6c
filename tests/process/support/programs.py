"""The programs under test, and what every process that a test starts needs."""
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

PATIENCE = 120  # seconds; the machine may be very busy


def skip(why):
    """Ends the whole program as skipped (ctest: code 77)."""
    print(f"skipped: {why}", flush=True)
    sys.exit(77)


def binary(variable):
    """The path of the program that an environment variable names: ECHOLINED, ECHOLINE_CLI, ..."""
    path = os.environ.get(variable)
    if not path or not os.access(path, os.X_OK):
        skip(f"{variable} names no program: {path}")
    return path


def require_library():
    """Skips the whole program where the Python package is not built, for example under sanitizers."""
    if not os.environ.get("ECHOLINE_LIBRARY"):
        skip("ECHOLINE_LIBRARY names no client library")


def end_with_parent():
    """For preexec_fn: the kernel kills the child when this process ends."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until(condition, what, seconds=PATIENCE, period=0.01):
    """Polls until `condition()` is true and returns its value; AssertionError after the deadline. `what` is text, or a
    function that returns it."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(period)
    return value


def wait_until_still(value, what, pause=0.3):
    """Polls until `value()` is the same twice in a row, `pause` seconds apart, and returns it."""
    seen = [value()]

    def is_still():
        time.sleep(pause)
        seen.append(value())
        return seen[-1] == seen[-2]

    wait_until(is_still, what, period=0)
    return seen[-1]


def run_program(variable, *arguments, environment=None, program=None, **options):
    """A finished run of the program that `variable` names (or of `program`), with its output as text."""
    return subprocess.run([program or binary(variable), *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=PATIENCE, check=False,
                          env={**os.environ, **(environment or {})}, **options)


def run_echoline(*arguments, **options):
    """A finished run of the command line; options as of run_program()."""
    return run_program("ECHOLINE_CLI", *arguments, **options)


def run_index(address, *arguments, environment=None):
    """A finished `echoline index ADDRESS` that keeps nothing in a state folder."""
    with tempfile.TemporaryDirectory() as state:
        return run_echoline("index", address, "--json", "--state-dir", state, *arguments, environment=environment)
