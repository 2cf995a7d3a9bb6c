"""An S3 server on a port of its own that can go away and come back with its data."""
import os
import pathlib
import signal

from daemon_process import Server, free_port

BUCKET = "photos"


class Store:
    """Holds copies of the files at `paths`, below set/ of the bucket; SkipTest where the server is missing."""

    def __init__(self, folder, paths):
        self.paths = [pathlib.Path(path) for path in paths]
        self.folder = pathlib.Path(folder, "s3")
        self.port = free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.start(*(f"--put={path}={BUCKET}/set/{path.name}" for path in self.paths))

    def start(self, *more):
        self.server = Server("s3_server.py", "--dir", self.folder, "--port", self.port, "--bucket", BUCKET, *more)

    def kill(self):
        os.kill(self.server.facts["server_pid"], signal.SIGKILL)
        self.server.stop()

    @property
    def url(self):
        """Of all shards, whose names differ in what stands behind the last hyphen."""
        stem = min(path.name for path in self.paths).rpartition("-")[0]
        return f"s3://{BUCKET}/set/{stem}-*.tar"

    @property
    def environment(self):
        return {"AWS_ACCESS_KEY_ID": self.server.facts["access_key"],
                "AWS_SECRET_ACCESS_KEY": self.server.facts["secret_key"]}
