// The settings of a ring: they determine its layout and the words of its header.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "decode/sample.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::ring {

struct RingSpec {
  std::vector<decode::FieldType> fields;  // every shape fixed, or ragged with its maximum
  std::uint32_t batch_rows = 1;
  std::uint32_t slot_count = 8;        // slots that hold rows; with batch echo: live + window + 1
  std::uint32_t descriptors_live = 8;  // the most that are published and not released
  shm::LastBatchPolicy last_batch = shm::kLastDrop;
  std::uint32_t flags = shm::kRingSealed;
  std::uint32_t plan_version = 1;
  std::uint64_t rows_per_epoch = 0;
  std::uint64_t records_per_epoch = 0;
  std::array<std::uint8_t, shm::kFingerprintBytes> fingerprint{};
  std::uint32_t factor = 1000;  // thousandths
  std::uint32_t echo_point = 0;
  std::uint64_t seed = 0;
  bool has_weights = false;  // sources with weights, which can change
};

}  // namespace echoline::ring
