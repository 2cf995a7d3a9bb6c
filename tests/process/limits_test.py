#!/usr/bin/env python3
"""A daemon that may have no more files or threads: who asks for more is told so, others go on, and with a higher limit it
takes new trainers and streams at once."""
import os
import resource
import shutil
import subprocess
import unittest

from support import photos
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library

# All threads of a user count, so it has no other processes.
USER = 50_000 + os.getpid() % 10_000
NO_MORE_THREADS = "no more threads; raise the limit (TasksMax of systemd"

require_library()


def require_root():
    """Skips the rest of a test where no process can be of another user."""
    if os.geteuid() != 0 or not shutil.which("prlimit"):
        raise unittest.SkipTest("only root can limit the threads of another user, with prlimit")


class Limits(ProcessCase):
    def setUp(self):
        super().setUp()
        folder = self.folder()
        folder.chmod(0o755)
        self.shard = photos.made_shards(folder, shards=1, records=16)[0]
        self.shard.chmod(0o644)

    def daemon(self, **options):
        return self.started(Daemon(stream_yaml(photos.pipeline(self.shard)), **options))

    def reading(self, daemon):
        """A trainer that reads on and on."""
        return self.trainer(daemon, "--job", "first", "--pace", 0.01).await_batches(5)

    def refusal(self, daemon):
        """Why another job, which needs another pass, cannot attach."""
        done = daemon.command("read", "train", "--epochs", 1, "--job", "other", "--reattach", "0s")
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def check_reads(self, daemon):
        self.assertTrue(daemon.read("--epochs", 1, "--job", "other"))

    def test_without_a_free_descriptor_trainers_that_are_there_go_on(self):
        daemon = self.daemon()
        reading = self.reading(daemon)
        process = daemon.process.pid
        before = resource.prlimit(process, resource.RLIMIT_NOFILE)
        used = max(int(number) for number in os.listdir(f"/proc/{process}/fd")) + 1
        resource.prlimit(process, resource.RLIMIT_NOFILE, (used + 1, before[1]))
        self.assertIn("Too many open files; raise the limit of open files (LimitNOFILE", self.refusal(daemon))
        self.assertEqual(daemon.command("list").returncode, 1)
        reading.await_more_batches(20)
        resource.prlimit(process, resource.RLIMIT_NOFILE, before)
        self.check_reads(daemon)
        self.assertEqual(daemon.command("list").returncode, 0)
        reading.await_more_batches(5)

    def test_without_a_further_thread_it_names_the_limit_and_goes_on(self):
        require_root()
        daemon = self.daemon(user=USER)
        reading = self.reading(daemon)
        self.assertEqual(daemon.command("list").returncode, 0)  # so gRPC has a second thread
        more = daemon.folder / "more.yaml"
        more.write_text("streams:\n" + stream_yaml(photos.pipeline(self.shard), name="more"), encoding="utf-8")
        self.limit_threads(daemon, 1)
        self.assertIn(NO_MORE_THREADS, self.refusal(daemon))
        created = daemon.command("create", more)
        self.assertIn("stream 'more': ", created.stderr)
        self.assertIn(NO_MORE_THREADS, created.stderr)
        reading.await_more_batches(20)
        self.limit_threads(daemon, 5_000)
        self.check_reads(daemon)
        self.assertEqual(daemon.command("create", more).returncode, 0)
        self.assertEqual(daemon.command("delete", "more").returncode, 0)

    def limit_threads(self, daemon, count):
        subprocess.run(["prlimit", "--pid", str(daemon.process.pid), f"--nproc={count}:"], user=USER, group=USER, check=True)

    def test_a_start_with_too_few_of_them_ends_with_the_limit(self):
        streams = stream_yaml(photos.pipeline(self.shard))
        self.assertIn("Too many open files; raise the limit", self.refused(streams, limits={resource.RLIMIT_NOFILE: 8}))
        require_root()
        self.assertIn(NO_MORE_THREADS, self.refused(streams, limits={resource.RLIMIT_NPROC: 1}, user=USER))


if __name__ == "__main__":
    main()
