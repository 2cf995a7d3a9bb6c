#include "mapped_ring/ring_view.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "mapped_ring/ring_validation.h"

namespace echoline::client {
namespace {

// Bytes of address space that a field needs. A fixed arena is mapped twice, back to back, so that
// a run of rows that wraps at its end is contiguous.
std::uint64_t address_bytes(const shm::FieldEntry& entry) {
  return entry.kind == shm::kFieldFixed ? 2 * entry.arena.bytes
                                        : entry.arena.bytes + entry.offsets.bytes;
}

Field to_field(const shm::FieldEntry& entry) {
  Field field;
  field.name = entry.name;
  field.dtype = entry.dtype;
  field.ragged = entry.kind == shm::kFieldRagged;
  field.sizes.assign(entry.sizes, entry.sizes + entry.rank);
  field.row_bytes = entry.row_bytes;
  field.arena_rows = entry.arena_rows;
  field.arena_bytes = entry.arena.bytes;
  return field;
}

Error read_all(int fd, void* data, std::size_t bytes, std::uint64_t offset) {
  const ssize_t got = pread(fd, data, bytes, static_cast<off_t>(offset));
  if (got == static_cast<ssize_t>(bytes)) return {};
  if (got < 0) return errno_error(errno, "can't read the ring's header");
  return {ECHOLINE_DATA_LOSS, "the ring that the daemon sent is too short"};
}

}  // namespace

Error RingView::open(int fd, std::unique_ptr<RingView>& view) {
  auto made = std::make_unique<RingView>();
  struct stat status {};
  if (fstat(fd, &status) != 0) return errno_error(errno, "can't get the size of the ring's memory");
  // Copy header and table before the checks: the daemon cannot change them in between.
  if (Error e = read_all(fd, &made->header_, sizeof(made->header_), 0); !e.ok()) return e;
  if (Error e = check_ring_header(made->header_, static_cast<std::uint64_t>(status.st_size));
      !e.ok())
    return e;
  made->entries_.resize(made->header_.field_count);
  if (Error e = read_all(fd, made->entries_.data(), made->entries_.size() * sizeof(shm::FieldEntry),
                         made->header_.fields.offset);
      !e.ok()) {
    return e;
  }
  // All of them before anything is mapped.
  for (const shm::FieldEntry& entry : made->entries_) {
    if (Error e = check_ring_field(made->header_, entry); !e.ok()) return e;
  }
  if (Error e = made->map_all(fd); !e.ok()) return e;
  if (Error e = made->take_per_row_fields(); !e.ok()) return e;
  view = std::move(made);
  return {};
}

Error RingView::map_all(int fd) {
  std::uint64_t bytes = header_.descriptors.bytes + header_.writer.bytes;
  if (has_factor_log(header_)) bytes += header_.factor_log.bytes;
  if (has_weight_log(header_)) bytes += header_.weight_log.bytes;
  for (const shm::FieldEntry& entry : entries_) bytes += address_bytes(entry);
  // One range for all sections: a forked child can take away access to all of it with one call.
  if (Error e = mapping_.reserve(bytes); !e.ok()) return e;
  std::size_t position = 0;
  const auto map = [&](const shm::Section& section, const std::byte*& at) {
    at = mapping_.data() + position;
    Error e = mapping_.map(position, fd, section.offset, section.bytes, false);
    position += section.bytes;
    return e;
  };
  const std::byte* at = nullptr;
  if (Error e = map(header_.descriptors, at); !e.ok()) return e;
  descriptors_ = reinterpret_cast<const shm::Descriptor*>(at);
  if (Error e = map(header_.writer, at); !e.ok()) return e;
  writer_ = reinterpret_cast<const shm::WriterPage*>(at);
  if (has_factor_log(header_)) {
    if (Error e = map(header_.factor_log, at); !e.ok()) return e;
    factor_log_ = reinterpret_cast<const shm::FactorLog*>(at);
  }
  if (has_weight_log(header_)) {
    if (Error e = map(header_.weight_log, at); !e.ok()) return e;
    weight_log_ = reinterpret_cast<const shm::WeightLog*>(at);
  }
  for (const shm::FieldEntry& entry : entries_) {
    Field field = to_field(entry);
    if (Error e = map(entry.arena, field.arena); !e.ok()) return e;
    // A fixed arena a second time, or the offsets of a ragged field.
    if (Error e = map(field.ragged ? entry.offsets : entry.arena, at); !e.ok()) return e;
    if (field.ragged) field.offsets = reinterpret_cast<const std::uint64_t*>(at);
    fields_.push_back(std::move(field));
  }
  return {};
}

Error RingView::take_per_row_fields() {
  // The daemon writes these three fields in every ring.
  constexpr std::string_view kNames[3] = {shm::kSampleIdField, shm::kUseField, shm::kRowFlagsField};
  constexpr std::uint64_t kBytes[3] = {sizeof(std::uint64_t), sizeof(std::uint32_t),
                                       sizeof(std::uint32_t)};
  for (int i = 0; i < 3; ++i) {
    bool found = false;
    for (std::size_t f = 0; f < fields_.size() && !found; ++f) {
      if (fields_[f].name != kNames[i] || fields_[f].ragged) continue;
      if (fields_[f].row_bytes != kBytes[i]) break;
      per_row_fields_[i] = std::move(fields_[f]);
      fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(f));
      found = true;
    }
    if (!found) {
      return {ECHOLINE_DATA_LOSS, "the daemon's ring lacks its field " + std::string(kNames[i]) +
                                      "; the daemon and the client library don't fit together"};
    }
  }
  // Only needed during open().
  entries_.clear();
  return {};
}

bool RingView::is_valid(const shm::Descriptor& d, std::uint64_t sequence) const {
  // The sequence, too, because the place may have an older descriptor.
  return d.sequence == sequence && d.slot < header_.slot_count && d.valid_rows > 0 &&
         d.valid_rows <= (d.whole_rows == 0 ? header_.batch_rows : d.whole_rows) &&
         d.whole_rows <= header_.batch_rows;
}

}  // namespace echoline::client
