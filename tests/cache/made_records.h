// Records for cache tests; their bytes depend on the record's number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>

#include "base/buffer.h"
#include "cache/admission.h"
#include "cache/record_key.h"

namespace echoline::cache {

inline Buffer made_record(std::uint64_t record, std::uint64_t bytes) {
  Buffer buffer(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) {
    buffer.data()[i] = static_cast<std::byte>((record * 131 + i * (record % 7 + 1)) >> (i % 5));
  }
  return buffer;
}

inline bool is_made_record(std::uint64_t record, std::span<const std::byte> bytes) {
  const Buffer expected = made_record(record, bytes.size());
  return std::equal(bytes.begin(), bytes.end(), expected.data());
}

inline std::shared_ptr<const Buffer> shared_record(std::uint64_t record, std::uint64_t bytes) {
  return std::make_shared<Buffer>(made_record(record, bytes));
}

inline RecordKey made_key(std::uint64_t record, const std::string& version = "v1") {
  return make_key("s3://photos/train.tar", version, record * 1'000'000, 1);
}

// Records of different sizes, contiguous in shards of 1000.
struct MadeDataSet {
  std::vector<RecordPlace> places;
  std::uint64_t bytes = 0;

  MadeDataSet(std::uint64_t records, std::uint64_t bytes_min, std::uint64_t bytes_max) {
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::uint64_t> size(bytes_min, bytes_max);
    std::uint64_t offset = 0;
    for (std::uint64_t record = 0; record < records; ++record) {
      if (record % 1000 == 0) offset = 0;
      places.push_back({static_cast<std::uint32_t>(record / 1000), offset, size(random)});
      offset += places.back().bytes;
      bytes += places.back().bytes;
    }
  }
  DataSetSize size() const {
    return {places.size(), bytes, [this](std::uint64_t record) { return places[record]; }};
  }
};

}  // namespace echoline::cache
