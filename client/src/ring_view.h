// A reader's view of one ring: the daemon's memfd, checked and mapped once, read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "echoline/shm/ring_layout.h"
#include "error.h"
#include "os_handle.h"

namespace echoline::client {

// One field of the stream as the ring has it.
struct Field {
  std::string name;
  std::uint32_t dtype = 0;
  bool ragged = false;
  std::vector<std::uint32_t> sizes;  // of one row
  std::uint64_t row_bytes = 0;       // ragged: the most bytes of one row
  std::uint64_t arena_rows = 0;
  std::uint64_t arena_bytes = 0;  // of one of the two mappings
  const std::byte* arena = nullptr;
  const std::uint64_t* offsets = nullptr;  // ragged: slot_count runs of batch_rows + 1
};

// Shows the same after open(), whoever looks: any thread. The header and the table of fields are
// copied and checked, so that a daemon of another version or a broken one is refused, never
// followed out of the mapping.
class RingView {
 public:
  // Maps the memfd; `fd` may be closed afterwards.
  static Error open(int fd, std::unique_ptr<RingView>& view);

  const shm::RingHeader& header() const { return header_; }
  // The stream's own fields; per-row words are apart.
  const std::vector<Field>& fields() const { return fields_; }
  const Field& sample_id_field() const { return row_words_[0]; }
  const Field& use_field() const { return row_words_[1]; }
  const Field& row_flags_field() const { return row_words_[2]; }

  const shm::WriterPage& writer() const { return *writer_; }
  // Null in a ring of a layout before 1.2: its factor never changes.
  const shm::FactorLog* factor_log() const { return factor_log_; }
  // Only for sequences below published and not released by this reader: then it stands still.
  const shm::Descriptor& descriptor(std::uint64_t sequence) const {
    return descriptors_[sequence & (header_.descriptor_count - 1)];
  }
  // Whether what a descriptor says can be: it is read before every use.
  bool plausible(const shm::Descriptor& descriptor, std::uint64_t sequence) const;

  // Rows from arena_row on of a fixed field: up to arena_rows of them are contiguous.
  const std::byte* rows(const Field& field, std::uint64_t arena_row) const {
    return field.arena + shm::arena_position(field.arena_bytes, field.row_bytes, arena_row);
  }
  const std::byte* ragged_values(const Field& field, std::uint32_t slot) const {
    return field.arena + std::uint64_t{slot} * header_.batch_rows * field.row_bytes;
  }
  const std::uint64_t* ragged_offsets(const Field& field, std::uint32_t slot) const {
    return field.offsets + std::uint64_t{slot} * (header_.batch_rows + 1);
  }
  // Cuts the pages of these bytes off the memfd: they keep what they show.
  Error freeze(const void* begin, std::size_t bytes) const {
    return mapping_.freeze(static_cast<const std::byte*>(begin), bytes);
  }

 private:
  Error check_header(std::uint64_t file_bytes) const;
  Error check_field(const shm::FieldEntry& entry) const;
  Error map_all(int fd);
  Error read_fields();
  bool is_section(const shm::Section& section) const;
  bool has_factor_log() const { return header_.layout_minor >= 2; }

  shm::RingHeader header_{};
  mutable Mapping mapping_;
  const shm::Descriptor* descriptors_ = nullptr;
  const shm::WriterPage* writer_ = nullptr;
  const shm::FactorLog* factor_log_ = nullptr;
  std::vector<shm::FieldEntry> entries_;
  std::vector<Field> fields_;
  Field row_words_[3];
};

}  // namespace echoline::client
