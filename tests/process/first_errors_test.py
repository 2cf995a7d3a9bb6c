#!/usr/bin/env python3
"""The first mistakes of a new user. Each error is one line that says what, where, and the next step."""
import http.server
import os
import pathlib
import signal
import socket
import time
import tempfile
import threading
import unittest

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, run_echoline, run_program, wait_until

DECODE = "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}"


def steps(url, more="", decode=DECODE, side=8):
    return [f"read: {{url: '{url}'{more}}}", decode, f"resize: {{field: image, size: [{side}, {side}]}}",
            "batch: {size: 4}"]


class FirstErrors(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.data = cls.class_folder()
        cls.data.chmod(0o755)
        cls.shard = photos.made_shards(cls.data, shards=1, records=8)[0].rename(cls.data / "photos.tar")

    def says(self, variable, *arguments, code=1, **options):
        """The error output of a program that must fail."""
        done = run_program(variable, *arguments, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def daemon_says(self, url, more="", decode=DECODE, side=8, **settings):
        """The last line of a daemon that must not start."""
        return self.refused(stream_yaml(steps(url, more, decode, side)), **settings).splitlines()[-1]

    def written(self, text):
        """A configuration file of this test."""
        path = self.data / f"{self.id().rpartition('.')[2]}.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    # ---- the configuration ----

    def test_no_configuration(self):
        self.assertIn("start it as 'echolined --config FILE'", self.says("ECHOLINED", code=2))
        self.assertIn("none.yaml: No such file or directory; check the path",
                      self.says("ECHOLINED", "--config", self.data / "none.yaml"))

    def test_an_empty_configuration(self):
        self.assertIn("a configuration has the keys daemon and streams",
                      self.says("ECHOLINED", "--config", self.written("")))

    def test_a_folder_for_a_configuration(self):
        self.assertIn("is it a file?", self.says("ECHOLINED", "--config", self.data))

    def test_slashes_of_an_address_that_are_missing(self):
        for wrong, right in (("s3:/photos/a.tar", "s3://photos/a.tar"), ("https:host/a.tar", "https://host/a.tar"),
                             ("gs:bucket/a", "gs://bucket/a")):
            file = self.written("streams:\n" + stream_yaml(steps(wrong)))
            said = self.says("ECHOLINE_CLI", "check", "--offline", file)
            self.assertRegex(said, rf":\d+:\d+: key 'url': .*did you mean '{right}'")

    def test_a_profile_that_is_not_looked_at(self):
        file = self.written("streams:\n" + stream_yaml(steps("s3://photos/a.tar",
                                                             ", profile: mine, credentials: environment")))
        self.assertIn("is not looked at with 'credentials: environment'; leave one of the two out",
                      self.says("ECHOLINE_CLI", "check", "--offline", file))

    # ---- the host ----

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            said = self.daemon_says(self.shard, metrics=other.getsockname()[1])
        self.assertRegex(said, r"metrics address 127.0.0.1:\d+ is in use; set daemon.metrics to another one, or to off")

    def test_a_runtime_folder_that_cannot_be_written(self):
        blocked = self.data / "blocked"
        blocked.touch()
        file = self.written(f"daemon: {{runtime_dir: {blocked}/run}}\n")
        self.assertIn("set daemon.runtime_dir to a folder of this user's", self.says("ECHOLINED", "--config", file))

    @unittest.skipIf(os.geteuid() != 0, "needs root, to become another user")
    def test_folders_and_files_of_somebody_else(self):
        own = pathlib.Path(tempfile.mkdtemp(dir=self.data))  # mode 0700, of root
        shard = own / "a.tar"
        shard.write_bytes(self.shard.read_bytes())
        nobody = 65534
        file = self.written(f"daemon: {{runtime_dir: {own}}}\n")
        file.chmod(0o644)
        self.assertIn("Permission denied", said := self.says("ECHOLINED", "--config", file, user=nobody))
        self.assertIn("set daemon.runtime_dir to a folder of this user's", said)
        self.assertIn("let the user of this process read it",
                      self.says("ECHOLINE_CLI", "index", f"{own}/*.tar", "--state-dir", "/nonexistent", user=nobody))
        said = self.says("ECHOLINE_CLI", "read", "train", "--reattach", "0s", "--runtime-dir", own, user=nobody)
        self.assertIn("make it a member of the folder's group", said)

    def test_another_daemon_and_no_daemon(self):
        with Daemon(stream_yaml(steps(self.shard))) as daemon:
            self.assertIn("is in use by another daemon; stop it, or set daemon.runtime_dir",
                          self.says("ECHOLINED", "--config", daemon.config))
            for command in ("read", "show", "delete"):
                said = self.says("ECHOLINE_CLI", command, "trian", "--runtime-dir", daemon.runtime_dir)
                self.assertIn("no stream 'trian'; there are: train", said)
            said = self.says("ECHOLINE_CLI", "show", "train", "--step", "-1", "--runtime-dir", daemon.runtime_dir,
                             code=2)
            self.assertIn("-1: steps and seeds count from 0", said)
        for command in (["list"], ["read", "train"]):
            said = self.says("ECHOLINE_CLI", *command, "--runtime-dir", self.data)
            self.assertRegex(said, "no daemon answers at .*; start .*ECHOLINE_RUNTIME_DIR")

    def test_a_daemon_that_is_still_starting(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            daemon = self.unstarted(Daemon(stream_yaml(steps(f"http://127.0.0.1:{silent.getsockname()[1]}/a.tar"))))
            daemon.spawn()
            wait_until((daemon.runtime_dir / "control.sock").exists, daemon.log)
            for command in (["read", "trian"], ["show", "trian"]):
                said = self.says("ECHOLINE_CLI", *command, "--runtime-dir", daemon.runtime_dir)
                self.assertIn("no stream 'trian'; there are: train", said)
            for command in (["show", "train", "--step", "0"], ["delete", "train"], ["set-echo", "train", "2"]):
                said = self.says("ECHOLINE_CLI", *command, "--runtime-dir", daemon.runtime_dir)
                self.assertRegex(said, "stream 'train' is just being created|the daemon is starting")
            # A store that does not answer holds a stop up for less than a second.
            begin = time.monotonic()
            self.assertEqual(daemon.stop(), 0, daemon.log())
            self.assertLess(time.monotonic() - begin, 1)
            daemon.spawn()
            wait_until((daemon.runtime_dir / "door.sock").exists, daemon.log)
            daemon.stop(signal.SIGKILL)
            # Its sockets are still there, but nobody listens.
            said = self.says("ECHOLINE_CLI", "read", "train", "--runtime-dir", daemon.runtime_dir)
            self.assertRegex(said, "no daemon answers at .*; start .*ECHOLINE_RUNTIME_DIR")

    def test_too_little_memory(self):
        said = self.daemon_says(self.shard, side=512, memory="1MiB")
        self.assertRegex(said, r"^echolined: \S+\.yaml:\d+:\d+: stream .*it lacks .*Raise daemon.memory or lower ")

    def test_a_mistake_that_is_found_after_reading_the_file_has_its_place(self):
        file = self.written(f"daemon: {{runtime_dir: {self.data}/run, state_dir: {self.data}/state}}\n"
                            f"streams:\n  train:\n    pipeline:\n    - read: {{url: {self.shard}}}\n    - {DECODE}\n"
                            "    - resize: {field: image, size: [8, 8]}\n    - echo: {factor: 3, window: 2}\n"
                            "    - batch: {size: 4}\n")
        said = self.says("ECHOLINED", "--config", file).splitlines()[-1]
        self.assertRegex(said, f"^echolined: {file}:8:33: stream 'train': echo.window: with 2 ")
        said = self.says("ECHOLINED", "--config", file, "--set", "daemon.state_dir=/proc/none").splitlines()[-1]
        self.assertRegex(said, "^echolined: --set daemon.state_dir=/proc/none: /proc/none: ")

    def test_an_older_client(self):
        with Daemon(stream_yaml(steps(self.shard))) as daemon, \
                socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
            door.connect(str(daemon.runtime_dir / "door.sock"))
            door.send(b"ECHDOOR1" + (9).to_bytes(4, "little") + bytes(1356))
            self.assertIn(b"install client library and daemon of the same release", door.recv(4096))

    # ---- the data ----

    def test_wrong_paths(self):
        self.assertIn("check the path", self.daemon_says(self.data / "foto.tar"))
        self.assertIn("no file matches; check the path", self.daemon_says(self.data / "x*.tar"))
        self.assertIn("check the path", self.daemon_says(self.data / "fotos" / "*.tar"))

    def test_a_wrong_format(self):
        self.assertIn("whether read.format is a folder's", self.daemon_says(self.shard, ", format: folder"))
        self.assertIn("check read.format", self.daemon_says(self.shard, ", format: tfrecord"))

    def test_a_wrong_key(self):
        said = self.daemon_says(self.shard, decode="decode: {image: {key: png, as: rgb}}")
        self.assertIn("field image (png): the record has no such file; it has: jpg, cls", said)

    def test_a_file_of_classes_that_lacks_one(self):
        folder = self.data / "classes"
        for name in ("cat", "dog"):
            (folder / name).mkdir(parents=True)
            (folder / name / "0.jpg").write_bytes(photos.photo(0)[0])
        names = self.data / "names"
        names.write_text("cat\n", encoding="utf-8")
        said = self.daemon_says(folder, f", format: folder, classes: '{names}'")
        self.assertRegex(said, "dog.*names")

    def test_a_server_without_tls(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
        server.RequestHandlerClass.log_message = lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        said = self.daemon_says(f"https://127.0.0.1:{server.server_port}/a.tar")
        self.assertIn("the server speaks no TLS there: write http:// in read.url or the endpoint", said)

    def test_s3_without_credentials(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        environment |= {"HOME": str(self.data), "AWS_EC2_METADATA_DISABLED": "true"}
        said = self.says("ECHOLINE_CLI", "index", "s3://photos/a.tar", environment=environment)
        self.assertIn("no credentials are set up; set AWS_ACCESS_KEY_ID", said)

    def test_an_endpoint_without_http_is_called_as_it_was_written(self):
        said = self.says("ECHOLINE_CLI", "index", "s3://photos/a.tar", "--endpoint", "127.0.0.1:9000", code=2)
        self.assertIn("--endpoint: '127.0.0.1:9000' is no address; allowed: http://host:port", said)

    def test_a_changed_file_is_named(self):
        shard = self.data / "changing.tar"
        shard.write_bytes(self.shard.read_bytes())
        with Daemon(stream_yaml(steps(shard))) as daemon:
            shard.write_bytes(self.shard.read_bytes() + bytes(1024))
            for _ in range(20):
                done = daemon.reader("--epochs", 100, "--reattach", "0s")
                _, errors = done.communicate(timeout=PATIENCE)
                if done.returncode != 0:
                    break
        self.assertRegex(errors.decode(), "changing.tar: it changed since it was indexed .*restart the daemon, or")

    # ---- check ----

    def test_check_says_that_there_are_no_streams(self):
        done = run_echoline("check", self.written("daemon: {memory: 1GiB}\n"))
        self.assertIn("no streams in it; 'echoline create FILE' adds some", done.stdout)

    def test_check_leaves_nothing_behind_and_names_a_pass_without_room(self):
        state = self.data / "state"
        pipeline = steps(self.shard, side=32)
        pipeline.insert(1, f"cache: {{disk: {{path: {self.data}/nvme/cache, size: 1GiB}}}}")
        pipeline.append("publish: {slots: 64, when_slow: split}")
        file = self.written(f"daemon: {{memory: 1500KiB, state_dir: {state}}}\nstreams:\n{stream_yaml(pipeline)}")
        for command in (["index", file], ["check", file]):
            done = run_echoline(*command)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "when_slow: split needs .* for a second pass, .* raise daemon.memory by ")
        self.assertEqual([path.name for path in self.data.iterdir() if "nvme" in path.name or "check" in path.name],
                         [file.name])


if __name__ == "__main__":
    main()
