"""A daemon that uses all features, and its trainers: a throttled store over HTTP, caches in memory and on disk, echo, records
that cannot be decoded, and a control service over TLS. SkipTest where nginx is missing."""
import fcntl
import io
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))
from support.certificates import Authority  # noqa: E402
from support.daemon_process import Daemon, stream_yaml  # noqa: E402
from support.programs import free_port  # noqa: E402
from support.server_process import Server  # noqa: E402

SHARDS, RECORDS, BATCH = 4, 1000, 16
BAD = range(7, 12)  # records without a label


def write_shards(folder):
    """Records of a small array, a label, and ballast that no step decodes."""
    draw = random.Random(1)
    for shard in range(SHARDS):
        with tarfile.open(pathlib.Path(folder, f"records-{shard}.tar"), "w") as tar:
            for record in range(shard * RECORDS // SHARDS, (shard + 1) * RECORDS // SHARDS):
                files = {"u8": draw.randbytes(64), "cls": b"" if record in BAD else b"%d" % record,
                         "pad": draw.randbytes(20_000)}
                for name, content in files.items():
                    member = tarfile.TarInfo(f"{record:06d}.{name}")
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))


def stream(address, name="train", disk=None):
    caches = "memory: 4MiB" + (f", disk: {{path: {disk}, size: 4MiB}}" if disk else "")
    return stream_yaml([f"read: {{url: '{address}', format: webdataset, throttle: {{latency: 2ms, rate: 8MB/s}}}}",
                        f"cache: {{{caches}}}", "shuffle: {window: 200}",
                        "decode: {image: {key: u8, as: uint8, shape: [8, 8, 1]}, label: {key: cls, as: int64}}",
                        "echo: {factor: 2, window: 200}", "random_crop: {field: image, size: 8, padding: 2}",
                        f"batch: {{size: {BATCH}, last: partial}}", "publish: {slots: 4}"],
                       more="    bad_records: {limit: 50%}\n", name=name)


class WatchedRun:
    """`with` starts store and daemon; `train` starts a trainer."""

    def __init__(self):
        self.server = Server("web_server.py")
        self.disk = tempfile.TemporaryDirectory()
        write_shards(self.server.facts["root"])
        self.trainers = []
        address = self.server.facts["endpoint"] + f"/records-{{0..{SHARDS - 1}}}.tar"
        self.port = free_port()
        self.certificates = tempfile.TemporaryDirectory()
        authority = Authority(self.certificates.name)
        server = authority.issue("server", days=30)  # no alert
        self.daemon = Daemon(stream(address, disk=self.disk.name), metrics=self.port,
                             control=f"operators: ['CN=ops'], listen: '127.0.0.1:{free_port()}', client_ca: {authority.file}, "
                                     f"certificate: {server.certificate}, key: {server.key}")

    def train(self, job, step=0.01):
        """Starts a trainer that takes `step` seconds for each batch: it writes a line a batch to a small pipe, which this
        process reads slowly."""
        trainer = self.daemon.reader("--job", job, "--epochs", 100000)
        fcntl.fcntl(trainer.stdout, fcntl.F_SETPIPE_SZ, 4096)
        self.trainers.append(trainer)

        def read():
            while trainer.stdout.readline():
                time.sleep(step)

        threading.Thread(target=read, daemon=True).start()

    def train_on_gpu(self):
        """Starts the example program on the fake CUDA driver."""
        program, driver = (os.environ.get(name) for name in ("ECHOLINE_GPU_RATE", "ECHOLINE_FAKE_CUDA"))
        if not program or not driver:
            raise unittest.SkipTest("ECHOLINE_GPU_RATE and ECHOLINE_FAKE_CUDA name no program and no driver's folder")
        self.trainers.append(subprocess.Popen(
            [program, "train", "100000", "2", "3"], stdin=subprocess.DEVNULL,
            env={**os.environ, "ECHOLINE_RUNTIME_DIR": str(self.daemon.runtime_dir), "LD_LIBRARY_PATH": driver}))

    def __enter__(self):
        try:
            self.daemon.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for trainer in self.trainers:
            trainer.kill()
            trainer.wait()
        self.daemon.close()
        self.server.stop()
        self.disk.cleanup()
        self.certificates.cleanup()
