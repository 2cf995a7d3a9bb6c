"""echoline.serve: a private daemon starts, loaders find it, and it leaves nothing behind."""
import os
import pathlib
import stat
import sys
import tempfile
import unittest

import echoline
from ring_server import PROGRAM

# A script that takes the arguments of echolined and runs the daemon for tests.
FAKE_DAEMON = f"""#!/bin/sh
test "$1" = --config && test -f "$2" && test "$3" = --set || exit 2
dir=${{4#daemon.runtime_dir=}}
echo "settings: $*" >&2
mkfifo "$dir/leash"
sleep 1000 > "$dir/leash" &
trap 'kill $! $daemon' TERM
{PROGRAM} "dir=$dir" < "$dir/leash" &
daemon=$!
until test -S "$dir/door.sock"; do sleep 0.01; done
{sys.executable} -c 'import os, socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])'
wait
"""


class Serve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config = self.folder / "stream.yaml"
        self.config.write_text("streams: {}\n", encoding="utf-8")
        self.addCleanup(os.environ.pop, "ECHOLINE_DAEMON", None)

    def daemon(self, text):
        program = self.folder / "echolined"
        program.write_text(text, encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        os.environ["ECHOLINE_DAEMON"] = str(program)

    def test_inside_a_loader_finds_it_and_after_it_nothing_is_left(self):
        self.daemon(FAKE_DAEMON)
        with echoline.serve(self.config, settings={"daemon.workers": 3}) as daemon:
            self.assertEqual(stat.S_IMODE(os.stat(daemon.runtime_dir).st_mode), 0o700)
            with daemon.loader("train", batch_size=8) as loader:
                self.assertEqual(loader.batch_size, 8)
                found = echoline.Loader("train")
            self.assertEqual(sum(batch.rows for batch in found), 40)
            self.assertIn("daemon.workers=3", daemon.log())
        self.assertFalse(os.path.exists(daemon.runtime_dir))
        self.assertNotIn("ECHOLINE_RUNTIME_DIR", os.environ)
        with self.assertRaises(ProcessLookupError):
            os.kill(daemon.pid, 0)

    def test_a_daemon_that_fails_is_quoted(self):
        self.daemon("#!/bin/sh\necho 'stream.yaml:3:5: unknown key shufle; did you mean shuffle?' >&2\nexit 1\n")
        with self.assertRaisesRegex(echoline.Error, "(?s)exit code 1.*did you mean shuffle"):
            with echoline.serve(self.config):
                self.fail("started")

    def test_a_path_that_is_too_long_for_a_socket_is_named_and_nothing_is_left(self):
        long = self.folder / ("x" * 100)
        long.mkdir()
        before, tempfile.tempdir = tempfile.tempdir, str(long)
        try:
            with self.assertRaisesRegex(echoline.InvalidArgument, "ready: no socket can be made there: .*set TMPDIR"):
                with echoline.serve(self.config):
                    pass
        finally:
            tempfile.tempdir = before
        self.assertEqual(list(long.iterdir()), [])

    def test_a_daemon_that_is_never_ready_is_stopped(self):
        self.daemon("#!/bin/sh\necho indexing >&2\nexec sleep 1000\n")
        with self.assertRaisesRegex(echoline.Error, "(?s)not ready within 0.5 s.*indexing"):
            with echoline.serve(self.config, timeout=0.5):
                self.fail("started")

    def test_the_folder_is_its_own(self):
        self.daemon(FAKE_DAEMON)
        with self.assertRaisesRegex(echoline.InvalidArgument, "daemon.runtime_dir is chosen by serve"):
            with echoline.serve(self.config, settings={"daemon.runtime_dir": "/tmp/x"}):
                self.fail("started")

    def test_without_a_daemon_it_says_where_it_looked(self):
        os.environ["ECHOLINE_DAEMON"] = "/nowhere/echolined"
        with self.assertRaisesRegex(echoline.NotFound, "/nowhere/echolined"):
            with echoline.serve(self.config):
                self.fail("started")


if __name__ == "__main__":
    unittest.main(verbosity=1)
