#!/usr/bin/env python3
"""daemon.control over the Unix socket: operators, readers and strangers, as the kernel tells them apart."""
import os
import shutil
import socket
import stat
import unittest

from control_daemon import ControlDaemon
from daemon_process import binary, free_port, skip

ALICE, BOB, EVE, TEAM = 54321, 54322, 54323, 54400
CONTROL = f"operators: [{ALICE}, 'group:{TEAM}'], readers: [{BOB}]"

if os.geteuid() != 0:
    skip("only root can act as other users")
if not os.environ.get("ECHOLINE_CLIENT"):
    skip("ECHOLINE_CLIENT names no libecholine.so")


class UsersTest(unittest.TestCase):
    def start(self, control):
        daemon = ControlDaemon(control, metrics=free_port())
        self.addCleanup(daemon.__exit__)
        daemon.start()
        # Where other users can come: the folders, and programs outside the build folder.
        daemon.folder.chmod(0o755)
        daemon.runtime_dir.chmod(0o755)
        self.program = shutil.copy(binary("ECHOLINE_CLI"), daemon.folder / "echoline")
        shutil.copy(os.environ["ECHOLINE_CLIENT"], daemon.folder / "libecholine.so.0")
        self.daemon = daemon

    def run_as(self, uid, *arguments, groups=()):
        return self.daemon.command(*arguments, "--runtime-dir", self.daemon.runtime_dir, program=self.program, cwd="/",
                                   user=uid, group=uid, extra_groups=groups,
                                   environment={"LD_LIBRARY_PATH": str(self.daemon.folder)})

    def mode(self):
        return stat.S_IMODE(self.daemon.socket.stat().st_mode)

    def test_without_lists_the_socket_is_for_root_and_the_daemons_user(self):
        self.start("")
        self.assertEqual(self.mode(), 0o600)
        self.assertEqual(self.run_as(0, "list")[0], 0)
        code, text = self.run_as(ALICE, "list")
        self.assertEqual(code, 1)
        self.assertIn("control.sock: this user may not open it; the daemon's operator names who may in "
                      "daemon.control.operators and daemon.control.readers", text)

    def test_operators_do_all_readers_look_and_strangers_are_told(self):
        self.start(CONTROL)
        self.assertEqual(self.mode(), 0o666)
        for uid, groups in ((0, ()), (ALICE, ()), (BOB, ()), (EVE, (7, TEAM))):
            self.assertEqual(self.run_as(uid, "list", groups=groups)[0], 0, uid)
        self.assertEqual(self.run_as(BOB, "delete", "train"),
                         (1, f"echoline: user {BOB} may look, but not call DeleteStream; daemon.control.operators "
                             "names who may\n"))
        for command in (("list",), ("state", "train"), ("delete", "train")):
            code, text = self.run_as(EVE, *command)
            self.assertEqual((code, text), (1, f"echoline: user {EVE} may not use the control service; the daemon's "
                                               "operator names who may in daemon.control.operators and "
                                               "daemon.control.readers\n"))
        self.assertEqual(self.daemon.metric_lines("echoline_control_calls_denied_total"), {"": 4})
        self.assertIn(f"denied: user {BOB} may look", self.daemon.log())
        self.assertEqual(self.run_as(EVE, "delete", "train", groups=(TEAM,))[0], 0)
        self.assertIn(f"control: stream train: user {EVE} calls DeleteStream", self.daemon.log())

    def test_many_strangers_do_not_become_somebody_else(self):
        self.start(CONTROL)
        for uid in range(60000, 60020):
            code, text = self.run_as(uid, "delete", "train")
            self.assertEqual(code, 1)
            named = f"user {uid} may not" if uid < 60016 else "a user who is not in daemon.control may not"
            self.assertIn(named, text)
        self.assertEqual(self.run_as(BOB, "delete", "train")[0], 1)
        self.assertEqual(self.run_as(ALICE, "delete", "train")[0], 0)

    def test_a_user_cannot_keep_others_out(self):
        self.start(CONTROL)
        held = []
        self.addCleanup(lambda: [one.close() for one in held])
        os.seteuid(EVE)
        try:
            for _ in range(1000):
                held.append(socket.socket(socket.AF_UNIX))
                held[-1].connect(str(self.daemon.socket))
        finally:
            os.seteuid(0)
        for uid in (0, ALICE, BOB):
            self.assertEqual(self.run_as(uid, "list")[0], 0, uid)
        self.assertLessEqual(self.daemon.metric_lines("echoline_control_connections")['{transport="unix"}'], 40)
        self.assertGreaterEqual(self.daemon.metric_lines("echoline_control_connections_refused_total")[""], 900)

    def test_an_unknown_name_is_refused_at_start(self):
        daemon = ControlDaemon("operators: [no-such-user]")
        self.addCleanup(daemon.__exit__)
        code, log = daemon.run_to_its_end()
        self.assertEqual(code, 1)
        self.assertIn("daemon.control.operators: this host knows no user 'no-such-user'", log)


if __name__ == "__main__":
    unittest.main(verbosity=2)
