"""What a test may leave behind: no process and no shared memory."""
import os
import pathlib

from support.programs import wait_until


def _children():
    """Process numbers of this process's children that still run."""
    found = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            found.update(map(int, (task / "children").read_text(encoding="ascii").split()))
        except FileNotFoundError:  # the thread ended, or the kernel has no such file
            continue
    return {pid for pid in found if _runs(pid)}


def _runs(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.split()[0] != "Z"


def _name(pid):
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return "ended"
    return b" ".join(words).decode(errors="replace")


def _shared_memory():
    """Files in shared memory with Echoline's name; other programs' files come and go."""
    return {name for name in os.listdir("/dev/shm") if "echoline" in name}


class Leftovers:
    """Remembers at its creation what there is; check() fails for what came since."""

    def __init__(self):
        self._children, self._memory = _children(), _shared_memory()

    def check(self, allowed=frozenset()):
        """`allowed`: ids of processes that may still run."""
        def new_children():
            return _children() - self._children - allowed

        # A process that was killed needs a moment to end.
        wait_until(lambda: not new_children(),
                   lambda: "the end of " + ", ".join(f"{pid} ({_name(pid)})" for pid in sorted(new_children())), seconds=5)
        if left := _shared_memory() - self._memory:
            raise AssertionError(f"left in /dev/shm: {sorted(left)}")
