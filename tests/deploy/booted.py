"""A clean system booted with systemd as its first process, in a container without a network."""
import json
import os
import resource
import shutil
import tempfile
import time

from clean_root import CleanRoot, need, run

PATIENCE = 120  # seconds; the machine may be very busy


def limits():
    """The container's limits: not above those of this process, which it may not raise."""
    pairs = (("nofile", resource.RLIMIT_NOFILE, 20000), ("nproc", resource.RLIMIT_NPROC, 32768))
    hard = {name: (resource.getrlimit(number)[1], few) for name, number, few in pairs}
    few = {name: few if hard == resource.RLIM_INFINITY else min(hard, few) for name, (hard, few) in hard.items()}
    return ", ".join(f'"{name}={value}:{value}"' for name, value in few.items())


def wait_for(condition, what, diagnosis=lambda: ""):
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE} s: {what}\n{diagnosis()}")
        time.sleep(0.1)
    return found


class Booted:
    """`with Booted(root) as machine`: root is a CleanRoot with systemd installed; the end removes the container."""

    def __init__(self, root: CleanRoot):
        for program in ("podman", "runc"):
            need(shutil.which(program), f"{program} (apt-get install podman runc)")
        self.root = root
        self.name = f"echoline-systemd-{os.getpid()}"

    def __enter__(self):
        self.root.leave()
        self._settings = tempfile.NamedTemporaryFile("w", suffix=".conf")
        self._settings.write(f'[containers]\ndefault_ulimits = [{limits()}]\n[engine]\nruntime = "runc"\n'
                             'events_logger = "file"\ncgroup_manager = "cgroupfs"\n')
        self._settings.flush()
        self._environment = {**os.environ, "CONTAINERS_CONF": self._settings.name}
        try:
            self.boot()
        except BaseException:
            self.__exit__()
            raise
        return self

    def boot(self):
        self.podman("run", "--detach", "--name", self.name, "--systemd=always", "--privileged", "--network=none",
                    "--rootfs", self.root.folder, "/sbin/init")
        wait_for(lambda: self.call("systemctl", "is-system-running", check=False).strip() in ("running", "degraded"),
                 "the system boots")

    def __exit__(self, *_):
        self.podman("rm", "--force", "--time", "5", self.name, check=False)
        self._settings.close()

    def podman(self, *arguments, check=True):
        return run("podman", *arguments, check=check, env=self._environment)

    def call(self, *command, check=True):
        return self.podman("exec", self.name, *command, check=check)

    def show(self, unit, name):
        return self.call("systemctl", "show", "--value", "--property", name, unit).strip()

    def journal(self, unit):
        """Its entries, oldest first."""
        lines = self.call("journalctl", "--unit", unit, "--output", "json", "--all").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def set(self, unit, section, **values):
        """A drop-in, as `systemctl edit` writes them."""
        lines = "".join(f"{name}={value}\n" for name, value in values.items())
        self.root.write(f"/etc/systemd/system/{unit}.d/test.conf", f"[{section}]\n{lines}")
        self.call("systemctl", "daemon-reload")


class Trainer:
    """/srv/trainer.py as a systemd unit; `user` must exist."""

    def __init__(self, machine, name, user, *arguments):
        self.machine, self.unit = machine, f"trainer-{name}.service"
        self.output = machine.root.folder / "srv" / f"{name}.jsonl"
        self.output.touch()
        machine.call("systemd-run", "--collect", f"--unit={self.unit}", f"--uid={user}",
                     f"--property=StandardOutput=append:/srv/{name}.jsonl", "python3", "/srv/trainer.py", *arguments)

    def lines(self):
        text = self.output.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def batches(self):
        return [line for line in self.lines() if "step" in line]

    def await_batches(self, count):
        wait_for(lambda: len(self.batches()) >= count, f"{count} batches of {self.unit}",
                 lambda: f"{self.lines()[-2:]}\n{self.machine.call('journalctl', '--no-pager', '-n', '30')}")
        return self

    def await_more(self):
        """Waits for more batches than can have been ready."""
        return self.await_batches(len(self.batches()) + 20)

    def await_end(self):
        wait_for(lambda: self.machine.show(self.unit, "ActiveState") in ("inactive", "failed", ""), f"{self.unit} ends")
        return self.lines()[-1]

    def stop(self):
        self.machine.call("systemctl", "stop", self.unit, check=False)
        return self.lines()
