#!/usr/bin/env python3
"""What a new user does wrong first. Each error is one line that says what, where, and the next step."""
import http.server
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import line_photos
from daemon_process import PATIENCE, Daemon, binary, stream_yaml

DECODE = "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}"


def steps(url, more="", decode=DECODE, side=8):
    return [f"read: {{url: '{url}'{more}}}", decode, f"resize: {{field: image, size: [{side}, {side}]}}",
            "batch: {size: 4}"]


class FirstErrors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.folder.chmod(0o755)
        cls.shard = cls.folder / "photos.tar"
        files = []
        for number in range(8):
            content, label = line_photos.photo(number)
            files += [(f"{number}.jpg", content), (f"{number}.cls", str(label).encode())]
        line_photos.write_tar(cls.shard, files)

    def says(self, variable, *arguments, code=1, user=None, environment=None):
        """The one line of a program that refuses."""
        done = subprocess.run([binary(variable), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE, check=False, user=user,
                              env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def daemon_says(self, url, more="", decode=DECODE, side=8, **settings):
        with tempfile.TemporaryDirectory() as folder:
            daemon = Daemon(stream_yaml(steps(url, more, decode, side)), folder=folder, **settings)
            code, log = daemon.run_to_its_end()
            self.assertEqual(code, 1, log)
            return log.splitlines()[-1]

    def written(self, text):
        path = self.folder / f"{self.id().rpartition('.')[2]}.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    # ---- the configuration ----

    def test_no_configuration(self):
        self.assertIn("start it as 'echolined --config FILE'", self.says("ECHOLINED", code=2))
        self.assertIn("none.yaml: No such file or directory; check the path",
                      self.says("ECHOLINED", "--config", self.folder / "none.yaml"))

    def test_an_empty_configuration(self):
        self.assertIn("a configuration has the keys daemon and streams",
                      self.says("ECHOLINED", "--config", self.written("")))

    def test_a_folder_for_a_configuration(self):
        self.assertIn("is it a file?", self.says("ECHOLINED", "--config", self.folder))

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
        blocked = self.folder / "blocked"
        blocked.touch()
        file = self.written(f"daemon: {{runtime_dir: {blocked}/run}}\n")
        self.assertIn("set daemon.runtime_dir to a folder of this user's", self.says("ECHOLINED", "--config", file))

    @unittest.skipIf(os.geteuid() != 0, "needs root, to become another user")
    def test_folders_and_files_of_somebody_else(self):
        own = pathlib.Path(tempfile.mkdtemp(dir=self.folder))  # mode 0700, of root
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
            said = self.says("ECHOLINE_CLI", *command, "--runtime-dir", self.folder)
            self.assertRegex(said, "no daemon answers at .*; start .*ECHOLINE_RUNTIME_DIR")

    def test_a_daemon_that_is_still_starting(self):
        with socket.create_server(("127.0.0.1", 0)) as silent, tempfile.TemporaryDirectory() as folder:
            daemon = Daemon(stream_yaml(steps(f"http://127.0.0.1:{silent.getsockname()[1]}/a.tar")), folder=folder)
            daemon.spawn()
            self.addCleanup(daemon.stop, signal.SIGKILL)
            deadline = time.monotonic() + PATIENCE
            while not (daemon.runtime_dir / "control.sock").exists():
                self.assertLess(time.monotonic(), deadline, daemon.log())
                time.sleep(0.01)
            said = self.says("ECHOLINE_CLI", "read", "train", "--runtime-dir", daemon.runtime_dir)
            self.assertIn("its streams are not ready yet: wait for 'ready' in its log", said)
            daemon.stop(signal.SIGKILL)

    def test_too_little_memory(self):
        self.assertRegex(self.daemon_says(self.shard, side=512, memory="1MiB"), "it lacks .*Raise daemon.memory or lower ")

    def test_an_older_client(self):
        with Daemon(stream_yaml(steps(self.shard))) as daemon, \
                socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
            door.connect(str(daemon.runtime_dir / "door.sock"))
            door.send(b"ECHDOOR1" + (9).to_bytes(4, "little") + bytes(1356))
            self.assertIn(b"install client library and daemon of the same release", door.recv(4096))

    # ---- the data ----

    def test_wrong_paths(self):
        self.assertIn("check the path", self.daemon_says(self.folder / "foto.tar"))
        self.assertIn("no file matches; check the path", self.daemon_says(self.folder / "x*.tar"))
        self.assertIn("check the path", self.daemon_says(self.folder / "fotos" / "*.tar"))

    def test_a_wrong_format(self):
        self.assertIn("whether read.format is a folder's", self.daemon_says(self.shard, ", format: folder"))
        self.assertIn("check read.format", self.daemon_says(self.shard, ", format: tfrecord"))

    def test_a_wrong_key(self):
        said = self.daemon_says(self.shard, decode="decode: {image: {key: png, as: rgb}}")
        self.assertIn("field image (png): the record has no such file; it has: jpg, cls", said)

    def test_a_file_of_classes_that_lacks_one(self):
        folder = self.folder / "classes"
        for name in ("cat", "dog"):
            (folder / name).mkdir(parents=True)
            (folder / name / "0.jpg").write_bytes(line_photos.photo(0)[0])
        names = self.folder / "names"
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
        environment |= {"HOME": str(self.folder), "AWS_EC2_METADATA_DISABLED": "true"}
        said = self.says("ECHOLINE_CLI", "index", "s3://photos/a.tar", environment=environment)
        self.assertIn("no credentials are set up; set AWS_ACCESS_KEY_ID", said)

    def test_an_endpoint_without_http_is_called_as_it_was_written(self):
        said = self.says("ECHOLINE_CLI", "index", "s3://photos/a.tar", "--endpoint", "127.0.0.1:9000")
        self.assertIn("--endpoint: '127.0.0.1:9000' is no address; allowed: http://host:port", said)

    def test_a_changed_file_is_named(self):
        shard = self.folder / "changing.tar"
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
        done = subprocess.run([binary("ECHOLINE_CLI"), "check", str(self.written("daemon: {memory: 1GiB}\n"))],
                              capture_output=True, text=True, check=True)
        self.assertIn("no streams in it; 'echoline create FILE' adds some", done.stdout)

    def test_check_leaves_nothing_behind_and_names_a_pass_without_room(self):
        state = self.folder / "state"
        pipeline = steps(self.shard, side=32)
        pipeline.insert(1, f"cache: {{disk: {{path: {self.folder}/nvme/cache, size: 1GiB}}}}")
        pipeline.append("publish: {slots: 64, when_slow: split}")
        file = self.written(f"daemon: {{memory: 1500KiB, state_dir: {state}}}\nstreams:\n{stream_yaml(pipeline)}")
        for command in (["index", file], ["check", file]):
            done = subprocess.run([binary("ECHOLINE_CLI"), *map(str, command)], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "when_slow: split needs .* for a second pass, .* raise daemon.memory by ")
        self.assertEqual([path.name for path in self.folder.iterdir() if "nvme" in path.name or "check" in path.name],
                         [file.name])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
