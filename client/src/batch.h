// One rank's rows of one batch, as the trainer holds them: a lease on the slots they stand in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "attachment.h"
#include "rows.h"

namespace echoline::client {

// Where a batch's rows stand in the ring.
struct Place {
  std::uint64_t first_sequence = 0;  // descriptors [first, last] cover the rows
  std::uint64_t last_sequence = 0;
  std::uint64_t arena_row = 0;    // absolute, of the slice's first row
  std::uint32_t slot = 0;         // of the first descriptor, for ragged fields
  std::uint32_t batch_use = 0;    // added to the rows' uses: under batch echo a slot comes again
  std::uint32_t row_in_slot = 0;  // of that row in its descriptor
};

struct BatchFacts {
  Position position;  // of the batch of all ranks
  std::uint64_t step = 0;
  Slice slice;
  bool last = false;
};

// Any thread may read it. It doesn't change after construction, but for being frozen by its
// attachment. Zero copies, but for batches that are filled up and ragged fields across slots, which
// are assembled in `own_`.
class Batch {
 public:
  // Takes the hold on the place's descriptors. Throws only std::bad_alloc, with nothing held.
  static std::unique_ptr<Batch> make(std::shared_ptr<Attachment> attachment, const Place& place,
                                     const BatchFacts& facts);
  // Gives the lease back, unless the batch was padded: then it has none.
  ~Batch();

  const Attachment& attachment() const { return *attachment_; }
  const std::shared_ptr<Attachment>& shared_attachment() const { return attachment_; }
  std::uint32_t generation() const { return generation_; }
  const BatchFacts& facts() const { return facts_; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(facts_.slice.rows); }
  std::uint32_t valid_rows() const { return static_cast<std::uint32_t>(facts_.slice.valid()); }
  std::uint32_t fresh_rows() const;
  bool copied() const { return copied_; }

  const std::uint64_t* sample_ids() const;
  const std::uint32_t* uses() const;
  const std::uint32_t* row_flags() const;
  void tensor(const Field& field, echoline_tensor& tensor) const;

 private:
  friend class Attachment;
  struct OwnRows {
    const Field* field = nullptr;
    std::unique_ptr<std::byte[]> values;
    std::vector<std::uint64_t> offsets;  // ragged only
  };

  const OwnRows* own(const Field& field) const;
  const std::byte* fixed_rows(const Field& field) const;
  Error freeze(const RingView& ring) const;
  bool sound_offsets(const Field& field) const;
  void assemble();
  void assemble_uses();
  std::byte* assemble_fixed(const Field& field);
  void assemble_ragged(const Field& field);
  std::uint64_t source_row(std::uint64_t row) const;

  std::shared_ptr<Attachment> attachment_;
  Place place_;
  BatchFacts facts_;
  std::uint32_t generation_ = 0;
  bool holds_ = false;
  bool frozen_ = false;  // the rest: under the attachment's lock
  Batch* next_ = nullptr;
  Batch* previous_ = nullptr;
  bool copied_ = false;
  std::vector<OwnRows> own_;
};

}  // namespace echoline::client
