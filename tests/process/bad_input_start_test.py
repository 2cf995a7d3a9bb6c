#!/usr/bin/env python3
"""What keeps a daemon from starting is one clear line and exit code 1; and after the worst end the next start works."""
import contextlib
import os
import pathlib
import random
import socket
import subprocess
import tempfile
import time
import unittest

import bad_input_shards as shards
from daemon_process import PATIENCE, Daemon, Server, binary, free_port, stream_yaml, whole


def yaml(read):
    return stream_yaml([f"read: {{{read}}}", "shuffle: {window: 30}",
                        "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}",
                        "echo: {factor: 2, window: 40}", "random_resized_crop: {field: image, size: 32}",
                        "batch: {size: 8, last: partial}", "publish: {slots: 4}"])


class Starts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        shards.write_good(cls.folder)
        cls.read = f"url: '{shards.url(cls.folder)}'"

    def refused(self, daemon, *words, arguments=(), seconds=PATIENCE):
        """Exit code 1, and one line for the user that holds all the words."""
        begin = time.monotonic()
        try:
            status, log = daemon.run_to_its_end(*arguments)
        finally:
            daemon.__exit__()
        self.assertLess(time.monotonic() - begin, seconds)
        self.assertEqual(status, 1, log)
        lines = [line for line in log.splitlines() if line.startswith("echolined: ")]
        self.assertEqual(len(lines), 1, log)
        self.assertEqual(log.splitlines()[-1], lines[0], "it is the last line")
        for word in words:
            self.assertIn(word, lines[0])
        return lines[0]


class Refused(Starts):
    def test_a_memory_budget_that_does_not_fit_is_refused_with_the_numbers(self):
        line = self.refused(Daemon(yaml(self.read), memory="1MiB"), "daemon.memory", "'train'", "lacks")
        self.assertRegex(line, r"needs \d.* free")

    def test_an_occupied_socket_is_refused_and_its_daemon_goes_on(self):
        with Daemon(yaml(self.read)) as first:
            before = sorted(os.listdir(first.runtime_dir))
            second = Daemon(yaml(self.read))
            self.refused(second, str(first.runtime_dir), arguments=("--set", f"daemon.runtime_dir={first.runtime_dir}"))
            self.assertEqual(sorted(os.listdir(first.runtime_dir)), before)
            self.assertEqual(sum(len(batch["rows"]) for batch in whole(first.read())), 2 * shards.COUNT)

    def test_a_runtime_folder_that_cannot_be_made_is_refused(self):
        file = self.folder / "file"
        file.write_text("no folder")
        self.refused(Daemon(yaml(self.read)), f"{file}/run", arguments=("--set", f"daemon.runtime_dir={file}/run"))

    def test_a_state_folder_that_cannot_be_made_is_refused(self):
        file = self.folder / "file"
        file.write_text("no folder")
        self.refused(Daemon(yaml(self.read)), f"{file}/state", arguments=("--set", f"daemon.state_dir={file}/state"))

    def test_an_occupied_metrics_port_is_refused(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            port = listener.getsockname()[1]
            self.refused(Daemon(yaml(self.read), metrics=port), f"127.0.0.1:{port}", "in use", seconds=20)

    def test_a_missing_file_is_refused(self):
        self.refused(Daemon(yaml(f"url: '{self.folder}/nothing.tar'")), f"{self.folder}/nothing.tar", "No such file")

    def test_a_pattern_that_matches_nothing_is_refused(self):
        self.refused(Daemon(yaml(f"url: '{self.folder}/nothing-*.tar'")), f"{self.folder}/nothing-*.tar")

    def test_a_shard_without_a_byte_is_refused_by_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            shards.write_good(folder)
            shards.shard_path(folder, 1).write_bytes(b"")
            self.refused(Daemon(yaml(f"url: '{shards.url(folder)}'")), str(shards.shard_path(folder, 1)), "0 bytes")

    def test_a_shard_that_is_no_tar_is_refused_by_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            shards.write_good(folder)
            shards.shard_path(folder, 1).write_bytes(shards.noise(20_000))
            self.refused(Daemon(yaml(f"url: '{shards.url(folder)}'")), str(shards.shard_path(folder, 1)), "tar")

    def test_an_unreachable_endpoint_is_refused(self):
        keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
        port = free_port()
        read = f"url: 's3://photos/0.tar', endpoint: 'http://127.0.0.1:{port}', region: us-east-1"
        self.refused(Daemon(yaml(read), environment=keys), "127.0.0.1", str(port), "s3://photos/0.tar", seconds=60)

    def test_an_unknown_host_is_refused(self):
        keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
        read = "url: 's3://photos/0.tar', endpoint: 'http://no-such-host.invalid', region: us-east-1"
        self.refused(Daemon(yaml(read), environment=keys), "no-such-host.invalid", seconds=60)

    def test_a_key_that_is_missing_in_the_environment_is_refused(self):
        daemon = Daemon(yaml("url: 's3://photos/0.tar', endpoint: 'http://127.0.0.1:1', region: us-east-1"))
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            daemon.environment.pop(name, None)
        self.refused(daemon, "AWS_ACCESS_KEY_ID", seconds=20)


class RefusedByS3(Starts):
    """The same with a real server that checks signatures."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shard = shards.shard_path(cls.folder, 0)
        cls.server = Server("s3_server.py", "--dir", cls.folder / "s3", "--bucket", "photos",
                            f"--put={shard}=photos/0.tar")
        cls.addClassCleanup(cls.server.stop)

    def s3_daemon(self, url="s3://photos/0.tar", **keys):
        facts = self.server.facts
        access, secret = keys.get("access", facts["access_key"]), keys.get("secret", facts["secret_key"])
        return Daemon(yaml(f"url: '{url}', endpoint: '{facts['endpoint']}', region: us-east-1"),
                      environment={"AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": secret})

    def test_the_right_key_is_let_in(self):
        with self.s3_daemon() as daemon:
            self.assertEqual(sum(len(batch["rows"]) for batch in whole(daemon.read())), 2 * shards.RECORDS)

    def test_a_wrong_secret_is_refused_and_not_shown(self):
        line = self.refused(self.s3_daemon(secret="wrong-secret-0123"), "s3://photos/0.tar", "403")
        self.assertNotIn("wrong-secret-0123", line)

    def test_an_unknown_key_is_refused(self):
        self.refused(self.s3_daemon(access="nobody"), "s3://photos/0.tar", "403")

    def test_a_missing_bucket_is_refused(self):
        self.refused(self.s3_daemon("s3://no-such-bucket/0.tar"), "no-such-bucket")

    def test_a_missing_bucket_under_a_pattern_is_refused(self):
        self.refused(self.s3_daemon("s3://no-such-bucket/*.tar"), "no-such-bucket")

    def test_a_missing_object_is_refused(self):
        self.refused(self.s3_daemon("s3://photos/7.tar"), "s3://photos/7.tar")


class Usage(unittest.TestCase):
    def run_program(self, variable, *arguments):
        done = subprocess.run([binary(variable), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
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
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "wrong.yaml")
            file.write_text("streams:\n  train:\n    pipeline:\n      - reed: {url: a.tar}\n")
            status, _, errors = self.run_program("ECHOLINED", "--config", str(file))
            self.assertEqual(status, 1)
            self.assertRegex(errors, rf"^echolined: {file}:4:\d+: .*reed.*read")
            self.assertEqual(len(errors.splitlines()), 1)
            status, _, errors = self.run_program("ECHOLINED", "--config", f"{folder}/none.yaml")
            self.assertEqual((status, len(errors.splitlines())), (1, 1))
            self.assertIn(f"{folder}/none.yaml", errors)

    def test_no_daemon_is_exit_code_1_with_the_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            for command in (["list"], ["show", "train"], ["read", "train", "--reattach", "0s"], ["state", "train"]):
                begin = time.monotonic()
                status, _, errors = self.run_program("ECHOLINE_CLI", *command, "--runtime-dir", folder)
                self.assertEqual((status, len(errors.splitlines())), (1, 1), errors)
                self.assertIn(folder, errors)
                self.assertLess(time.monotonic() - begin, 10)


class AfterKill(unittest.TestCase):
    def test_the_next_start_needs_no_cleaning_whenever_the_daemon_was_killed(self):
        chance = random.Random(5)
        shared = set(os.listdir("/dev/shm"))
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            shards.write_good(folder)
            daemon = Daemon(yaml(f"url: '{shards.url(folder)}'"), grace="1s")
            stack.callback(daemon.__exit__)
            expected = None
            for turn in range(6):
                daemon.spawn()  # killed at any moment of its start
                time.sleep(chance.random() * 0.1)
                daemon.stop(9)
                daemon.start()
                reader = daemon.reader("--epochs", 2000, "--reattach", "0s", "--job", f"killed{turn}")
                time.sleep(chance.random() * 0.3)
                daemon.stop(9)
                begin = time.monotonic()
                reader.communicate(timeout=PATIENCE)
                self.assertEqual(reader.returncode, 1, "the trainer gets the error")
                self.assertLess(time.monotonic() - begin, 3, "at once")
                found = whole(daemon.start().read("--row-checksums", "--job", f"turn{turn}"))
                expected = expected or found
                self.assertEqual(found, expected)
                daemon.stop(9)
            daemon.start()
            self.assertEqual(daemon.stop(), 0, "SIGTERM is an orderly end")
            left = os.listdir(daemon.runtime_dir) if daemon.runtime_dir.exists() else []
            self.assertEqual(left, [], "nothing is left in the runtime folder")
        self.assertLessEqual(set(os.listdir("/dev/shm")), shared)


if __name__ == "__main__":
    unittest.main(verbosity=2)
