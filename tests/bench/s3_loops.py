#!/usr/bin/env python3
"""The loops of other loaders over records in an S3 server, as in their manuals, for s3.py. Each reads every record's bytes
once and prints {"bytes", "seconds", "cpu_seconds"}, after its imports. Credentials and endpoint are in the environment.

    s3_loops.py webdataset PROCESSES URL...            signed addresses, through pipes from curl
    s3_loops.py spdl THREADS ENDPOINT BUCKET KEY...    with boto3
    s3_loops.py mosaicml|litdata WORKERS REMOTE        in their own formats, with DataLoader's worker processes
    s3_loops.py sources LOOP ENDPOINT BUCKET FOLDER RECORDS SIZE KEY...
        prepares what LOOP reads: prints {"sources": its arguments, "upload": files that must be in the bucket}"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

from suite.rounds import children_cpu_seconds


def count_webdataset(urls):
    import webdataset

    shards = [f"pipe:curl -s -f '{url}'" for url in urls]
    return sum(len(sample["bin"]) for sample in webdataset.WebDataset(shards, shardshuffle=False))


def webdataset_loop(processes, *urls):
    """As with `processes` DataLoader workers: each process reads other shards."""
    import webdataset  # the processes have it then

    def run():
        if processes == 1:
            return count_webdataset(urls)
        with concurrent.futures.ProcessPoolExecutor(processes) as pool:
            return sum(pool.map(count_webdataset, [urls[place::processes] for place in range(processes)]))

    return run


def spdl_loop(threads, endpoint, bucket, *keys):
    import boto3
    import botocore.config
    import spdl.io
    from spdl.pipeline import PipelineBuilder

    config = botocore.config.Config(max_pool_connections=threads, s3={"addressing_style": "path"})

    def run():
        client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", config=config)

        def download(key):
            return client.get_object(Bucket=bucket, Key=key)["Body"].read()

        def cut(shard):
            return [bytes(content) for _, content in spdl.io.iter_tarfile(shard)]

        pipeline = (PipelineBuilder().add_source(keys).pipe(download, concurrency=threads)
                    .pipe(cut, concurrency=2).disaggregate().add_sink(1000).build(num_threads=threads + 2))
        with pipeline.auto_stop():
            return sum(map(len, pipeline))

    return run


def torch_loop(open_data_set, workers, size_of):
    """Batches of 64 records by DataLoader's workers; a batch stays a list. `open_data_set` gets a folder for its cache."""
    import torch.utils.data

    def run():
        with tempfile.TemporaryDirectory() as local:
            loader = torch.utils.data.DataLoader(open_data_set(local), batch_size=64, num_workers=workers, collate_fn=list)
            return sum(size_of(sample) for batch in loader for sample in batch)

    return run


def mosaicml_loop(workers, remote):
    import streaming

    return torch_loop(lambda local: streaming.StreamingDataset(remote=remote, local=local, shuffle=False, batch_size=64),
                      workers, lambda sample: len(sample["bin"]))


def litdata_loop(workers, remote):
    import litdata
    from litdata.streaming.resolver import Dir

    return torch_loop(lambda local: litdata.StreamingDataset(Dir(path=local, url=remote)), workers, len)


def webdataset_sources(endpoint, bucket, _folder, _records, _size, *keys):
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    return [client.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key}) for key in keys], []


def mosaicml_sources(_endpoint, bucket, folder, records, size, *_keys):
    import streaming

    with streaming.MDSWriter(out=folder, columns={"bin": "bytes"}, size_limit=100_000_000) as out:
        for _ in range(int(records)):
            out.write({"bin": os.urandom(int(size))})
    return [f"s3://{bucket}/{pathlib.Path(folder).name}"], [str(file) for file in pathlib.Path(folder).iterdir()]


def litdata_sources(_endpoint, bucket, folder, records, size, *_keys):
    from litdata.streaming.cache import Cache

    shutil.rmtree(folder, ignore_errors=True)
    cache = Cache(folder, chunk_bytes="100MB")
    for place in range(int(records)):
        cache[place] = os.urandom(int(size))
    cache.done()
    cache.merge()
    return [f"s3://{bucket}/{pathlib.Path(folder).name}"], [str(file) for file in pathlib.Path(folder).iterdir()]


def timed(run):
    def cpu():
        return time.process_time() + children_cpu_seconds()

    begin, before = time.perf_counter(), cpu()
    size = run()
    return {"bytes": size, "seconds": time.perf_counter() - begin, "cpu_seconds": cpu() - before}


def main(loop, *arguments):
    if loop == "sources":
        return dict(zip(("sources", "upload"), globals()[f"{arguments[0]}_sources"](*arguments[1:])))
    return timed(globals()[f"{loop}_loop"](int(arguments[0]), *arguments[1:]))


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
