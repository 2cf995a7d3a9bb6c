"""Costs of one host, as they were measured. Each says where."""

# docs/benchmarks.md, "Photos for each CPU-second": one core with AVX2 decodes, crops and flips 1,136 photos of 110 KB in a
# second.
PHOTO_SECONDS = 1 / 1136
PHOTO_BYTES = 110e3
# docs/transfers_internals.md, "Measured": the thread that fetches and cuts needs 0.40 CPU-seconds per GB, and there is one
# for each stream.
FETCH_RATE = 1e9 / 0.40
# docs/transfers.md, "Requests": they grow to at most this.
REQUEST_BYTES = 15 << 20
# docs/config.md: defaults.
READ_AHEAD = 256 << 20
SLOTS = 8
# Bytes of a record in a published index with checksums and keys of nine characters (index_bytes.py measures it).
INDEX_BYTES = 37
# Threads of a stream that ask the fleet or fill it, each with a connection to each server
# (daemon/engine/fetch/cache_threads.cc).
FLEET_CONNECTIONS = 5
# docs/semantics.md, "The memory of a ring": a ring has room for whole batches of the job; rows of 224 x 224 pixels in uint8.
ROW_BYTES = 224 * 224 * 3
SLOTS_LEAST = 2
# docs/transfers.md, "Late and slow answers": a second request goes out after this time at the earliest.
HEDGE_SECONDS = 0.1
# docs/benchmarks.md, "The start of a daemon": with an index it is ready after this time.
START_SECONDS = 0.660
# docs/caching.md, "Fleet": the usable share of the servers' memory.
FLEET_USABLE = 0.85
# docs/preparation_servers.md, "What it costs": CPU time of a gigabyte of samples, on each side.
PREPARED_SECONDS_PER_BYTE = 1.1e-9
# The photos of the measurement above: about 500 x 375 pixels.
DECODED_BYTES = 500 * 375 * 3
# Points on the circle of libmemcached's weighted ketama for each of many equal servers (libmemcached 1.1, hosts.cc).
KETAMA_POINTS = 160
