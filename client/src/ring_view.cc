#include "ring_view.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace echoline::client {
namespace {

// Bytes of address space an entry takes: a fixed arena stands twice.
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
  if (fstat(fd, &status) != 0) return errno_error(errno, "can't look at the ring's memory");
  // Header and table are copied before they are checked, so that they can't change in between.
  if (Error e = read_all(fd, &made->header_, sizeof(made->header_), 0); !e.ok()) return e;
  if (Error e = made->check_header(static_cast<std::uint64_t>(status.st_size)); !e.ok()) return e;
  made->entries_.resize(made->header_.field_count);
  if (Error e = read_all(fd, made->entries_.data(), made->entries_.size() * sizeof(shm::FieldEntry),
                         made->header_.fields.offset);
      !e.ok()) {
    return e;
  }
  for (const shm::FieldEntry& entry : made->entries_) {
    if (Error e = made->check_field(entry); !e.ok()) return e;
  }
  if (Error e = made->map_all(fd); !e.ok()) return e;
  if (Error e = made->read_fields(); !e.ok()) return e;
  view = std::move(made);
  return {};
}

Error RingView::map_all(int fd) {
  std::uint64_t bytes = header_.descriptors.bytes + header_.writer.bytes;
  if (has_factor_log()) bytes += header_.factor_log.bytes;
  for (const shm::FieldEntry& entry : entries_) bytes += address_bytes(entry);
  if (Error e = mapping_.reserve(bytes); !e.ok()) return e;
  std::size_t place = 0;
  const auto map = [&](const shm::Section& section, const std::byte*& at) {
    at = mapping_.data() + place;
    Error e = mapping_.map(place, fd, section.offset, section.bytes, false);
    place += section.bytes;
    return e;
  };
  const std::byte* at = nullptr;
  if (Error e = map(header_.descriptors, at); !e.ok()) return e;
  descriptors_ = reinterpret_cast<const shm::Descriptor*>(at);
  if (Error e = map(header_.writer, at); !e.ok()) return e;
  writer_ = reinterpret_cast<const shm::WriterPage*>(at);
  if (has_factor_log()) {
    if (Error e = map(header_.factor_log, at); !e.ok()) return e;
    factor_log_ = reinterpret_cast<const shm::FactorLog*>(at);
  }
  for (const shm::FieldEntry& entry : entries_) {
    Field field = to_field(entry);
    if (Error e = map(entry.arena, field.arena); !e.ok()) return e;
    if (Error e = map(field.ragged ? entry.offsets : entry.arena, at); !e.ok()) return e;
    if (field.ragged) field.offsets = reinterpret_cast<const std::uint64_t*>(at);
    fields_.push_back(std::move(field));
  }
  return {};
}

// Takes the per-row words out of the list of fields.
Error RingView::read_fields() {
  constexpr std::string_view kNames[3] = {shm::kSampleIdField, shm::kUseField, shm::kRowFlagsField};
  constexpr std::uint64_t kBytes[3] = {sizeof(std::uint64_t), sizeof(std::uint32_t),
                                       sizeof(std::uint32_t)};
  for (int i = 0; i < 3; ++i) {
    bool found = false;
    for (std::size_t f = 0; f < fields_.size() && !found; ++f) {
      if (fields_[f].name != kNames[i] || fields_[f].ragged) continue;
      if (fields_[f].row_bytes != kBytes[i]) break;
      row_words_[i] = std::move(fields_[f]);
      fields_.erase(fields_.begin() + static_cast<std::ptrdiff_t>(f));
      found = true;
    }
    if (!found) {
      return {ECHOLINE_DATA_LOSS, "the daemon's ring lacks its field " + std::string(kNames[i]) +
                                      "; the daemon and the client library don't fit together"};
    }
  }
  entries_.clear();
  return {};
}

}  // namespace echoline::client
