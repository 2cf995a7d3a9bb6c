#!/usr/bin/env python3
"""The loops of other loaders over records in an S3 server, as in their manuals, for s3.py. Each reads every record's bytes
once and prints {"bytes", "samples"}. Credentials and endpoint are in the environment.

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


def count_webdataset(urls):
    import webdataset

    shards = [f"pipe:curl -s -f '{url}'" for url in urls]
    size = samples = 0
    for sample in webdataset.WebDataset(shards, shardshuffle=False):
        size += len(sample["bin"])
        samples += 1
    return size, samples


def webdataset_loop(processes, *urls):
    """As with `processes` DataLoader workers: each process reads other shards."""
    processes = int(processes)
    if processes == 1:
        return count_webdataset(urls)
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        counts = list(pool.map(count_webdataset, [urls[place::processes] for place in range(processes)]))
    return tuple(map(sum, zip(*counts)))


def spdl_loop(threads, endpoint, bucket, *keys):
    import boto3
    import botocore.config
    import spdl.io
    from spdl.pipeline import PipelineBuilder

    config = botocore.config.Config(max_pool_connections=int(threads), s3={"addressing_style": "path"})
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", config=config)

    def download(key):
        return client.get_object(Bucket=bucket, Key=key)["Body"].read()

    def cut(shard):
        return [bytes(content) for _, content in spdl.io.iter_tarfile(shard)]

    pipeline = (PipelineBuilder().add_source(keys).pipe(download, concurrency=int(threads))
                .pipe(cut, concurrency=2).disaggregate().add_sink(1000).build(num_threads=int(threads) + 2))
    size = samples = 0
    with pipeline.auto_stop():
        for record in pipeline:
            size += len(record)
            samples += 1
    return size, samples


def count_batches(data_set, workers, size_of):
    """Batches of 64 records by DataLoader's workers; a batch stays a list."""
    import torch.utils.data

    size = samples = 0
    for batch in torch.utils.data.DataLoader(data_set, batch_size=64, num_workers=int(workers), collate_fn=list):
        size += sum(map(size_of, batch))
        samples += len(batch)
    return size, samples


def mosaicml_loop(workers, remote):
    import streaming

    with tempfile.TemporaryDirectory() as local:
        data_set = streaming.StreamingDataset(remote=remote, local=local, shuffle=False, batch_size=64)
        return count_batches(data_set, workers, lambda sample: len(sample["bin"]))


def litdata_loop(workers, remote):
    import litdata

    with tempfile.TemporaryDirectory() as local:
        data_set = litdata.StreamingDataset(remote, cache_dir=local, storage_options={
            "endpoint_url": os.environ["AWS_ENDPOINT_URL"]})
        return count_batches(data_set, workers, len)


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


if __name__ == "__main__":
    if sys.argv[1] == "sources":
        made = globals()[f"{sys.argv[2]}_sources"](*sys.argv[3:])
        print(json.dumps(dict(zip(("sources", "upload"), made))))
    else:
        found = globals()[f"{sys.argv[1]}_loop"](*sys.argv[2:])
        print(json.dumps(dict(zip(("bytes", "samples"), found))))
