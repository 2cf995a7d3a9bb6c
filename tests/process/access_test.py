#!/usr/bin/env python3
"""publish.access from outside: trainers of other users get the streams that they may use, and learn nothing of others."""
from support.daemon_process import Daemon, stream_yaml
from support.other_users import copy_programs, require_root, run_as
from support.process_case import ProcessCase, main

ALICE, BOB, TEAM = 54321, 54322, 54400

require_root()


class Access(ProcessCase):
    def setUp(self):
        super().setUp()
        data = self.folder() / "tokens.bin"
        data.write_bytes(bytes(4096))

        def stream(name, access):
            return stream_yaml([f"read: {{url: {data}, format: tokens, tokens: {{length: 16, dtype: uint16}}}}",
                                "decode: {x: {key: tokens, as: uint16, shape: [16]}}", "batch: {size: 4}",
                                f"publish: {{slots: 2{access}}}"], name=name)

        self.daemon = self.started(Daemon(stream("anyone", "") + stream("alice", f", access: [{ALICE}]") +
                                          stream("team", f", access: [nobody, 'group:{TEAM}']")))
        copy_programs(self.daemon)

    def read(self, stream, uid, groups=()):
        """(exit code, what it wrote to stderr)."""
        done = run_as(self.daemon, uid, "read", stream, "--batches", 1, group=0, groups=groups)
        return done.returncode, done.stderr

    def check_refused(self, answer, stream, known):
        code, errors = answer
        self.assertEqual(code, 1, errors)
        self.assertIn(f"no stream '{stream}'; there are: {known}\n", errors)

    def test_listed_users_and_groups_attach_and_others_do_not_see_the_stream(self):
        self.assertEqual(self.read("anyone", BOB)[0], 0)
        self.assertEqual(self.read("alice", ALICE)[0], 0)
        self.assertEqual(self.read("team", BOB, groups=[7, TEAM])[0], 0)
        self.assertEqual(self.read("team", 0)[0], 0)
        self.check_refused(self.read("team", ALICE), "team", "alice, anyone")
        self.check_refused(self.read("alice", BOB, groups=[TEAM]), "alice", "anyone, team")
        self.check_refused(self.read("nothing", BOB), "nothing", "anyone")
        self.assertIn(f"of user {ALICE} may not attach (publish.access)", self.daemon.log())

    def test_an_unknown_user_name_is_refused_at_start(self):
        self.daemon.stop()
        config = self.daemon.config
        config.write_text(config.read_text(encoding="utf-8").replace(f"[{ALICE}]", "[no-such-user]"), encoding="utf-8")
        code, log = self.daemon.run_to_its_end()
        self.assertEqual(code, 1)
        self.assertIn("publish.access: this host knows no user 'no-such-user'", log)


if __name__ == "__main__":
    main()
