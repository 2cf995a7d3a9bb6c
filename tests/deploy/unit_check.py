#!/usr/bin/env python3
"""systemd's own check accepts the units, and their exposure is the documented one."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

UNITS, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]
ROOT = pathlib.Path(__file__).resolve().parents[2]

if not shutil.which("systemd-analyze"):
    print("skipped: no systemd-analyze (package systemd)")
    sys.exit(77)


class Units(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        service = (UNITS / "echolined.service").read_text(encoding="utf-8")
        # The program of the build folder: none is installed.
        cls.service, count = re.subn(r"(?m)^ExecStart=\S+", f"ExecStart={PROGRAM}", service)
        assert count == 1
        (cls.folder / "echolined.service").write_text(cls.service, encoding="utf-8")
        shutil.copy(ROOT / "deploy/systemd/echolined.socket", cls.folder)

    def analyze(self, *arguments):
        done = subprocess.run(["systemd-analyze", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def test_systemd_finds_nothing_wrong(self):
        code, said = self.analyze("verify", "--man=no", self.folder / "echolined.service",
                                  self.folder / "echolined.socket")
        ours = [line for line in said.splitlines() if "echoline" in line]
        self.assertEqual((code, ours), (0, []))

    def test_the_exposure_is_the_documented_one(self):
        code, said = self.analyze("security", "--offline=true", "--threshold=25", "--no-pager",
                                  self.folder / "echolined.service")
        self.assertEqual(code, 0, said)
        # The value depends on the version of systemd; the documentation has that of Debian 12.
        if self.analyze("--version")[1].split()[1] != "252":
            return
        documented = re.search(r"exposure of \*\*([\d.]+)\*\*", (ROOT / "docs/systemd.md").read_text(encoding="utf-8"))
        self.assertIn(f"Overall exposure level for echolined.service: {documented[1]}", said)

    def test_the_time_to_stop_is_longer_than_the_daemons_own_patience(self):
        wiring = (ROOT / "daemon/main.cc").read_text(encoding="utf-8")
        patience = int(re.search(r"kStopPatience\{(\d+)\}", wiring)[1]) / 1000
        self.assertGreater(int(re.search(r"TimeoutStopSec=(\d+)", self.service)[1]), 1.5 * patience)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
