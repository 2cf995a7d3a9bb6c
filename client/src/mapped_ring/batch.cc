#include "mapped_ring/batch.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace echoline::client {

std::unique_ptr<Batch> Batch::make(std::shared_ptr<Attachment> attachment,
                                   const RingLocation& location, const BatchInfo& info) {
  auto made = std::make_unique<Batch>();
  made->attachment_ = std::move(attachment);
  made->location_ = location;
  made->info_ = info;
  made->generation_ = fork_generation();
  made->attachment_->add(*made);
  // From here on the destructor releases.
  made->holds_ = true;
  // May throw; the destructor then releases the descriptors.
  made->assemble();
  return made;
}

Batch::~Batch() {
  if (holds_) attachment_->remove(*this);
}

const Batch::FieldCopy* Batch::find_copy(const Field& field) const {
  for (const FieldCopy& copy : copies_) {
    if (copy.field == &field) return &copy;
  }
  return nullptr;
}

const std::byte* Batch::fixed_rows(const Field& field) const {
  if (const FieldCopy* copy = find_copy(field)) return copy->values.get();
  return attachment_->ring().rows(field, location_.arena_row);
}

const std::uint64_t* Batch::sample_ids() const {
  return reinterpret_cast<const std::uint64_t*>(fixed_rows(attachment_->ring().sample_id_field()));
}

const std::uint32_t* Batch::uses() const {
  return reinterpret_cast<const std::uint32_t*>(fixed_rows(attachment_->ring().use_field()));
}

const std::uint32_t* Batch::row_flags() const {
  return reinterpret_cast<const std::uint32_t*>(fixed_rows(attachment_->ring().row_flags_field()));
}

std::uint32_t Batch::fresh_rows() const {
  const std::uint32_t* use = uses();
  return static_cast<std::uint32_t>(std::count(use, use + valid_rows(), 0U));
}

void Batch::tensor(const Field& field, echoline_tensor& tensor) const {
  const RingView& ring = attachment_->ring();
  tensor.name = field.name.c_str();
  tensor.dtype = field.dtype;
  tensor.row_bytes = field.row_bytes;
  tensor.shape[0] = rows();
  tensor.rank = 1;
  // Without the ragged dimension: its length differs from row to row.
  for (std::size_t i = field.ragged ? 1 : 0; i < field.sizes.size(); ++i) {
    tensor.shape[tensor.rank++] = field.sizes[i];
  }
  if (!field.ragged) {
    tensor.data = fixed_rows(field);
    tensor.bytes = rows() * field.row_bytes;
    return;
  }
  // Assembled: the offsets begin at 0.
  if (const FieldCopy* copy = find_copy(field)) {
    tensor.data = copy->values.get();
    tensor.offsets = copy->offsets.data();
  } else {
    tensor.data = ring.ragged_values(field, location_.slot);
    tensor.offsets = ring.ragged_offsets(field, location_.slot) + location_.row_in_slot;
  }
  tensor.bytes = tensor.offsets[rows()] - tensor.offsets[0];
}

// Own rows first, then repeats of them in turn. A rank without own rows repeats the first row of
// the batch.
std::uint64_t Batch::source_row(std::uint64_t row) const {
  const std::uint64_t valid = info_.rank_rows.valid();
  return valid == 0 ? 0 : row % valid;
}

Error Batch::freeze(const RingView& ring) const {
  const auto keep = [&](const Field& field) -> Error {
    // Private already.
    if (find_copy(field) != nullptr) return {};
    if (!field.ragged) return ring.freeze(fixed_rows(field), rows() * field.row_bytes);
    const std::uint64_t* offsets =
        ring.ragged_offsets(field, location_.slot) + location_.row_in_slot;
    // From the begin of the slot, because offsets count from there.
    if (Error e = ring.freeze(ring.ragged_values(field, location_.slot), offsets[rows()]);
        !e.ok()) {
      return e;
    }
    return ring.freeze(offsets, (rows() + 1) * sizeof(std::uint64_t));
  };
  for (const Field& field : ring.fields()) {
    if (Error e = keep(field); !e.ok()) return e;
  }
  for (const Field* field : {&ring.sample_id_field(), &ring.use_field(), &ring.row_flags_field()}) {
    if (Error e = keep(*field); !e.ok()) return e;
  }
  return {};
}

// Offsets are shown to the trainer as they are in the ring only if they ascend and stay in the
// slot.
bool Batch::offsets_are_valid(const Field& field) const {
  const RingView& ring = attachment_->ring();
  const std::uint64_t* offsets = ring.ragged_offsets(field, location_.slot) + location_.row_in_slot;
  return std::is_sorted(offsets, offsets + rows() + 1) &&
         offsets[rows()] <= ring.header().batch_rows * field.row_bytes;
}

void Batch::assemble() {
  const RingView& ring = attachment_->ring();
  // Fields stay in the ring unless rows repeat, or a ragged field spans several slots: the values
  // of two slots are not adjacent.
  const bool padded = info_.rank_rows.padded();
  const bool several = location_.first_sequence != location_.last_sequence;
  for (const Field& field : ring.fields()) {
    if (field.ragged && (padded || several || !offsets_are_valid(field))) {
      assemble_ragged(field);
      copied_ = true;
    } else if (padded) {
      assemble_fixed(field);
    }
  }
  if (padded || location_.batch_use != 0) assemble_uses();
  if (!padded) return;
  assemble_fixed(ring.sample_id_field());
  auto* flags = reinterpret_cast<std::uint32_t*>(assemble_fixed(ring.row_flags_field()));
  for (std::uint64_t row = valid_rows(); row < rows(); ++row) flags[row] |= shm::kRowPadded;
  // All fields are private copies now: release the slots.
  attachment_->remove(*this);
  holds_ = false;
}

// Under batch echo a slot is published again with the same words; batch_use says which time it is.
void Batch::assemble_uses() {
  auto* uses = reinterpret_cast<std::uint32_t*>(assemble_fixed(attachment_->ring().use_field()));
  for (std::uint32_t row = 0; row < rows(); ++row) uses[row] += location_.batch_use;
}

std::byte* Batch::assemble_fixed(const Field& field) {
  FieldCopy made;
  made.field = &field;
  made.values = std::make_unique_for_overwrite<std::byte[]>(rows() * field.row_bytes);
  const std::byte* from = attachment_->ring().rows(field, location_.arena_row);
  for (std::uint64_t row = 0; row < rows(); ++row) {
    std::memcpy(made.values.get() + row * field.row_bytes, from + source_row(row) * field.row_bytes,
                field.row_bytes);
  }
  copies_.push_back(std::move(made));
  return copies_.back().values.get();
}

void Batch::assemble_ragged(const Field& field) {
  const RingView& ring = attachment_->ring();
  const std::uint32_t batch_rows = ring.header().batch_rows;
  const std::uint64_t run_bytes = batch_rows * field.row_bytes;
  // The bytes of a row, clamped to its slot: the offsets are not checked here.
  const auto bytes_of = [&](std::uint64_t row) {
    const std::uint64_t at = location_.row_in_slot + source_row(row);
    const std::uint32_t slot = ring.descriptor(location_.first_sequence + at / batch_rows).slot;
    const std::uint64_t* offsets = ring.ragged_offsets(field, slot) + at % batch_rows;
    const std::uint64_t begin = std::min(offsets[0], run_bytes);
    const std::uint64_t end = std::clamp(offsets[1], begin, run_bytes);
    return std::span(ring.ragged_values(field, slot) + begin, end - begin);
  };
  FieldCopy made;
  made.field = &field;
  made.offsets.assign(1, 0);
  for (std::uint64_t row = 0; row < rows(); ++row) {
    made.offsets.push_back(made.offsets.back() + bytes_of(row).size());
  }
  // One byte more, so that the pointer is valid without values, too.
  made.values = std::make_unique_for_overwrite<std::byte[]>(made.offsets.back() + 1);
  for (std::uint64_t row = 0; row < rows(); ++row) {
    const auto bytes = bytes_of(row);
    std::memcpy(made.values.get() + made.offsets[row], bytes.data(), bytes.size());
  }
  copies_.push_back(std::move(made));
}

}  // namespace echoline::client
