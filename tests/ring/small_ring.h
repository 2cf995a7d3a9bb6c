// Creates small rings for the tests in this folder.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "ring/ring.h"

namespace echoline::ring {

inline decode::FieldType field(std::string name, shm::DType dtype,
                               std::initializer_list<std::uint32_t> sizes) {
  decode::FieldType type;
  type.name = std::move(name);
  type.dtype = dtype;
  type.fixed = true;
  type.shape.rank = static_cast<std::uint32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), type.shape.sizes.begin());
  return type;
}

inline decode::FieldType ragged_field(std::string name, shm::DType dtype,
                                      std::initializer_list<std::uint32_t> sizes) {
  decode::FieldType type = field(std::move(name), dtype, sizes);
  type.fixed = false;
  type.ragged = true;
  return type;
}

// An image of 5x7x3 bytes (which does not divide a page) and a label.
inline RingSpec small_spec(std::uint32_t slots = 4, std::uint32_t rows = 3) {
  RingSpec spec;
  spec.fields = {field("image", shm::kUint8, {5, 7, 3}), field("label", shm::kInt64, {})};
  spec.batch_rows = rows;
  spec.slot_count = slots;
  spec.descriptors_live = slots;
  spec.rows_per_epoch = 300;
  spec.records_per_epoch = 150;
  spec.factor = 2000;
  spec.echo_point = 3;
  spec.seed = 42;
  for (std::size_t i = 0; i < spec.fingerprint.size(); ++i)
    spec.fingerprint[i] = static_cast<std::uint8_t>(i);
  return spec;
}

inline std::unique_ptr<Ring> make_ring(const RingSpec& spec) {
  Result<std::unique_ptr<Ring>> ring = Ring::create(spec);
  EXPECT_TRUE(ring.ok()) << ring.status().message();
  return ring.ok() ? std::move(ring).value() : nullptr;
}

}  // namespace echoline::ring
