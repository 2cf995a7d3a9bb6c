"""The daemons that loaders have started for their configurations."""
import os
import pathlib
import signal

from support.programs import wait_until


def private_daemons(folder):
    """{process id: words of its command line} of those whose ECHOLINE_PRIVATE_DIR is this folder."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if os.fsencode(folder) in b" ".join(words) and b"--private" in words:
                found[int(entry.name)] = words
        except OSError:
            continue
    return found


def stop_private_daemons(folder):
    """Ends them, instead of waiting for the minute after which they end by themselves."""
    for process in private_daemons(folder):
        os.kill(process, signal.SIGTERM)
    wait_until(lambda: not private_daemons(folder), lambda: f"still there: {private_daemons(folder)}")
