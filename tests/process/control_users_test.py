#!/usr/bin/env python3
"""daemon.control over the Unix socket: operators, readers and other users; the kernel says who calls."""
import os
import socket
import stat

from support.control_daemon import ControlDaemon
from support.other_users import copy_programs, require_root, run_as
from support.process_case import ProcessCase, main

ALICE, BOB, EVE, TEAM = 54321, 54322, 54323, 54400
CONTROL = f"operators: [{ALICE}, 'group:{TEAM}'], readers: [{BOB}]"

require_root()


class ControlUsers(ProcessCase):
    def start(self, control):
        self.daemon = self.started(ControlDaemon(control, metrics=True))
        self.daemon.runtime_dir.chmod(0o755)
        copy_programs(self.daemon)

    def run_as(self, uid, *arguments, groups=()):
        """(exit code, output and error output)"""
        done = run_as(self.daemon, uid, *arguments, groups=groups)
        return done.returncode, done.stdout + done.stderr

    def mode(self):
        return stat.S_IMODE(self.daemon.socket.stat().st_mode)

    def test_without_lists_only_root_and_the_daemons_user_may_open_the_socket(self):
        self.start("")
        self.assertEqual(self.mode(), 0o600)
        self.assertEqual(self.run_as(0, "list")[0], 0)
        code, text = self.run_as(ALICE, "list")
        self.assertEqual(code, 1)
        self.assertIn("control.sock: this user may not open it; the daemon's operator names who may in "
                      "daemon.control.operators and daemon.control.readers", text)

    def test_operators_may_call_all_readers_may_look_and_others_are_refused(self):
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

    def test_a_user_is_never_mistaken_for_another_one(self):
        self.start(CONTROL)
        for uid in range(60000, 60020):
            code, text = self.run_as(uid, "delete", "train")
            self.assertEqual(code, 1)
            named = f"user {uid} may not" if uid < 60016 else "a user who is not in daemon.control may not"
            self.assertIn(named, text)
        self.assertEqual(self.run_as(BOB, "delete", "train")[0], 1)
        self.assertEqual(self.run_as(ALICE, "delete", "train")[0], 0)

    def test_one_user_cannot_block_others(self):
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

    def test_an_unknown_user_name_is_refused_at_start(self):
        code, log = self.unstarted(ControlDaemon("operators: [no-such-user]")).run_to_its_end()
        self.assertEqual(code, 1)
        self.assertIn("daemon.control.operators: this host knows no user 'no-such-user'", log)


if __name__ == "__main__":
    main()
