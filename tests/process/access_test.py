#!/usr/bin/env python3
"""publish.access from outside: trainers under other users get the streams that they may use, and hear of no others."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from daemon_process import PATIENCE, Daemon, binary, skip, stream_yaml

ALICE, BOB, TEAM = 54321, 54322, 54400

if os.geteuid() != 0:
    skip("only root can act as other users")
if not os.environ.get("ECHOLINE_CLIENT"):
    skip("ECHOLINE_CLIENT names no libecholine.so")


class AccessTest(unittest.TestCase):
    def setUp(self):
        data = tempfile.NamedTemporaryFile(suffix=".bin")
        self.addCleanup(data.close)
        data.write(bytes(4096))
        data.flush()

        def stream(name, access):
            return stream_yaml([f"read: {{url: {data.name}, format: tokens, tokens: {{length: 16, dtype: uint16}}}}",
                                "decode: {x: {key: tokens, as: uint16, shape: [16]}}", "batch: {size: 4}",
                                f"publish: {{slots: 2{access}}}"], name=name)

        self.daemon = Daemon(stream("anyone", "") + stream("alice", f", access: [{ALICE}]") +
                             stream("team", f", access: [nobody, 'group:{TEAM}']"))
        self.addCleanup(self.daemon.__exit__)
        self.daemon.start()
        # Where other users can come: the folder, the door (of group 0 here), and programs outside the build folder.
        self.daemon.folder.chmod(0o755)
        self.program = shutil.copy(binary("ECHOLINE_CLI"), self.daemon.folder / "echoline")
        shutil.copy(os.environ["ECHOLINE_CLIENT"], self.daemon.folder / "libecholine.so.0")

    def read(self, stream, uid, groups=()):
        """(exit code, what it wrote to stderr)."""
        done = subprocess.run([self.program, "read", stream, "--batches", "1", "--runtime-dir",
                               str(self.daemon.runtime_dir)], user=uid, group=0, extra_groups=groups, cwd="/",
                              env={**os.environ, "LD_LIBRARY_PATH": str(self.daemon.folder)}, timeout=PATIENCE,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def check_refused(self, answer, stream, known):
        code, errors = answer
        self.assertEqual(code, 1, errors)
        self.assertIn(f"no stream '{stream}'; there are: {known}\n", errors)

    def test_users_groups_and_strangers(self):
        self.assertEqual(self.read("anyone", BOB)[0], 0)
        self.assertEqual(self.read("alice", ALICE)[0], 0)
        self.assertEqual(self.read("team", BOB, groups=[7, TEAM])[0], 0)
        self.assertEqual(self.read("team", 0)[0], 0)
        self.check_refused(self.read("team", ALICE), "team", "alice, anyone")
        self.check_refused(self.read("alice", BOB, groups=[TEAM]), "alice", "anyone, team")
        self.check_refused(self.read("nothing", BOB), "nothing", "anyone")
        self.assertIn(f"of user {ALICE} may not attach (publish.access)", self.daemon.log())

    def test_an_unknown_name_is_refused_at_start(self):
        self.daemon.stop()
        config = pathlib.Path(self.daemon.config)
        config.write_text(config.read_text(encoding="utf-8").replace(f"[{ALICE}]", "[no-such-user]"), encoding="utf-8")
        code, log = self.daemon.run_to_its_end()
        self.assertEqual(code, 1)
        self.assertIn("publish.access: this host knows no user 'no-such-user'", log)


if __name__ == "__main__":
    unittest.main(verbosity=2)
