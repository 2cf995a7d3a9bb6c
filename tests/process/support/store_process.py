"""Object stores that hold copies of a data set's files."""
import contextlib
import json
import os
import pathlib
import signal
import urllib.parse
import urllib.request

from s3_client import S3Client
from s3_server import write_identities

from support.programs import wait_until
from support.server_process import Server

BUCKET = "photos"


class S3Store:
    """An S3 server that a test can kill and start again on the same port with its data. It holds copies of the files at
    `paths`, below set/ of the bucket; `keys` maps paths to other names. SkipTest where the server is missing."""

    def __init__(self, folder, paths, keys=None):
        self.paths = [pathlib.Path(path) for path in paths]
        self.folder = pathlib.Path(folder, "s3")
        self.port = 0  # the server chooses one at its first start
        keys = keys or {path: f"set/{path.name}" for path in self.paths}
        self.start(*(f"--put={path}={BUCKET}/{key}" for path, key in keys.items()))
        self.port, self.endpoint = self.server.facts["port"], self.server.facts["endpoint"]

    def start(self, *more):
        self.server = Server("s3_server.py", "--dir", self.folder, "--port", self.port, "--bucket", BUCKET, *more)

    def put(self, key, content):
        self.server.put(BUCKET, key, content)

    def replace_keys(self, environment):
        """From now on the server knows only this key (as in `environment`) and the reader's with its secret."""
        key, secret = environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"]
        write_identities(self.folder, key, secret)
        os.kill(self.server.facts["server_pid"], signal.SIGHUP)
        wait_until(lambda: self._accepts(key, secret), "the server accepts the new key")

    def _accepts(self, key, secret):
        client = S3Client("127.0.0.1", self.port, key, secret)
        with contextlib.closing(client.connection):
            try:
                client.make_bucket(BUCKET)
                return True
            except RuntimeError:
                return False

    def kill(self):
        os.kill(self.server.facts["server_pid"], signal.SIGKILL)
        self.server.stop()

    def stop(self):
        self.server.stop()

    @property
    def url(self):
        """A pattern for all shards: their names differ only after the last hyphen."""
        stem = min(path.name for path in self.paths).rpartition("-")[0]
        return f"s3://{BUCKET}/set/{stem}-*.tar"

    def _credentials(self, key):
        return {"AWS_ACCESS_KEY_ID": self.server.facts[key], "AWS_SECRET_ACCESS_KEY": self.server.facts["secret_key"]}

    @property
    def environment(self):
        """The credentials of a user who may read and write."""
        return self._credentials("access_key")

    @property
    def reader_environment(self):
        """The credentials of a user who may only read."""
        return self._credentials("reader_key")

    def read_keys(self, url=None, endpoint=None):
        """The keys of a `read` step in YAML's flow form, without braces."""
        return f"url: '{url or self.url}', endpoint: '{endpoint or self.endpoint}', region: us-east-1"


class HubStore:
    """A data set with the interface of the Hugging Face Hub, which needs a token, and the storage of its files."""
    repository = "hf://datasets/photos/set"
    token = "hf_process_test"

    def __init__(self):
        self.server = Server("hub_server.py")
        self.endpoint = self.server.facts["endpoint"]
        self.environment = {"HF_TOKEN": self.token, "HF_ENDPOINT": self.endpoint}
        self._ask(f"set?token={self.token}&private=1&page=2")

    def put(self, path, content):
        """Makes a commit, and returns its name."""
        query = urllib.parse.urlencode({"repo": "photos/set", "path": path})
        return self._ask(f"commit?{query}", content)

    def counts(self):
        """How often each kind of request came."""
        return json.loads(self._ask("counts"))

    def expire(self):
        """Ends all addresses of the storage that were given."""
        self._ask("expire")

    def _ask(self, what, content=None):
        with urllib.request.urlopen(f"{self.endpoint}/test/{what}", content) as answer:
            return answer.read().decode()

    def stop(self):
        self.server.stop()


class GcsStore:
    """A server that speaks as Google Cloud Storage and checks tokens, and the server that issues these."""

    def __init__(self):
        self.server, self.tokens = Server("gcs_server.py", "--tokens"), Server("credential_server.py")
        self.endpoint, self.direct = self.server.facts["endpoint"], self.server.facts["direct"]
        self.environment = {"GOOGLE_APPLICATION_CREDENTIALS": self.tokens.facts["key_file"]}

    def put(self, key, content):
        query = urllib.parse.urlencode({"uploadType": "media", "name": key})
        urllib.request.urlopen(urllib.request.Request(
            f"{self.direct}/upload/storage/v1/b/{BUCKET}/o?{query}", content,
            {"Content-Type": "application/octet-stream"})).close()

    def get(self, key):
        name = urllib.parse.quote(key, safe="")
        with urllib.request.urlopen(f"{self.direct}/storage/v1/b/{BUCKET}/o/{name}?alt=media") as answer:
            return answer.read()

    def stop(self):
        self.server.stop()
        self.tokens.stop()
