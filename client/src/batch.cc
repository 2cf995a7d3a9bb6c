#include "batch.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace echoline::client {

std::unique_ptr<Batch> Batch::make(std::shared_ptr<Attachment> attachment, const Place& place,
                                   const BatchFacts& facts) {
  auto made = std::make_unique<Batch>();
  made->attachment_ = std::move(attachment);
  made->place_ = place;
  made->facts_ = facts;
  made->generation_ = fork_generation();
  made->attachment_->enter(*made);
  made->holds_ = true;
  made->assemble();
  return made;
}

Batch::~Batch() {
  if (holds_) attachment_->leave(*this);
}

const Batch::OwnRows* Batch::own(const Field& field) const {
  for (const OwnRows& rows : own_) {
    if (rows.field == &field) return &rows;
  }
  return nullptr;
}

const std::byte* Batch::fixed_rows(const Field& field) const {
  if (const OwnRows* rows = own(field)) return rows->values.get();
  return attachment_->ring().rows(field, place_.arena_row);
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
  if (!field.ragged) {
    for (const std::uint32_t size : field.sizes) tensor.shape[tensor.rank++] = size;
    tensor.data = fixed_rows(field);
    tensor.bytes = rows() * field.row_bytes;
    return;
  }
  if (const OwnRows* rows = own(field)) {
    tensor.data = rows->values.get();
    tensor.offsets = rows->offsets.data();
  } else {
    tensor.data = ring.ragged_values(field, place_.slot);
    tensor.offsets = ring.ragged_offsets(field, place_.slot) + place_.row_in_slot;
  }
  tensor.bytes = tensor.offsets[rows()] - tensor.offsets[0];
}

// Own rows first, then repeats of them in turn; without own rows all are the batch's first one.
std::uint64_t Batch::source_row(std::uint64_t row) const {
  const std::uint64_t valid = facts_.slice.valid();
  return valid == 0 ? 0 : row % valid;
}

Error Batch::freeze(const RingView& ring) const {
  const auto keep = [&](const Field& field) -> Error {
    if (own(field) != nullptr) return {};
    if (!field.ragged) return ring.freeze(fixed_rows(field), rows() * field.row_bytes);
    const std::uint64_t* offsets = ring.ragged_offsets(field, place_.slot) + place_.row_in_slot;
    if (Error e = ring.freeze(ring.ragged_values(field, place_.slot), offsets[rows()]); !e.ok()) {
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

// Whether the daemon's offsets of the rows rise and stay in the slot: only then are they handed out
// as they are.
bool Batch::sound_offsets(const Field& field) const {
  const RingView& ring = attachment_->ring();
  const std::uint64_t* offsets = ring.ragged_offsets(field, place_.slot) + place_.row_in_slot;
  return std::is_sorted(offsets, offsets + rows() + 1) &&
         offsets[rows()] <= ring.header().batch_rows * field.row_bytes;
}

void Batch::assemble() {
  const RingView& ring = attachment_->ring();
  const bool padded = facts_.slice.padded();
  const bool several = place_.first_sequence != place_.last_sequence;
  for (const Field& field : ring.fields()) {
    if (field.ragged && (padded || several || !sound_offsets(field))) {
      assemble_ragged(field);
      copied_ = true;
    } else if (padded) {
      assemble_fixed(field);
    }
  }
  if (padded || place_.batch_use != 0) assemble_uses();
  if (!padded) return;
  assemble_fixed(ring.sample_id_field());
  auto* flags = reinterpret_cast<std::uint32_t*>(assemble_fixed(ring.row_flags_field()));
  for (std::uint64_t row = valid_rows(); row < rows(); ++row) flags[row] |= shm::kRowPadded;
  attachment_->leave(*this);
  holds_ = false;
}

void Batch::assemble_uses() {
  auto* uses = reinterpret_cast<std::uint32_t*>(assemble_fixed(attachment_->ring().use_field()));
  for (std::uint32_t row = 0; row < rows(); ++row) uses[row] += place_.batch_use;
}

std::byte* Batch::assemble_fixed(const Field& field) {
  OwnRows made;
  made.field = &field;
  made.values = std::make_unique_for_overwrite<std::byte[]>(rows() * field.row_bytes);
  const std::byte* from = attachment_->ring().rows(field, place_.arena_row);
  for (std::uint64_t row = 0; row < rows(); ++row) {
    std::memcpy(made.values.get() + row * field.row_bytes, from + source_row(row) * field.row_bytes,
                field.row_bytes);
  }
  own_.push_back(std::move(made));
  return own_.back().values.get();
}

void Batch::assemble_ragged(const Field& field) {
  const RingView& ring = attachment_->ring();
  const std::uint32_t batch_rows = ring.header().batch_rows;
  const std::uint64_t run_bytes = batch_rows * field.row_bytes;
  // Where a row's bytes stand, never beyond its slot whatever the offsets say.
  const auto bytes_of = [&](std::uint64_t row) {
    const std::uint64_t at = place_.row_in_slot + source_row(row);
    const std::uint32_t slot = ring.descriptor(place_.first_sequence + at / batch_rows).slot;
    const std::uint64_t* offsets = ring.ragged_offsets(field, slot) + at % batch_rows;
    const std::uint64_t begin = std::min(offsets[0], run_bytes);
    const std::uint64_t end = std::clamp(offsets[1], begin, run_bytes);
    return std::span(ring.ragged_values(field, slot) + begin, end - begin);
  };
  OwnRows made;
  made.field = &field;
  made.offsets.assign(1, 0);
  for (std::uint64_t row = 0; row < rows(); ++row) {
    made.offsets.push_back(made.offsets.back() + bytes_of(row).size());
  }
  made.values = std::make_unique_for_overwrite<std::byte[]>(made.offsets.back() + 1);
  for (std::uint64_t row = 0; row < rows(); ++row) {
    const auto bytes = bytes_of(row);
    std::memcpy(made.values.get() + made.offsets[row], bytes.data(), bytes.size());
  }
  own_.push_back(std::move(made));
}

}  // namespace echoline::client
