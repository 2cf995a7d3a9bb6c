// Format tfrecord: each record has a length before it, checksums, and holds a tf.train.Example.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "record/index/format.h"
#include "record/index/shard_scan.h"

namespace echoline::record {

// Before the data: the length (8 bytes) and its checksum (4). After it: the checksum of the data
// (4).
inline constexpr std::uint64_t kTfHeaderBytes = 12;
inline constexpr std::uint64_t kTfFrameBytes = kTfHeaderBytes + 4;

// The length in a record's header; nothing if its checksum is wrong.
std::optional<std::uint64_t> tf_record_bytes(std::span<const std::byte> header);

// The data of a record's frame, after checking it. kDataLoss for a truncated or damaged frame.
Result<std::span<const std::byte>> tf_record_data(std::span<const std::byte> frame);

// The fields of a record are the features of its tf.train.Example (tf_example.h); the key is
// "FILE:NUMBER". `cut` checks both checksums of a record. Also reads gzip, zlib, zstd and
// bzip2 files.
extern const Format kTfRecordFormat;

// The records of a shard by the text of its index from tfrecord2idx (NVIDIA DALI, and the Python
// package tfrecord): a line OFFSET SIZE per record. kDataLoss if they do not follow each other
// within the shard, kUnimplemented for another text.
Result<RecordTable> parse_tfrecord_index(std::string_view text, std::uint64_t shard_bytes);

ScanSpec tfrecord_scan_spec();

}  // namespace echoline::record
