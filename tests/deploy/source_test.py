#!/usr/bin/env python3
"""`cmake --install` below /usr/local and the commands of docs/install.md make a service, on a clean system that the test
then boots. The programs are those of build/release."""
import os
import re
import shutil
import unittest

from booted import Booted
from clean_root import ROOT, CleanRoot, need, run

CONFIG = """
daemon: {metrics: "off", memory: 256MiB}
streams:
  train:
    pipeline:
      - read: {url: "/srv/set-*.tar", format: webdataset}
      - decode: {image: {key: u8, as: uint8, shape: [1, 1]}, label: {key: cls, as: int64}}
      - batch: {size: 4}
"""


def documented_commands():
    """The block of docs/install.md that makes the service."""
    text = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    return re.search(r"```sh\n(systemd-sysusers.*?)```", text, re.DOTALL)[1].splitlines()


class Source(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need((ROOT / "build/release/daemon/echolined").exists(), "build/release, built")
        cls.root = cls.enterClassContext(CleanRoot())
        shutil.copytree(ROOT / "deploy", cls.root.folder / "opt/deploy")
        cls.root.call("/opt/deploy/install-packages.sh", "run")
        cls.root.install("systemd-sysv", "dbus")
        run("cmake", "--install", ROOT / "build/release", env={**os.environ, "DESTDIR": str(cls.root.folder)})
        (cls.root.folder / "srv/images").write_bytes(bytes([0, 0, 8, 3, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 1, *range(8)]))
        (cls.root.folder / "srv/labels").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 8, *range(8)]))
        cls.root.call("/usr/local/bin/echoline", "pack", "--from", "idx", "--output", "/srv", "--name", "set",
                      "/srv/images", "/srv/labels")
        cls.machine = cls.enterClassContext(Booted(cls.root))

    def test_the_commands_make_a_service_that_feeds_a_trainer(self):
        for command in documented_commands():
            self.machine.call("sh", "-c", command)
        self.assertEqual(self.machine.show("echolined.service", "ActiveState"), "active")
        self.root.write("/etc/echoline/echoline.yaml", CONFIG)
        self.machine.call("systemctl", "restart", "echolined")
        said = self.machine.call("echoline", "read", "train", "--ids")
        self.assertEqual(said.count('"step"'), 2, said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
