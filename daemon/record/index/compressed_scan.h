// Scans shards that may be compressed: finds their records while unpacking them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "record/index/shard_scan.h"
#include "record/index/unpacked_file.h"

namespace echoline::record {

// Creates the scan of a plain shard of that size.
using PlainScan = std::function<std::unique_ptr<ShardScan>(std::uint64_t shard_bytes)>;

// How the shards of a format are compressed, if they are.
struct UnpackingRules {
  // Whether a shard that begins with these bytes is a zlib stream; null: none is.
  bool (*is_zlib)(std::span<const std::byte> head) = nullptr;
};

// The shard's first bytes decide. A plain shard is scanned as by make_checksum_scan. A compressed
// shard is read as a whole, in bounded memory; offsets and checksums of its records refer to the
// unpacked bytes.
std::unique_ptr<ShardScan> make_unpacking_scan(std::uint64_t shard_bytes, std::uint64_t skip_bytes,
                                               PlainScan plain, UnpackingRules rules = {});

// A shard that an index file of its data set describes: how it is compressed, and its unpacked
// size. kDataLoss if it unpacks to another size. With skip_bytes == 0, reading ends when the plain
// scan is done.
std::unique_ptr<ShardScan> make_known_unpacking_scan(std::uint64_t shard_bytes,
                                                     std::uint64_t skip_bytes, UnpackedForm form,
                                                     PlainScan plain);

}  // namespace echoline::record
