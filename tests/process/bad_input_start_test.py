#!/usr/bin/env python3
"""A daemon that cannot start says why in one clear line and ends with exit code 1. After SIGKILL the next start works."""
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import time
import unittest

from support import bad_shards as shards
from support.batches import whole
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, binary, free_port, run_program
from support.store_process import S3Store

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}


def yaml(read):
    return stream_yaml([f"read: {{{read}}}", "shuffle: {window: 30}",
                        "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
                        "echo: {factor: 2, window: 40}", "random_resized_crop: {field: image, size: 32}",
                        "batch: {size: 8, last: partial}", "publish: {slots: 4}"])


class Starts(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.good = cls.class_folder()
        shards.write_good(cls.good)
        cls.read = f"url: '{shards.url(cls.good)}'"

    def check_refused(self, daemon, *words, arguments=(), seconds=PATIENCE):
        """Exit code 1 and one line for the user, the last one, which contains all the words; the line."""
        begin = time.monotonic()
        status, log = self.unstarted(daemon).run_to_its_end(*arguments)
        self.assertLess(time.monotonic() - begin, seconds)
        self.assertEqual(status, 1, log)
        lines = [line for line in log.splitlines() if line.startswith("echolined: ")]
        self.assertEqual(len(lines), 1, log)
        self.assertEqual(log.splitlines()[-1], lines[0], "it is not the last line")
        for word in words:
            self.assertIn(word, lines[0])
        return lines[0]


class RefusedStarts(Starts):
    @unittest.skipUnless(os.geteuid() == 0, "only root can act as a user without other threads")
    def test_a_limit_of_threads_that_is_too_low_is_named(self):
        user, folder = 100_000 + os.getpid(), self.folder()  # a user without other processes
        shutil.copy(binary("ECHOLINED"), folder)
        config = folder / "config.yaml"
        config.write_text(f"daemon: {{runtime_dir: {folder}/run, state_dir: {folder}/state, workers: 2, metrics: 'off'}}\n")
        os.chown(folder, user, user)
        for threads in (8, 25):
            done = subprocess.run([folder / "echolined", "--config", config], user=user, group=user, extra_groups=[],
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads)),  # noqa: B023
                                  capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, f"^echolined: .*thread {threads} of 34 that it needs at least: .*: no more threads; "
                                          "raise the limit .*ulimit -u")

    def test_a_memory_budget_that_does_not_fit_is_refused_with_the_numbers(self):
        line = self.check_refused(Daemon(yaml(self.read), memory="1MiB"), "daemon.memory", "'train'", "lacks")
        self.assertRegex(line, r"needs \d.* free")

    def test_a_ragged_field_that_takes_the_memory_is_named(self):
        stream = stream_yaml([f"read: {{{self.read}}}", "decode: {image: {key: jpg, as: bytes, max_bytes: 8MiB}}",
                              "batch: {size: 8}", "publish: {slots: 4}"])
        self.check_refused(Daemon(stream, memory="64MiB"),
                           "of which 256MiB for rows of 'image': lower its max_bytes (8MiB)")

    def test_an_occupied_socket_is_refused_and_its_daemon_continues(self):
        with Daemon(yaml(self.read)) as first:
            before = sorted(os.listdir(first.runtime_dir))
            second = Daemon(yaml(self.read))
            self.check_refused(second, f"{first.runtime_dir} is in use by another daemon", arguments=("--set", f"daemon.runtime_dir={first.runtime_dir}"))
            self.assertEqual(sorted(os.listdir(first.runtime_dir)), before)
            self.assertEqual(sum(len(batch["rows"]) for batch in whole(first.read())), 2 * shards.COUNT)

    def test_a_daemon_waits_for_one_that_is_about_to_end(self):
        with Daemon(yaml(self.read)) as first:
            second = self.unstarted(Daemon(yaml(self.read))).spawn("--set", f"daemon.runtime_dir={first.runtime_dir}")
            deadline = time.monotonic() + PATIENCE
            while "waiting up to 10 s for its end" not in second.log():
                self.assertLess(time.monotonic(), deadline, second.log())
                time.sleep(0.02)
            first.stop()
            second.await_ready()
            self.assertEqual(second.stop(), 0)

    def test_a_runtime_folder_that_cannot_be_made_is_refused(self):
        self.check_folder_refused("runtime_dir")

    def test_a_state_folder_that_cannot_be_made_is_refused(self):
        self.check_folder_refused("state_dir")

    @unittest.skipUnless(os.geteuid() == 0, "mounting needs root")
    def test_a_read_only_state_folder_serves_the_indexes_in_it(self):
        with Daemon(yaml(self.read)) as daemon:
            rows = whole(daemon.read())
            daemon.stop()
            state = str(daemon.state_dir)
            subprocess.run(["mount", "--bind", state, state], check=True)
            try:
                subprocess.run(["mount", "-o", "remount,ro,bind", state], check=True)
                daemon.start()
                self.assertIn(f"{state}: cannot be written to: Read-only file system", daemon.log())
                self.assertEqual(whole(daemon.read()), rows)
                self.assertNotIn("indexing", daemon.log().rpartition("cannot be written to")[2])
            finally:
                daemon.stop()
                subprocess.run(["umount", "-l", state], check=True)

    def check_folder_refused(self, key):
        file = self.folder() / "file"
        file.write_text("no folder")
        self.check_refused(Daemon(yaml(self.read)), f"{file}/below", arguments=("--set", f"daemon.{key}={file}/below"))

    def test_an_occupied_metrics_port_is_refused(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            port = listener.getsockname()[1]
            self.check_refused(Daemon(yaml(self.read), metrics=port), f"127.0.0.1:{port}", "in use", seconds=20)

    def test_a_missing_file_is_refused(self):
        self.check_refused(Daemon(yaml(f"url: '{self.good}/nothing.tar'")), f"{self.good}/nothing.tar", "No such file")

    def test_a_pattern_that_matches_nothing_is_refused(self):
        self.check_refused(Daemon(yaml(f"url: '{self.good}/nothing-*.tar'")), f"{self.good}/nothing-*.tar")

    def test_a_shard_that_is_empty_or_no_tar_is_refused_by_its_name(self):
        for content, word in ((b"", "0 bytes"), (shards.noise(20_000), "tar")):
            with self.subTest(word):
                folder = self.folder()
                shards.write_good(folder)
                shards.shard_path(folder, 1).write_bytes(content)
                self.check_refused(Daemon(yaml(f"url: '{shards.url(folder)}'")), str(shards.shard_path(folder, 1)), word)

    def test_an_unreachable_endpoint_is_refused(self):
        port = free_port()
        read = f"url: 's3://photos/0.tar', endpoint: 'http://127.0.0.1:{port}', region: us-east-1"
        self.check_refused(Daemon(yaml(read), environment=KEYS), "127.0.0.1", str(port), "s3://photos/0.tar", seconds=60)

    def test_an_unknown_host_is_refused(self):
        read = "url: 's3://photos/0.tar', endpoint: 'http://no-such-host.invalid', region: us-east-1"
        self.check_refused(Daemon(yaml(read), environment=KEYS), "no-such-host.invalid", seconds=60)

    def test_a_key_that_the_environment_lacks_is_refused(self):
        daemon = Daemon(yaml("url: 's3://photos/0.tar', endpoint: 'http://127.0.0.1:1', region: us-east-1"))
        for name in KEYS:
            daemon.environment.pop(name, None)
        self.check_refused(daemon, "AWS_ACCESS_KEY_ID", seconds=20)


class StartsOnS3(Starts):
    """With a real server that checks signatures."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shard = shards.shard_path(cls.good, 0)
        cls.store = cls.class_resource(S3Store(cls.class_folder(), [shard], {shard: "0.tar"}))

    def s3_daemon(self, url="s3://photos/0.tar", **keys):
        return Daemon(yaml(self.store.read_keys(url)), environment={**self.store.environment, **keys})

    def test_the_right_key_is_accepted(self):
        with self.s3_daemon() as daemon:
            self.assertEqual(sum(len(batch["rows"]) for batch in whole(daemon.read())), 2 * shards.RECORDS)

    def test_a_wrong_secret_is_refused_and_not_shown(self):
        line = self.check_refused(self.s3_daemon(AWS_SECRET_ACCESS_KEY="wrong-secret-0123"), "s3://photos/0.tar", "403")
        self.assertNotIn("wrong-secret-0123", line)

    def test_an_unknown_key_is_refused(self):
        self.check_refused(self.s3_daemon(AWS_ACCESS_KEY_ID="nobody"), "s3://photos/0.tar", "403")

    def test_a_missing_bucket_or_object_is_refused_by_name(self):
        for url, name in (("s3://no-such-bucket/0.tar", "no-such-bucket"), ("s3://no-such-bucket/*.tar", "no-such-bucket"),
                          ("s3://photos/7.tar", "s3://photos/7.tar")):
            with self.subTest(url):
                self.check_refused(self.s3_daemon(url), name)


class Usage(ProcessCase):
    def run_program(self, variable, *arguments):
        done = run_program(variable, *arguments)
        return done.returncode, done.stdout, done.stderr

    def test_wrong_usage_is_exit_code_2_and_says_why_on_stderr(self):
        for variable, *arguments in (("ECHOLINED",), ("ECHOLINED", "--config"), ("ECHOLINED", "--colour", "red"),
                                     ("ECHOLINE_CLI",), ("ECHOLINE_CLI", "read"), ("ECHOLINE_CLI", "reed", "train"),
                                     ("ECHOLINE_CLI", "read", "train", "--batches", "0"),
                                     ("ECHOLINE_CLI", "read", "train", "--rank", "-1")):
            with self.subTest(variable=variable, arguments=arguments):
                status, _, errors = self.run_program(variable, *arguments)
                self.assertEqual(status, 2)
                self.assertTrue(errors.strip())

    def test_help_and_version_are_exit_code_0_on_stdout(self):
        for variable in ("ECHOLINED", "ECHOLINE_CLI"):
            for argument in ("--help", "--version"):
                status, output, errors = self.run_program(variable, argument)
                self.assertEqual((status, errors), (0, ""))
                self.assertTrue(output.strip())

    def test_a_configuration_that_is_wrong_or_missing_is_exit_code_1_with_its_place(self):
        folder = self.folder()
        file = folder / "wrong.yaml"
        file.write_text("streams:\n  train:\n    pipeline:\n      - reed: {url: a.tar}\n")
        status, _, errors = self.run_program("ECHOLINED", "--config", str(file))
        self.assertEqual(status, 1)
        self.assertRegex(errors, rf"^echolined: {file}:4:\d+: .*reed.*read")
        self.assertEqual(len(errors.splitlines()), 1)
        status, _, errors = self.run_program("ECHOLINED", "--config", f"{folder}/none.yaml")
        self.assertEqual((status, len(errors.splitlines())), (1, 1))
        self.assertIn(f"{folder}/none.yaml", errors)

    def test_no_daemon_is_exit_code_1_with_the_folder(self):
        folder = self.folder()
        for command in (["list"], ["show", "train"], ["read", "train", "--reattach", "0s"], ["state", "train"]):
            begin = time.monotonic()
            status, _, errors = self.run_program("ECHOLINE_CLI", *command, "--runtime-dir", folder)
            self.assertEqual((status, len(errors.splitlines())), (1, 1), errors)
            self.assertIn(str(folder), errors)
            self.assertLess(time.monotonic() - begin, 10)


class AfterKill(ProcessCase):
    def test_the_next_start_needs_no_clean_up_whenever_the_daemon_was_killed(self):
        chance = random.Random(5)
        folder = self.folder()
        shards.write_good(folder)
        daemon = self.unstarted(Daemon(yaml(f"url: '{shards.url(folder)}'"), grace="1s"))
        expected = None
        for turn in range(6):
            daemon.spawn()  # to be killed at any moment of its start
            time.sleep(chance.random() * 0.1)
            daemon.stop(signal.SIGKILL)
            daemon.start()
            reader = daemon.reader("--epochs", 2000, "--reattach", "0s", "--job", f"killed{turn}")
            time.sleep(chance.random() * 0.3)
            daemon.stop(signal.SIGKILL)
            begin = time.monotonic()
            reader.communicate(timeout=PATIENCE)
            self.assertEqual(reader.returncode, 1, "the trainer must get the error")
            self.assertLess(time.monotonic() - begin, 3, "it must get it at once")
            found = whole(daemon.start().read("--row-checksums", "--job", f"turn{turn}"))
            expected = expected or found
            self.assertEqual(found, expected)
            daemon.stop(signal.SIGKILL)
        daemon.start().check_orderly_stop()


if __name__ == "__main__":
    main()
