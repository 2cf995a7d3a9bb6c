"""Hosts of a cluster on one machine: a Linux network namespace for each, joined by a switch. The namespaces have no names:
the kernel removes them with the last process that uses them, so a killed test leaves nothing behind."""
import concurrent.futures
import ctypes
import os
import shutil
import subprocess
import unittest

CLONE_NEWNET = 0x40000000
SUBNET = "10.77.0"  # only seen inside the namespaces
# Bytes that may pass a shaped link at once. With less, the kernel's timer and not the rate would be the limit.
BURST = 64 << 10
NOBODY = "02:00:00:00:00:01"  # no device has this address
PROGRAMS = {name: shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") for name in ("ip", "tc")}


class Namespace:
    """A network of its own. Programs that are started by a function in call() live in it, and so do the sockets that the
    function opens. A program with end_with_parent() ends with the namespace's thread, at the latest in stop()."""

    def __init__(self):
        self._thread = concurrent.futures.ThreadPoolExecutor(1)
        self.file = self._thread.submit(_enter_new).result()
        self.run("link", "set", "lo", "up")

    def call(self, function, *arguments, **options):
        return self._thread.submit(function, *arguments, **options).result()

    def run(self, *words, program="ip"):
        """A finished `ip` or `tc` in this namespace."""
        done = self.call(subprocess.run, [PROGRAMS[program], *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            raise OSError(f"{program} {' '.join(map(str, words))}: {done.stderr.strip()}")

    def stop(self):
        self._thread.shutdown()
        os.close(self.file)


def _enter_new():
    """Moves the calling thread into a new namespace; an open file that keeps it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), f"unshare(CLONE_NEWNET): {os.strerror(ctypes.get_errno())}")
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


class Host(Namespace):
    """A namespace with one link to the switch."""

    def __init__(self, switch, number):
        super().__init__()
        self.switch, self.port, self.address = switch, f"port{number}", f"{SUBNET}.{number}"
        switch.run("link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns",
                   f"/proc/{os.getpid()}/fd/{self.file}")
        self.heal()
        switch.run("link", "set", self.port, "up")
        self.run("addr", "add", f"{self.address}/24", "dev", "eth0")
        self.run("link", "set", "eth0", "up")

    def cut(self):
        """Frames are lost without a message, in both directions, as behind a broken switch."""
        self.switch.run("link", "set", self.port, "nomaster")

    def heal(self):
        self.switch.run("link", "set", self.port, "master", "bridge")

    def lose(self, other):
        """Frames to another host are lost without a message; those to all others arrive."""
        self.run("neigh", "replace", other.address, "lladdr", NOBODY, "dev", "eth0", "nud", "permanent")

    def find(self, other):
        self.run("neigh", "del", other.address, "dev", "eth0")

    def shape(self, bytes_per_second):
        """Limits the link in each direction."""
        for place, device in ((self, "eth0"), (self.switch, self.port)):
            place.run("qdisc", "replace", "dev", device, "root", "tbf", "rate", f"{round(8 * bytes_per_second)}bit",
                      "burst", BURST, "limit", 4 << 20, program="tc")

    def stop(self):
        self.switch.run("link", "del", self.port)
        super().stop()


class Network:
    """A switch and hosts with the addresses 10.77.0.1, 10.77.0.2 and so on. SkipTest where this process may not make
    namespaces, or a tool is missing."""

    def __init__(self):
        if missing := [name for name, path in PROGRAMS.items() if path is None]:
            raise unittest.SkipTest(f"no {' and no '.join(missing)} (Debian package iproute2)")
        self.hosts = []
        try:
            self._switch = Namespace()
            self._switch.run("link", "add", "bridge", "type", "bridge")
            self._switch.run("link", "set", "bridge", "up")
            self.add()
        except OSError as error:
            raise unittest.SkipTest(f"no network namespaces here: {error}") from None

    def add(self):
        """A new host: the first one has the number 1."""
        self.hosts.append(Host(self._switch, len(self.hosts) + 1))
        return self.hosts[-1]

    def stop(self):
        for host in self.hosts:
            host.stop()
        self._switch.stop()
