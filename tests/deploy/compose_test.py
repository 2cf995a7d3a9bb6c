#!/usr/bin/env python3
"""deploy/compose/compose.yaml, run by podman-compose: S3 server, pictures, daemon, two trainers, Prometheus.

Without a registry the same programs on Debian replace other projects' images: the S3 server is that of the tests' Python
modules, curl and Prometheus are Debian's. Grafana is left out. The test starts the services one by one, each when its
dependencies are ready: podman has no health checks without systemd."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from podman import DEBIAN, ROOT, Podman, need

sys.path.insert(0, str(ROOT / "tests" / "servers"))
from starter import free_ports  # noqa: E402

FILE = ROOT / "deploy" / "compose" / "compose.yaml"
VENV = ROOT / "build" / "venv" / "bin"
TAG = "localhost/echoline-test"
OVERRIDE = """
services:
  daemon:     {{image: "{tag}:daemon", ports: !override ["127.0.0.1:{daemon}:9464"]}}
  trainer-a:  {{image: "{tag}:trainer"}}
  trainer-b:  {{image: "{tag}:trainer"}}
  samples:    {{image: "{tag}:trainer"}}
  s3:         {{image: "{tag}:s3"}}
  upload:     {{image: "{tag}:curl"}}
  prometheus: {{image: "{tag}:prometheus", ports: !override ["127.0.0.1:{prometheus}:9090"]}}
"""
WGET = f"""FROM {DEBIAN}
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends busybox && ln -s /bin/busybox /usr/bin/wget
"""


def program(name, package):
    path = VENV / name if (VENV / name).exists() else shutil.which(name)
    need(path, f"{name} ({package})")
    return path


def build_stand_in(podman, tag, recipe, *files):
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            shutil.copy(file, folder)
        pathlib.Path(folder, "Dockerfile").write_text(recipe)
        podman("build", "--quiet", "--format", "docker", "--tag", f"{TAG}:{tag}", folder)


def setUpModule():
    global podman, composer
    composer = program("podman-compose", "pip install -r tests/requirements.txt")
    weed = program("weed", "pip install -r tests/requirements.txt")
    prometheus = program("prometheus", "apt-get install prometheus")
    podman = Podman()
    unittest.addModuleCleanup(podman.close)
    podman.need_debian()
    podman.build(f"{TAG}:daemon")
    podman.build(f"{TAG}:trainer", "--target", "trainer")
    build_stand_in(podman, "s3", WGET + "COPY weed /usr/bin/weed\n", weed)
    build_stand_in(podman, "curl", f"FROM {DEBIAN}\nRUN apt-get update -qq && apt-get install -qq -y curl\n")
    build_stand_in(podman, "prometheus", WGET + "COPY prometheus /bin/prometheus\nRUN install -d -o 65534 /prometheus\n"
                   'USER 65534\nENTRYPOINT ["/bin/prometheus"]\n', prometheus)


class Compose(unittest.TestCase):
    def setUp(self):
        self.ports = dict(zip(("daemon", "prometheus"), free_ports(2)))
        override = podman.folder / "override.yaml"
        override.write_text(OVERRIDE.format(tag=TAG, **self.ports))
        self.command = [composer, "--in-pod", "false", "--project-name", podman.prefix, "--file", FILE, "--file", override]
        self.names = []
        self.addCleanup(self.compose, "down", "--volumes", "--timeout", "20")

    def compose(self, *arguments):
        done = subprocess.run([str(part) for part in [*self.command, *arguments]], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=podman.environment, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def up(self, service):
        """The name of its container."""
        self.compose("up", "--detach", "--no-build", "--no-deps", service)
        self.names.append(f"{podman.prefix}_{service}_1")
        return self.names[-1]

    def up_healthy(self, service):
        name = self.up(service)
        podman.await_(lambda: podman.call("healthcheck", "run", name)[0] == 0, f"{service} is healthy", *self.names)
        return name

    def up_completed(self, service):
        name = self.up(service)
        self.assertEqual(podman("wait", name).strip(), "0", podman.logs(name))

    def asked(self, path):
        """The answer of Prometheus; None while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.ports['prometheus']}/api/v1/{path}", timeout=10) as answer:
                return json.load(answer)["data"]
        except OSError:
            return {}

    def sample(self, query):
        found = self.asked("query?query=" + urllib.request.quote(query)).get("result")
        return float(found[0]["value"][1]) if found else 0.0

    def test_two_trainers_read_the_objects_of_the_bucket(self):
        self.up_healthy("s3")
        self.up_completed("samples")
        self.up_completed("upload")
        self.up_healthy("daemon")
        trainers = [self.up("trainer-a"), self.up("trainer-b")]
        self.up_healthy("prometheus")
        for trainer in trainers:
            podman.await_(lambda name=trainer: podman.logs(name).count("epoch") >= 2, "two epochs", *self.names)
            self.assertEqual(set(re.findall(r"(\d+) images,", podman.logs(trainer))), {"8000"})
            self.assertEqual(podman.facts(trainer)["HostConfig"]["NetworkMode"], "none")
        podman.await_(lambda: self.sample('echoline_consumers{stream="train"}') == 2, "both in Prometheus", *self.names)
        self.assertGreater(self.sample('echoline_source_bytes_total{scheme="s3"}'), 1_000_000)
        self.assertGreater(len(self.asked("rules")["groups"]), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
