#!/usr/bin/env python3
"""The loops of other loaders over tar shards of an S3 server, as in their manuals, for peers.py. Each reads
every record's bytes once and prints {"bytes", "samples"}.

    peer_loops.py webdataset PROCESSES URL...            signed addresses, through pipes from curl
    peer_loops.py spdl THREADS ENDPOINT BUCKET KEY...    with boto3; credentials as boto3 finds them"""
import concurrent.futures
import json
import sys


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


if __name__ == "__main__":
    found = {"webdataset": webdataset_loop, "spdl": spdl_loop}[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(dict(zip(("bytes", "samples"), found))))
