"""Images and containers of one test, by podman as root. The test fails and says what is missing.

Containers get the limits of this process (a machine may allow no more) and go when the test ends. Environment:
ECHOLINE_BUILD_ARGS=ARGUMENTS are further ones for `podman build`, as "--build-arg BUILDER=... --volume ..."."""
import json
import os
import pathlib
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 180  # seconds; the machine may be very busy
DEBIAN = "debian:bookworm-slim"


def need(holds, what):
    if not holds:
        sys.exit(f"this test needs {what}")


def limits():
    """The container's limits as `name=soft:hard`: podman's defaults may be above the machine's limits."""
    processes = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
    for name, number, most in (("nofile", resource.RLIMIT_NOFILE, 1 << 20), ("nproc", resource.RLIMIT_NPROC, processes)):
        allowed = min(most, *(limit for limit in (*resource.getrlimit(number), most) if limit >= 0))
        yield f"{name}={allowed}:{allowed}"


def settings(folder):
    """A containers.conf that works without systemd and with root's rights only."""
    path = pathlib.Path(folder, "containers.conf")
    path.write_text(f"[containers]\ndefault_ulimits = {json.dumps(list(limits()))}\n"
                    '[engine]\nruntime = "runc"\nevents_logger = "file"\ncgroup_manager = "cgroupfs"\n')
    return path


class Podman:
    """`close` removes all that it made except images."""

    def __init__(self):
        need(os.geteuid() == 0, "root")
        for program in ("podman", "runc"):
            need(shutil.which(program), f"{program} (apt-get install podman runc netavark aardvark-dns uidmap)")
        self._folder = tempfile.TemporaryDirectory(prefix="echoline-podman-")
        self.folder = pathlib.Path(self._folder.name)
        self.environment = {"CONTAINERS_CONF": str(settings(self.folder)), **os.environ}
        self.prefix = f"echoline-test-{os.getpid()}"
        self._containers, self._volumes = [], []

    def close(self):
        for name in reversed(self._containers):
            self.remove(name)
        for name in self._volumes:
            self.call("volume", "rm", "--force", name)
        self._folder.cleanup()

    def call(self, *arguments):
        """(exit code, output and errors together)."""
        done = subprocess.run(["podman", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env=self.environment, check=False, timeout=2 * PATIENCE)
        return done.returncode, done.stdout

    def __call__(self, *arguments, timeout=2 * PATIENCE):
        """Its output without podman's own warnings about a missing systemd; AssertionError with all output if it fails."""
        done = subprocess.run(["podman", *map(str, arguments)], capture_output=True, text=True, env=self.environment,
                              check=False, timeout=timeout)
        if done.returncode != 0:
            raise AssertionError(f"podman {' '.join(map(str, arguments))}: exit code {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done.stdout

    def need_debian(self):
        code, said = self.call("image", "exists", DEBIAN)
        if code != 0:
            code, said = self.call("pull", "--quiet", DEBIAN)
        need(code == 0, f"the image {DEBIAN}, from a registry or by:\n  debootstrap --variant=minbase "
             f"--include=ca-certificates bookworm ROOT\n  tar -C ROOT -cf - . | podman import - localhost/{DEBIAN}\n{said}")

    def build(self, tag, *arguments, folder=ROOT):
        more = shlex.split(os.environ.get("ECHOLINE_BUILD_ARGS", ""))
        self("build", "--quiet", "--format", "docker", "--tag", tag, *more, *arguments, folder, timeout=None)

    def volume(self, name):
        name = f"{self.prefix}-{name}"
        self("volume", "create", name)
        self._volumes.append(name)
        return name

    def start(self, name, *arguments):
        """Runs a container in the background; the full name."""
        name = f"{self.prefix}-{name}"
        self._containers.append(name)
        self("run", "--detach", "--name", name, *arguments)
        return name

    def remove(self, name):
        """Removes the container and the volumes of its image."""
        self.call("rm", "--force", "--volumes", name)

    def facts(self, name, kind="container"):
        return json.loads(self(kind, "inspect", name))[0]

    def logs(self, name):
        return self.call("logs", name)[1]

    def await_(self, condition, what, *names):
        """Waits until `condition()` is true; after the deadline AssertionError with the logs of these containers."""
        deadline = time.monotonic() + PATIENCE
        while not (found := condition()):
            if time.monotonic() > deadline:
                logs = "\n".join(f"-- {name}\n{self.logs(name)}" for name in names)
                raise AssertionError(f"not within {PATIENCE} s: {what}\n{logs}")
            time.sleep(0.2)
        return found
