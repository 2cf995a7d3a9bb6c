#!/usr/bin/env python3
"""`echoline top` with and without a terminal, on a real daemon with trainers: keys, sizes, signals, a daemon that dies and
comes back, hostile names, and a terminal that is restored."""
import json
import os
import signal
import subprocess
import time

from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import binary, end_with_parent, run_echoline
from support.terminal import ALTERNATE, Terminal

RECORDS = 4000
HOSTILE = "\u202ejob\u200b"  # the daemon refuses names with control characters


class TopCase(ProcessCase):
    def arguments(self, runtime_dir, *more):
        return ["top", "--runtime-dir", str(runtime_dir), "--interval", "200ms", *more]

    def started_terminal(self, runtime_dir, *more, **how):
        """A terminal in which `echoline top` runs."""
        terminal = Terminal([binary("ECHOLINE_CLI"), *self.arguments(runtime_dir, *more)], **how)
        self.addCleanup(terminal.close)
        return terminal

    def check_end(self, terminal, status=0):
        self.assertEqual(terminal.wait(), status, terminal.raw[-400:])
        self.assertTrue(terminal.restored(), terminal.modes)
        self.assertEqual(terminal.strange, "")


class Top(TopCase):
    @classmethod
    def setUpClass(cls):
        data = cls.class_folder() / "tokens.bin"
        data.write_bytes(os.urandom(RECORDS * 32))
        read = f"url: {data}, format: tokens, tokens: {{length: 16}}, throttle: {{rate: 3KB/s}}, read_ahead: 64KiB"
        decode = "decode: {tokens: {key: tokens, as: uint16, shape: [16]}}"
        streams = [stream_yaml([f"read: {{{read}}}", decode, "echo: {factor: 2, window: 64}", "batch: {size: 8}"],
                               name="slow"),
                   stream_yaml([f"read: {{url: {data}, format: tokens, tokens: {{length: 16}}}}", decode,
                                "batch: {size: 8}"], name="still")]
        cls.daemon = cls.enterClassContext(Daemon("".join(streams)))
        cls.class_resource(Readers(cls.daemon, "slow", ["steady", HOSTILE]))

    def terminal(self, *arguments, **how):
        return self.started_terminal(self.daemon.runtime_dir, *arguments, **how)

    def run_top(self, *arguments):
        """A finished run without a terminal."""
        return run_echoline(*self.arguments(self.daemon.runtime_dir, *arguments), environment={"LC_ALL": "C.UTF-8"})

    def test_keys_choose_pause_sort_help_and_quit(self):
        terminal = self.terminal().shows("steady/0").shows("? help")
        self.assertTrue(terminal.modes[ALTERNATE])
        self.assertIn("> slow", terminal.text())
        terminal.type("\x1b[B")
        terminal.shows("> still").shows("no echo")
        terminal.type("1")
        terminal.shows("> slow").shows("sample echo x 2")
        terminal.type("s")
        terminal.shows("sort: wait")
        terminal.type("?")
        terminal.shows("starved (nothing came in)")
        terminal.type("?p")
        terminal.shows("paused").shows("steady/0")
        clock = terminal.lines[0]
        later = time.monotonic() + 1.5
        terminal.until(lambda: time.monotonic() > later, "time")
        self.assertEqual(terminal.lines[0], clock)
        terminal.type("p")
        terminal.until(lambda: "paused" not in terminal.text(), "end of the pause")
        terminal.type("q")
        self.check_end(terminal)

    def test_it_shows_rates_stages_waits_and_the_verdict(self):
        terminal = self.terminal("slow", columns=120, rows=40)
        terminal.shows("storage is the limit").shows("100% busy")
        row = next(line for line in terminal.lines if "steady/0" in line)
        self.assertRegex(row, r"steady/0 +\d+ +\d+ .* \d+% ")
        self.assertRegex(terminal.text(), r"source +file [\d.]+[KM]?i?B/s")
        terminal.type("q")
        self.check_end(terminal)

    def test_it_fills_every_size_and_never_writes_beyond_it(self):
        terminal = self.terminal().shows("steady/0")
        for columns, rows in ((120, 40), (40, 12), (20, 5), (1, 2), (80, 24)):
            terminal.resize(columns, rows)
            terminal.until(lambda: terminal.lines[0].startswith("echoline"[:columns]), f"frame of {columns} columns")
        terminal.shows("steady/0").type("q")
        self.check_end(terminal)

    def test_the_terminal_is_restored_after_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            terminal = self.terminal().shows("steady/0")
            terminal.process.send_signal(number)
            self.check_end(terminal)
        terminal = self.terminal().shows("steady/0")
        terminal.type("\x03")
        self.check_end(terminal)

    def test_a_stop_restores_the_terminal_and_a_continue_takes_it_again(self):
        terminal = self.terminal().shows("steady/0")
        terminal.process.send_signal(signal.SIGTSTP)
        terminal.until(terminal.restored, "restored terminal")
        os.waitpid(terminal.process.pid, os.WUNTRACED)
        terminal.process.send_signal(signal.SIGCONT)
        terminal.until(lambda: terminal.modes[ALTERNATE], "alternate screen").shows("steady/0").type("q")
        self.check_end(terminal)

    def test_no_color_and_no_utf8_are_respected(self):
        plain = self.terminal("slow", environment={"NO_COLOR": "1", "LC_ALL": "C"}).shows("#### ")
        self.assertTrue(plain.raw.isascii())
        self.assertLessEqual(plain.sequences, {"0", "1", "2"})
        plain.type("q")
        self.check_end(plain)
        colored = self.terminal("slow").shows("█")
        self.assertIn("32", colored.sequences)
        colored.type("q")
        self.check_end(colored)

    def test_a_dumb_terminal_gets_text(self):
        terminal = self.terminal(environment={"TERM": "dumb"})
        terminal.until(lambda: terminal.raw.count("steady/0") > 1, "two blocks")
        self.assertNotIn("\x1b", terminal.raw)
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.wait(), -signal.SIGINT)

    def test_text_has_a_block_and_json_a_line_for_each_interval(self):
        def run(*arguments):
            return self.run_top(*arguments).stdout

        text = run("--count", "2")
        self.assertEqual(text.count("steady/0"), 2)
        self.assertEqual(text.count("\nstill\n"), 2)
        self.assertTrue(text.replace("\n", "").isprintable(), text)
        self.assertNotIn("still", run("slow", "--count", "1"))
        lines = [json.loads(line) for line in run("--json", "--count", "3").splitlines()]
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertGreater(line["seconds"], 0.15)
            slow = next(stream for stream in line["streams"] if stream["name"] == "slow")
            self.assertEqual({one["job"] for one in slow["consumers"]}, {"steady", HOSTILE})
            for stage in slow["stages"]:
                self.assertAlmostEqual(stage["busy"] + stage["starved"] + stage["blocked"], 1, places=3)
            self.assertIn("limit", slow)

    def test_an_unknown_stream_is_named(self):
        done = self.run_top("slwo", "--count", "1")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "echoline: no stream 'slwo'; there are: slow, still\n"))
        terminal = self.terminal("slwo")
        self.check_end(terminal, status=1)
        self.assertIn("no stream 'slwo'", terminal.raw)


class TopWithoutDaemon(TopCase):
    def test_it_reports_that_the_daemon_went_away_and_waits_for_it(self):
        data = self.folder() / "tokens.bin"
        data.write_bytes(os.urandom(3200))
        steps = [f"read: {{url: {data}, format: tokens, tokens: {{length: 16}}}}",
                 "decode: {tokens: {key: tokens, as: uint16, shape: [16]}}", "batch: {size: 8}"]
        daemon = self.started(Daemon(stream_yaml(steps)))
        terminal = self.started_terminal(daemon.runtime_dir).shows("> train")
        with subprocess.Popen([binary("ECHOLINE_CLI"), *self.arguments(daemon.runtime_dir, "--json")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=end_with_parent) as lines:
            self.assertTrue(lines.stdout.readline())
            for number in (signal.SIGKILL, signal.SIGTERM):
                daemon.stop(number)
                terminal.shows("the daemon went away")
                self.assertEqual(lines.stderr.readline(), b"echoline: the daemon went away; waiting for its return\n")
                back = time.time()
                daemon.start()
                terminal.until(lambda: "went away" not in terminal.text(), "return")
                while json.loads(lines.stdout.readline())["time"] < back:
                    pass
            lines.kill()
        daemon.process.send_signal(signal.SIGSTOP)
        terminal.shows("has not answered for")
        daemon.process.send_signal(signal.SIGCONT)
        terminal.until(lambda: "answered" not in terminal.text(), "answer")
        daemon.stop(signal.SIGKILL)
        terminal.shows("the daemon went away")
        terminal.type("q")
        self.check_end(terminal)

    def test_a_daemon_that_was_never_there_is_an_error(self):
        terminal = self.started_terminal(self.folder())
        self.check_end(terminal, status=1)
        self.assertIn("no daemon answers at", terminal.raw)


class Readers:
    """`echoline read` of each job, until stopped."""

    def __init__(self, daemon, stream, jobs):
        self.processes = [
            subprocess.Popen([binary("ECHOLINE_CLI"), "read", stream, "--job", job, "--epochs", "1000000",
                              "--runtime-dir", str(daemon.runtime_dir)], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, preexec_fn=end_with_parent) for job in jobs]

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
