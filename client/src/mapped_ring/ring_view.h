// A trainer's view of one ring: the daemon's memfd, checked once and mapped read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "echoline/shm/ring_layout.h"
#include "system/error.h"
#include "system/fd_and_mapping.h"

namespace echoline::client {

// One field of the stream and where its rows are mapped.
struct Field {
  std::string name;
  std::uint32_t dtype = 0;
  bool ragged = false;
  std::vector<std::uint32_t> sizes;  // shape of one row; ragged: the first is the maximum
  std::uint64_t row_bytes = 0;       // ragged: maximum bytes of one row
  std::uint64_t arena_rows = 0;
  std::uint64_t arena_bytes = 0;  // of one of the two adjacent mappings
  const std::byte* arena = nullptr;
  const std::uint64_t* offsets = nullptr;  // ragged: slot_count runs of batch_rows + 1 byte offsets
};

// Immutable after open(): any thread. The header and the table of fields are private copies that
// were checked: a daemon of another version or a broken daemon is refused, and no value of it leads
// outside the mapping.
class RingView {
 public:
  // Maps the memfd; `fd` may be closed afterwards.
  static Error open(int fd, std::unique_ptr<RingView>& view);

  const shm::RingHeader& header() const { return header_; }
  // The stream's own fields, without the three per-row fields below.
  const std::vector<Field>& fields() const { return fields_; }
  const Field& sample_id_field() const { return per_row_fields_[0]; }
  const Field& use_field() const { return per_row_fields_[1]; }
  const Field& row_flags_field() const { return per_row_fields_[2]; }

  const shm::WriterPage& writer() const { return *writer_; }
  // Null in a ring of a layout before 1.2: its echo factor never changes.
  const shm::FactorLog* factor_log() const { return factor_log_; }
  // Null in a ring whose sources have no weights that can change.
  const shm::WeightLog* weight_log() const { return weight_log_; }
  // `sequence` is published and not released by this trainer: then the daemon does not write it.
  const shm::Descriptor& descriptor(std::uint64_t sequence) const {
    return descriptors_[sequence & (header_.descriptor_count - 1)];
  }
  // Whether the descriptor's values are in range. Call it before every use of a descriptor.
  bool is_valid(const shm::Descriptor& descriptor, std::uint64_t sequence) const;

  // The rows of a fixed field from arena_row on; up to arena_rows of them are contiguous.
  const std::byte* rows(const Field& field, std::uint64_t arena_row) const {
    return field.arena + shm::arena_position(field.arena_bytes, field.row_bytes, arena_row);
  }
  const std::byte* ragged_values(const Field& field, std::uint32_t slot) const {
    return field.arena + std::uint64_t{slot} * header_.batch_rows * field.row_bytes;
  }
  const std::uint64_t* ragged_offsets(const Field& field, std::uint32_t slot) const {
    return field.offsets + std::uint64_t{slot} * (header_.batch_rows + 1);
  }
  // Detaches the pages of these bytes from the memfd; they keep their present contents.
  Error freeze(const void* begin, std::size_t bytes) const {
    return mapping_.freeze(static_cast<const std::byte*>(begin), bytes);
  }

 private:
  // Maps all sections into one reserved range and fills fields_.
  Error map_all(int fd);
  // Moves the per-row fields out of fields_.
  Error take_per_row_fields();

  shm::RingHeader header_{};
  mutable Mapping mapping_;
  const shm::Descriptor* descriptors_ = nullptr;
  const shm::WriterPage* writer_ = nullptr;
  const shm::FactorLog* factor_log_ = nullptr;
  const shm::WeightLog* weight_log_ = nullptr;
  std::vector<shm::FieldEntry> entries_;  // only during open()
  std::vector<Field> fields_;
  Field per_row_fields_[3];
};

}  // namespace echoline::client
