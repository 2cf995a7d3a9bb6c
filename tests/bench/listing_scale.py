#!/usr/bin/env python3
"""Time and memory of listing many objects of an S3 bucket, by `echoline index` of class folders, whose index is the
listing. Prints a Markdown table; judges nothing.

    ECHOLINE_CLI=... listing_scale.py [--objects N] [--latencies 0,30]

The bucket is made up: a server of this script's own answers ListObjectsV2 with pages of 1000 names that it computes,
each after a latency in milliseconds. Filling a real server with a million objects would take hours."""
import argparse
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time
import urllib.parse

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "process"), str(TESTS / "servers")]

from index_scale import index  # noqa: E402
from starter import Handler, end_with_parent, local_server  # noqa: E402

PAGE = 1000
KEYS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "not-a-secret"}


def entry(number):
    return (f"<Contents><Key>class{number // 1000:04d}/{number:08d}.jpg</Key><LastModified>2026-01-01T00:00:00.000Z"
            f"</LastModified><ETag>&quot;{number:032x}&quot;</ETag><Size>{100_000 + number % 1000}</Size>"
            "<StorageClass>STANDARD</StorageClass></Contents>")


class Bucket(Handler):
    objects = 0
    latency = 0.0

    def do_GET(self):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        first = int(query.get("continuation-token", 0))
        end = min(first + min(int(query["max-keys"]), PAGE), self.objects)
        time.sleep(self.latency)
        more = f"<NextContinuationToken>{end}</NextContinuationToken>" if end < self.objects else ""
        self.answer(200, '<?xml version="1.0" encoding="UTF-8"?>'
                         '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>photos</Name>'
                         f"<MaxKeys>{PAGE}</MaxKeys><EncodingType>url</EncodingType><KeyCount>{end - first}</KeyCount>"
                         f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>{more}"
                         f"{''.join(map(entry, range(first, end)))}</ListBucketResult>")


def serve(objects, latency, announced):
    end_with_parent()
    Bucket.objects, Bucket.latency = objects, latency
    server = local_server(Bucket)
    announced.send(server.server_port)
    server.serve_forever()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--latencies", default="0,30", help="of a page, in milliseconds")
    options = parser.parse_args()
    os.environ.update(KEYS)
    print("| objects | page latency | listed in | memory |\n|---|---|---|---|")
    for latency in options.latencies.split(","):
        port, announced = multiprocessing.Pipe(duplex=False)
        # In a process of its own, as a bucket is: it computes while the client reads.
        server = multiprocessing.Process(target=serve, args=(options.objects, float(latency) / 1000, announced))
        server.start()
        try:
            with tempfile.TemporaryDirectory() as state:
                seconds, megabytes, facts = index("s3://photos/", state, "--format", "folder", "--endpoint",
                                                  f"http://127.0.0.1:{port.recv()}")
        finally:
            server.terminate()
            server.join()
        print(f"| {facts['records']:,} | {latency} ms | {seconds:.1f} s | {megabytes:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
