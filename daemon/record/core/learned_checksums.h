// Checksums of records that were made by reading them, for indexes that have none or a wrong
// one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace echoline::record {

// One thread; memory_bytes by any. Pages of the records that were read, up to kBytesMax; beyond
// that nothing is remembered, and such a record is treated as new at each reading.
class LearnedChecksums {
 public:
  static constexpr std::uint64_t kBytesMax = 64 << 20;

  explicit LearnedChecksums(std::uint64_t record_count) : pages_(record_count / kPageRecords + 1) {}

  // The CRC-32C of the record's bytes; 0: not known.
  std::uint32_t find(std::uint64_t record) const {
    const auto& page = pages_[record / kPageRecords];
    return page ? (*page)[record % kPageRecords] : 0;
  }

  void learn(std::uint64_t record, std::uint32_t checksum) {
    auto& page = pages_[record / kPageRecords];
    if (!page) {
      if (memory_bytes() + sizeof(Page) > kBytesMax) return;
      page = std::make_unique<Page>();
      bytes_.fetch_add(sizeof(Page), std::memory_order_relaxed);
    }
    (*page)[record % kPageRecords] = checksum;
  }

  std::uint64_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kPageRecords = 4096;
  using Page = std::array<std::uint32_t, kPageRecords>;

  std::vector<std::unique_ptr<Page>> pages_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace echoline::record
