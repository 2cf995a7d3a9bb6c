"""Servers of tests/servers as processes."""
import contextlib
import json
import subprocess
import sys
import unittest

from s3_client import S3Client

from support import TESTS


class Server:
    """A started server program; `facts` is what it announced. SkipTest where the program that it wraps is missing."""

    def __init__(self, script, *arguments):
        self.process = subprocess.Popen([sys.executable, "-B", str(TESTS / "servers" / script), *map(str, arguments)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            if self.process.wait() == 77:
                raise unittest.SkipTest(f"{script} lacks its program")
            raise RuntimeError(f"{script} ended with {self.process.returncode}")
        self.facts = json.loads(line)

    def put(self, bucket, key, body):
        """Stores an object in the S3 server."""
        client = S3Client("127.0.0.1", self.facts["port"], self.facts["access_key"], self.facts["secret_key"])
        with contextlib.closing(client.connection):
            client.put(bucket, key, body)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
