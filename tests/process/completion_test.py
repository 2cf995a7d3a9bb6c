#!/usr/bin/env python3
"""Completion in real shells; it offers exactly what `echoline --help` names."""
import os
import re
import shutil

from support import TESTS
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import binary, run_echoline
from support.terminal import Terminal

# The control sequences that shells write to edit a line.
LINE_EDITING = re.compile(r"\x1b(?:\[[?\d;]*[A-Za-z]|[()][A-B0]|[=>])|[\x00-\x1f]")
SCRIPTS = TESTS.parent / "deploy" / "completion"


def words(*line):
    """(kind, words) that the program offers for the last word of the line."""
    kind, *found = run_echoline("__complete", "--", *line).stdout.splitlines()
    return kind, [word.partition("\t")[0] for word in found]


def help_of(*command):
    return run_echoline(*command, "--help").stdout


class Completion(ProcessCase):
    def test_offers_the_commands_and_options_of_the_help(self):
        said = help_of()
        commands = re.findall(r"^  ([\w-]+) ", said.partition("Subcommands:")[2], re.MULTILINE)
        self.assertGreater(len(commands), 8)
        self.assertEqual(words(""), ("words", commands))
        for command in commands:
            options = re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_of(command), re.MULTILINE)
            self.assertGreater(len(options), 1, command)
            self.assertEqual(words(command, "--"), ("words", options), command)

    def test_offers_values_files_or_folders_as_the_option_requires(self):
        joins = ["start", "current", "next_epoch"]
        self.assertEqual(words("read", "train", "--join", ""), ("words", joins))
        self.assertEqual(words("read", "--join", "=", "c"), ("words", ["current"]))
        self.assertEqual(words("read", "--join=n"), ("words", ["--join=next_epoch"]))
        self.assertEqual(words("pack", "--from", "f"), ("words", ["folder"]))
        self.assertEqual(words("pack", "--from", "idx", "--fr"), ("words", []))
        for line in (["check", ""], ["index", ""], ["pack", "a", "b", ""], ["read", "train", "--state", "x"]):
            self.assertEqual(words(*line), ("files", []), line)
        for line in (["pack", "-o", ""], ["list", "--runtime-dir", ""]):
            self.assertEqual(words(*line), ("folders", []), line)
        self.assertEqual(words("check", "a.yaml", ""), ("words", []))
        self.assertEqual(words("read", "train", "--batches", ""), ("words", []))
        self.assertEqual(words("nothing", "of", "that", ""), ("words", words("")[1]))

    def test_offers_no_streams_without_a_daemon(self):
        folder = str(self.folder())
        self.assertEqual(words("show", "--runtime-dir", folder, ""), ("words", []))
        self.assertEqual(words("show", f"--runtime-dir={folder}", ""), ("words", []))


class Shells(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.home = cls.class_folder()
        data = cls.home / "tokens.bin"
        data.write_bytes(os.urandom(3200))
        (cls.home / "a file.yaml").touch()
        (cls.home / "bin").mkdir()
        (cls.home / "bin" / "echoline").symlink_to(binary("ECHOLINE_CLI"))
        steps = [f"read: {{url: {data}, format: tokens, tokens: {{length: 16}}}}",
                 "decode: {tokens: {key: tokens, as: uint16, shape: [16]}}", "batch: {size: 8}"]
        cls.daemon = Daemon(stream_yaml(steps, name="photos.2026"))
        cls.enterClassContext(cls.daemon)

    def shell(self, *arguments, begin):
        """An interactive shell with the completion, in a folder with one file."""
        if not shutil.which(arguments[0]):
            self.skipTest(f"{arguments[0]} is not installed")
        terminal = Terminal(arguments, columns=200, environment={
            "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}", "HOME": str(self.home), "TERM": "vt100",
            "ECHOLINE_RUNTIME_DIR": str(self.daemon.runtime_dir), "INPUTRC": "/dev/null"})
        self.addCleanup(terminal.close)
        terminal.type(f"cd '{self.home}'; {begin}; echo rea''dy\n")
        return terminal.until(lambda: "ready" in terminal.raw, "shell")

    def check_completions(self, shell):
        """What the tab key completes."""
        for typed, becomes in (("sho", "show "), ("show photos.", "show photos.2026"), ("show --js", "show --json"),
                               ("read photos.2026 --join nex", "--join next_epoch"),
                               ("read --join=sta", "--join=start"), ("check a", "check a\\ file.yaml"),
                               ("pack --output b", "--output bin/")):
            shell.raw = ""
            shell.type(f"echoline {typed}\t")
            shell.until(lambda: becomes in LINE_EDITING.sub("", shell.raw), f"'{becomes}' in {shell.raw!r}")
            shell.type("\x15")  # deletes the line

    def test_bash_completes_lines(self):
        self.check_completions(self.shell("bash", "--norc", "--noprofile", "-i", begin=f"source {SCRIPTS}/echoline.bash"))

    def test_zsh_completes_lines(self):
        self.check_completions(self.shell("zsh", "-f", "-i", begin=(
            f"fpath=({SCRIPTS} $fpath); autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste prompt_sp")))

    def test_fish_completes_lines(self):
        self.check_completions(self.shell("fish", "--no-config", "-i", begin=f"source {SCRIPTS}/echoline.fish"))


if __name__ == "__main__":
    main()
