#!/usr/bin/env python3
"""Time and memory to list many objects of an S3 bucket, by `echoline index` of class folders, whose index is the listing;
to publish that listing; and to load it on another host. Prints a Markdown table and judges nothing.

    ECHOLINE_CLI=... listing_scale.py [--objects N] [--latencies 0,30]

The bucket is simulated: a server of this script answers ListObjectsV2 with pages of 1000 computed names and keeps what is
written, each answer after a latency in milliseconds. It would take hours to fill a real server with a million objects."""
import argparse
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "servers"))

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
    written = {}  # contents by path

    def do_PUT(self):
        self.written[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.latency)
        self.answer(200, b"", [("ETag", '"published"')])

    def do_HEAD(self):
        time.sleep(self.latency)
        content = self.written.get(self.path)
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.send_header("ETag", '"published"')
        self.end_headers()

    def do_GET(self):
        time.sleep(self.latency)
        if self.path.endswith(".echoline-index"):
            self.answer_range(self.written.get(self.path))
        else:
            self.answer_page()

    def answer_range(self, content):
        if content is None:
            return self.answer(404, b"")
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        return self.answer(206, content[first:last + 1],
                           [("ETag", '"published"'), ("Content-Range", f"bytes {first}-{last}/{len(content)}")])

    def answer_page(self):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        first = int(query.get("continuation-token", 0))
        end = min(first + min(int(query["max-keys"]), PAGE), self.objects)
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
    parser.add_argument("--latencies", default="0,30", help="of an answer, in milliseconds")
    options = parser.parse_args()
    os.environ.update(KEYS)
    print("| objects | latency | listed in | memory | listed and published in | memory | loaded in | memory |\n"
          "|---|---|---|---|---|---|---|---|")
    for latency in options.latencies.split(","):
        port, announced = multiprocessing.Pipe(duplex=False)
        # In a process of its own, as a bucket is: it computes while the client reads.
        server = multiprocessing.Process(target=serve, args=(options.objects, float(latency) / 1000, announced))
        server.start()
        try:
            endpoint = f"http://127.0.0.1:{port.recv()}"
            cells = []
            for more in ([], ["--publish"], []):
                with tempfile.TemporaryDirectory() as state:
                    seconds, megabytes, facts = index("s3://photos/", state, "--format", "folder", "--endpoint",
                                                      endpoint, *more)
                cells.append(f"{seconds:.2f} s | {megabytes:.0f} MB")
        finally:
            server.terminate()
            server.join()
        print(f"| {facts['records']:,} | {latency} ms | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
