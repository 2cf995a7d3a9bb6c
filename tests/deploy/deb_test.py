#!/usr/bin/env python3
"""The Debian packages: lintian finds no error; the test installs, uses, upgrades and purges them in a clean system."""
import subprocess
import unittest

from clean_root import ROOT, CleanRoot, build_packages, run

CONFIG = """# changed by the administrator
daemon: {metrics: "off", memory: 256MiB}
streams:
  train:
    pipeline:
      - read: {url: "/srv/set-*.tar", format: webdataset}
      - decode: {image: {key: u8, as: uint8, shape: [2, 3]}, label: {key: cls, as: int64}}
      - batch: {size: 4, last: partial}
"""
MADE = """
images = bytes([0, 0, 8, 3, 0, 0, 0, 10, 0, 0, 0, 2, 0, 0, 0, 3]) + b"".join(bytes([n] * 6) for n in range(10))
open("/srv/images", "wb").write(images)
open("/srv/labels", "wb").write(bytes([0, 0, 8, 1, 0, 0, 0, 10, *range(10)]))
"""
TRAINER = """
import echoline
loader = echoline.Loader("train", runtime_dir="/run/echoline")
print(sorted(int(label) for batch in loader for label in batch["label"]), echoline.__version__)
"""


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = build_packages()
        cls.root = CleanRoot()
        cls.enterClassContext(cls.root)

    def test_1_lintian_finds_no_error(self):
        self.assertEqual(set(self.files), {"echoline", "libecholine0", "libecholine-dev", "python3-echoline"})
        said = run("lintian", "--allow-root", "--fail-on", "error", *self.files.values())
        self.assertNotIn("E: ", said)

    def test_2_the_installation_has_one_version_and_adds_the_daemons_user(self):
        self.root.install(*self.files.values())
        version = self.root.call("echolined", "--version").split()[1]
        self.assertEqual(self.root.call("echoline", "--version").split()[-1], version)
        self.assertIn("/var/lib/echoline", self.root.call("getent", "passwd", "echoline"))
        self.assertEqual(self.root.call("stat", "-c", "%U:%G %a", "/run/echoline").strip(), "echoline:echoline 750")
        for unit in ("sockets.target.wants/echolined.socket", "multi-user.target.wants/echolined.service"):
            self.assertTrue(self.root.exists(f"/etc/systemd/system/{unit}"), unit)
        for page in ("echoline", "echolined"):
            self.assertTrue(self.root.exists(f"/usr/share/man/man1/{page}.1.gz"))
        self.root.call("systemd-analyze", "verify", "--man=no", "echolined.service", "echolined.socket")
        self.root.call("echoline", "check", "/etc/echoline/echoline.yaml")

    def test_3_the_installed_daemon_feeds_a_trainer(self):
        self.root.write("/etc/echoline/echoline.yaml", CONFIG)
        self.root.call("python3", "-c", MADE)
        self.root.call("echoline", "pack", "--from", "idx", "--output", "/srv", "--name", "set", "/srv/images",
                       "/srv/labels")
        daemon = subprocess.Popen(
            ["chroot", "--userspec=echoline:echoline", str(self.root.folder), "env", "ECHOLINE_RUNTIME_DIR=/run/echoline",
             "STATE_DIRECTORY=/tmp/state", "echolined", "--config", "/etc/echoline/echoline.yaml"],
            stderr=subprocess.PIPE, text=True)
        try:
            for line in daemon.stderr:
                if "ready:" in line:
                    break
            said = self.root.call("timeout", "60", "python3", "-c", TRAINER)
        finally:
            daemon.terminate()
            rest = daemon.communicate()[1]
        self.assertIn(str(list(range(10))), said, rest)

    def test_4_another_project_builds_against_the_development_files(self):
        self.root.install("gcc", "libc6-dev", "pkg-config")
        self.root.write("/srv/attach.c", (ROOT / "tests/install/attach.c").read_text(encoding="utf-8"))
        self.root.call("sh", "-c", "gcc -o /srv/attach /srv/attach.c $(pkg-config --cflags --libs echoline)")
        self.assertIn("status", self.root.call("/srv/attach", "/srv"))

    def test_5_an_upgrade_keeps_the_changed_configuration(self):
        self.root.install(*self.files.values())
        self.assertEqual((self.root.folder / "etc/echoline/echoline.yaml").read_text(encoding="utf-8"), CONFIG)

    def test_6_a_removal_keeps_the_configuration_and_a_purge_leaves_nothing(self):
        names = sorted(self.files)
        for folder in ("/var/lib/echoline", "/var/cache/echoline"):
            self.root.write(f"{folder}/kept", "")
        self.root.call("apt-get", "-qq", "-y", "remove", *names)
        self.assertTrue(self.root.exists("/etc/echoline/echoline.yaml"))
        self.assertTrue(self.root.exists("/var/lib/echoline/kept"))
        self.assertFalse(self.root.exists("/usr/bin/echolined"))
        self.root.call("dpkg", "--purge", *names)
        left = self.root.call("find", "/", "-xdev", "-name", "*echoline*", "-not", "-path", "/opt/*", "-not", "-path",
                              "/srv/*", "-not", "-path", "/tmp/*", "-not", "-path", "/proc/*").split()
        self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
