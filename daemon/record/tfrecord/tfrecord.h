// TFRecord files: each record stands between its length and a checksum, and is a tf.train.Example.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "record/index/format.h"
#include "record/index/shard_scan.h"

namespace echoline::record {

// Length (8 bytes) and its checksum (4) before the data, the data's checksum (4) after it.
inline constexpr std::uint64_t kTfHeaderBytes = 12;
inline constexpr std::uint64_t kTfFrameBytes = kTfHeaderBytes + 4;

// The length that a record's header states; nothing where the checksum does not hold.
std::optional<std::uint64_t> tf_record_bytes(std::span<const std::byte> header);

// The data within a record's whole frame, checked. kDataLoss for a truncated or damaged one.
Result<std::span<const std::byte>> tf_record_data(std::span<const std::byte> frame);

extern const Format kTfRecordFormat;

ScanSpec tfrecord_scan_spec();

}  // namespace echoline::record
