// One rank's rows of one batch, as the trainer holds them: a lease on the slots that hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "mapped_ring/attachment.h"
#include "mapped_ring/rank_slice.h"

namespace echoline::client {

// Where a batch's rows are in the ring.
struct RingLocation {
  std::uint64_t first_sequence = 0;  // descriptors [first, last] cover the rows
  std::uint64_t last_sequence = 0;
  std::uint64_t arena_row = 0;    // of the first row
  std::uint32_t slot = 0;         // of the first descriptor; for ragged fields
  std::uint32_t batch_use = 0;    // added to the rows' uses: batch echo publishes a slot again
  std::uint32_t row_in_slot = 0;  // of the first row within its descriptor
};

struct BatchInfo {
  Position position;  // of the batch of all ranks
  std::uint64_t step = 0;
  RankRows rank_rows;
  bool last = false;  // known to be the last of its epoch
  std::uint32_t bucket_length = 0;
};

// Any thread may read it; its contents never change. Views point into the ring without a copy. Only
// padded batches, uses under batch echo, and ragged fields that span slots are assembled in private
// memory, in copies_. The attachment's lock guards frozen_ and the list links.
class Batch {
 public:
  // Holds the descriptors of the location. Throws only std::bad_alloc, with nothing held.
  static std::unique_ptr<Batch> make(std::shared_ptr<Attachment> attachment,
                                     const RingLocation& location, const BatchInfo& info);
  // Releases the descriptors. A padded batch released them when it was made.
  ~Batch();

  const Attachment& attachment() const { return *attachment_; }
  const std::shared_ptr<Attachment>& shared_attachment() const { return attachment_; }
  std::uint32_t generation() const { return generation_; }
  const BatchInfo& info() const { return info_; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(info_.rank_rows.rows); }
  std::uint32_t valid_rows() const { return static_cast<std::uint32_t>(info_.rank_rows.valid()); }
  std::uint32_t fresh_rows() const;
  // Whether a ragged field was assembled in private memory.
  bool copied() const { return copied_; }

  const std::uint64_t* sample_ids() const;
  const std::uint32_t* uses() const;
  const std::uint32_t* row_flags() const;
  void tensor(const Field& field, echoline_tensor& tensor) const;

 private:
  friend class Attachment;
  // The rows of one field in private memory.
  struct FieldCopy {
    const Field* field = nullptr;
    std::unique_ptr<std::byte[]> values;
    std::vector<std::uint64_t> offsets;  // ragged only
  };

  // The private copy of the field, or null if its rows are in the ring.
  const FieldCopy* find_copy(const Field& field) const;
  const std::byte* fixed_rows(const Field& field) const;
  // Replaces the pages of all rows in the ring by private copies.
  Error freeze(const RingView& ring) const;
  bool offsets_are_valid(const Field& field) const;
  // Copies the fields that cannot be views of the ring.
  void assemble();
  void assemble_uses();
  std::byte* assemble_fixed(const Field& field);
  void assemble_ragged(const Field& field);
  // Which own row is shown at this row of the batch.
  std::uint64_t source_row(std::uint64_t row) const;

  std::shared_ptr<Attachment> attachment_;
  RingLocation location_;
  BatchInfo info_;
  std::uint32_t generation_ = 0;
  bool holds_ = false;   // is in the attachment's list
  bool frozen_ = false;  // its descriptors are released, its pages are private
  Batch* next_ = nullptr;
  Batch* previous_ = nullptr;
  bool copied_ = false;
  std::vector<FieldCopy> copies_;
};

}  // namespace echoline::client
