"""The memory, descriptors and threads of a process as the kernel counts them."""
import os
import pathlib
import threading
import time

MIB = 1 << 20


def held(pid):
    """(resident KiB, open descriptors without connections to stores, threads) of a process."""
    fields = _status(pid)
    return (int(fields["VmRSS"].split()[0]), len(os.listdir(f"/proc/{pid}/fd")) - _tcp_connections(pid),
            int(fields["Threads"]))


def _tcp_connections(pid):
    """The daemon keeps as many as the store's delays require, up to read.concurrency."""
    lines = pathlib.Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    inodes = {f"socket:[{line.split()[9]}]" for line in lines}
    count = 0
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            count += os.readlink(entry.path) in inodes
        except FileNotFoundError:
            continue
    return count


def _status(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return dict(line.split(":", 1) for line in lines)


def memory_files(pid):
    """Bytes of the memory files (memfd) that the process has open, each counted once: a ring is mapped twice, so that
    resident memory counts it twice."""
    files = {}
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            if os.readlink(entry.path).startswith("/memfd:"):
                facts = os.stat(entry.path)
                files[facts.st_ino] = facts.st_blocks * 512
        except FileNotFoundError:
            continue
    return sum(files.values())


def use(pid):
    """{kind: bytes}: `private` memory, `files` that are mapped (programs), `shared` memory files."""
    fields = _status(pid)
    return {"private": int(fields["RssAnon"].split()[0]) * 1024, "files": int(fields["RssFile"].split()[0]) * 1024,
            "shared": memory_files(pid)}


def reset_peak(pid):
    """From now on, `peak` counts again."""
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def peak(pid):
    """The most resident bytes of the process since `reset_peak`, as the kernel counts: short peaks, too."""
    return int(_status(pid)["VmHWM"].split()[0]) * 1024


def total(found):
    return sum(found.values())


class Highest:
    """`with Highest(pid) as highest:`; afterwards `highest.use` is the use at the moment when the total was greatest."""

    def __init__(self, pid, period=0.004):
        self.pid, self.period = pid, period
        self.use = use(pid)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self):
        while not self._over.is_set():
            try:
                self.use = max(self.use, use(self.pid), key=total)
            except (FileNotFoundError, ProcessLookupError, KeyError):
                return
            time.sleep(self.period)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def in_mib(found):
    parts = ", ".join(f"{name} {size / MIB:.0f}" for name, size in found.items())
    return f"{total(found) / MIB:.0f} MiB ({parts})"


class MemoryGroup:
    """A control group (version 1) with a memory limit. OSError where this user or machine cannot make one."""

    def __init__(self, limit_bytes):
        self.folder = pathlib.Path("/sys/fs/cgroup/memory", f"echoline-test-{os.getpid()}-{time.monotonic_ns()}")
        if not (self.folder.parent / "memory.limit_in_bytes").exists():
            raise OSError("no version 1 memory controller is mounted")
        self.folder.mkdir()
        self._write("memory.limit_in_bytes", limit_bytes)

    def _write(self, name, value):
        (self.folder / name).write_text(str(value), encoding="ascii")

    def number(self, name):
        return int((self.folder / name).read_text(encoding="ascii").split()[0])

    def adopt(self, pid):
        """Moves the process into the group: counts what it allocates from now on."""
        self._write("cgroup.procs", pid)

    def kills(self):
        """How often the kernel killed a process of the group because of its memory."""
        text = (self.folder / "memory.oom_control").read_text(encoding="ascii")
        return int(dict(line.split() for line in text.splitlines()).get("oom_kill", 0))

    def remove(self):
        for _ in range(100):
            try:
                self.folder.rmdir()
                return
            except OSError:
                time.sleep(0.05)
