// What a ring must say of itself before any of it is used (RingView's checks).
#include <bit>
#include <cstring>
#include <string>

#include "echoline/shm/dtype.h"
#include "ring_view.h"
#include "wide.h"

namespace echoline::client {
namespace {

constexpr std::uint64_t kRingBytesMax = std::uint64_t{1} << 46;
constexpr std::uint32_t kFieldCountMax = 1024;
constexpr std::uint32_t kRowsMax = 1U << 24;

Error broken(const char* what) {
  return {ECHOLINE_DATA_LOSS, std::string("the daemon's ring is not valid: ") + what +
                                  "; the daemon and the client library don't fit together"};
}

std::string version(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace

bool RingView::is_section(const shm::Section& section) const {
  return section.offset % shm::kPageBytes == 0 && section.bytes % shm::kPageBytes == 0 &&
         section.bytes > 0 && section.offset <= header_.total_bytes &&
         section.bytes <= header_.total_bytes - section.offset;
}

Error RingView::check_header(std::uint64_t file_bytes) const {
  const shm::RingHeader& h = header_;
  if (h.magic != shm::kRingMagic) return broken("wrong magic");
  if (h.layout_major != shm::kLayoutMajor) {
    return {ECHOLINE_VERSION_MISMATCH,
            "the daemon's ring has layout " + version(h.layout_major, h.layout_minor) +
                ", this client library reads " + version(shm::kLayoutMajor, shm::kLayoutMinor) +
                "; install the client library of the daemon's version"};
  }
  if (h.total_bytes > file_bytes || h.total_bytes > kRingBytesMax) return broken("its size");
  if (h.batch_rows == 0 || h.batch_rows > kRowsMax) return broken("its batch size");
  if (h.slot_count == 0 || h.slot_count > kRowsMax) return broken("its slots");
  if (!std::has_single_bit(h.descriptor_count) || h.descriptors_live == 0 ||
      h.descriptors_live > h.descriptor_count) {
    return broken("its descriptors");
  }
  if (h.last_batch < shm::kLastDrop || h.last_batch > shm::kLastPad) return broken("its tail rule");
  if (h.field_count == 0 || h.field_count > kFieldCountMax) return broken("its number of fields");
  if (!is_section(h.fields) || h.fields.bytes < h.field_count * sizeof(shm::FieldEntry) ||
      !is_section(h.descriptors) ||
      h.descriptors.bytes < std::uint64_t{h.descriptor_count} * sizeof(shm::Descriptor) ||
      !is_section(h.writer) || h.writer.bytes < sizeof(shm::WriterPage) ||
      (has_factor_log() &&
       (!is_section(h.factor_log) || h.factor_log.bytes < sizeof(shm::FactorLog)))) {
    return broken("its sections");
  }
  return {};
}

Error RingView::check_field(const shm::FieldEntry& entry) const {
  if (std::memchr(entry.name, 0, sizeof(entry.name)) == nullptr) return broken("a field's name");
  const std::uint64_t element = shm::dtype_bytes(entry.dtype);
  if (element == 0 || entry.rank > shm::kFieldRankMax) return broken("a field's type");
  if (!is_section(entry.arena) || entry.row_bytes > header_.total_bytes) {
    return broken("a field's arena");
  }
  if (entry.kind == shm::kFieldRagged) {
    const std::uint64_t run = (std::uint64_t{header_.batch_rows} + 1) * sizeof(std::uint64_t);
    const Wide values =
        static_cast<Wide>(entry.row_bytes) * header_.batch_rows * header_.slot_count;
    if (values > entry.arena.bytes || !is_section(entry.offsets) ||
        entry.offsets.bytes < run * header_.slot_count) {
      return broken("a ragged field's arena");
    }
    return {};
  }
  if (entry.kind != shm::kFieldFixed) return broken("a field's kind");
  Wide bytes = element;
  for (std::uint32_t i = 0; i < entry.rank; ++i) {
    bytes *= entry.sizes[i];
    if (bytes > header_.total_bytes) return broken("a field's shape");
  }
  if (bytes != entry.row_bytes || entry.row_bytes == 0) return broken("a field's row size");
  if (static_cast<Wide>(entry.arena_rows) * entry.row_bytes > entry.arena.bytes ||
      entry.arena_rows < header_.batch_rows) {
    return broken("a field's arena rows");
  }
  return {};
}

bool RingView::plausible(const shm::Descriptor& d, std::uint64_t sequence) const {
  return d.sequence == sequence && d.slot < header_.slot_count && d.valid_rows > 0 &&
         d.valid_rows <= header_.batch_rows;
}

}  // namespace echoline::client
