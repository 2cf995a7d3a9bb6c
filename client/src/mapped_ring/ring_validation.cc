#include "mapped_ring/ring_validation.h"

#include <bit>
#include <cstring>
#include <string>

#include "echoline/shm/dtype.h"
#include "system/uint128.h"

namespace echoline::client {
namespace {

// Generous limits: a value above them is certainly wrong.
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

// Whether the section is whole pages inside the ring's memory. Written so that no sum overflows.
bool is_section(const shm::RingHeader& header, const shm::Section& section) {
  return section.offset % shm::kPageBytes == 0 && section.bytes % shm::kPageBytes == 0 &&
         section.bytes > 0 && section.offset <= header.total_bytes &&
         section.bytes <= header.total_bytes - section.offset;
}

}  // namespace

Error check_ring_header(const shm::RingHeader& h, std::uint64_t file_bytes) {
  if (h.magic != shm::kRingMagic) return broken("wrong magic");
  if (h.layout_major != shm::kLayoutMajor) {
    return {ECHOLINE_VERSION_MISMATCH,
            "the daemon's ring has layout " + version(h.layout_major, h.layout_minor) +
                ", this client library reads " + version(shm::kLayoutMajor, shm::kLayoutMinor) +
                "; install the client library of the daemon's version"};
  }
  // The header is not trusted: every size is compared with the file.
  if (h.total_bytes > file_bytes || h.total_bytes > kRingBytesMax) return broken("its size");
  if (h.batch_rows == 0 || h.batch_rows > kRowsMax) return broken("its batch size");
  if (h.slot_count == 0 || h.slot_count > kRowsMax) return broken("its slots");
  // A power of two, because RingView::descriptor masks the sequence.
  if (!std::has_single_bit(h.descriptor_count) || h.descriptors_live == 0 ||
      h.descriptors_live > h.descriptor_count) {
    return broken("its descriptors");
  }
  if (h.last_batch < shm::kLastDrop || h.last_batch > shm::kLastPad) return broken("its tail rule");
  if (h.field_count == 0 || h.field_count > kFieldCountMax) return broken("its number of fields");
  if (!is_section(h, h.fields) || h.fields.bytes < h.field_count * sizeof(shm::FieldEntry) ||
      !is_section(h, h.descriptors) ||
      h.descriptors.bytes < std::uint64_t{h.descriptor_count} * sizeof(shm::Descriptor) ||
      !is_section(h, h.writer) || h.writer.bytes < sizeof(shm::WriterPage) ||
      (has_factor_log(h) &&
       (!is_section(h, h.factor_log) || h.factor_log.bytes < sizeof(shm::FactorLog))) ||
      (has_weight_log(h) &&
       (!is_section(h, h.weight_log) || h.weight_log.bytes < sizeof(shm::WeightLog)))) {
    return broken("its sections");
  }
  return {};
}

Error check_ring_field(const shm::RingHeader& header, const shm::FieldEntry& entry) {
  // Names are read as zero-terminated texts.
  if (std::memchr(entry.name, 0, sizeof(entry.name)) == nullptr) return broken("a field's name");
  const std::uint64_t element = shm::dtype_bytes(entry.dtype);
  if (element == 0 || entry.rank > shm::kFieldRankMax) return broken("a field's type");
  if (!is_section(header, entry.arena) || entry.row_bytes > header.total_bytes) {
    return broken("a field's arena");
  }
  // row_bytes must be the product of the element size and the shape; compare without overflow.
  Uint128 bytes = element;
  for (std::uint32_t i = 0; i < entry.rank; ++i) {
    bytes *= entry.sizes[i];
    if (bytes > header.total_bytes) return broken("a field's shape");
  }
  if (bytes != entry.row_bytes || entry.row_bytes == 0) return broken("a field's row size");
  if (entry.kind == shm::kFieldRagged) {
    if (entry.rank == 0) return broken("a ragged field's shape");
    // In each slot batch_rows + 1 offsets, and values for batch_rows rows of maximum size.
    const std::uint64_t run = (std::uint64_t{header.batch_rows} + 1) * sizeof(std::uint64_t);
    const Uint128 values =
        static_cast<Uint128>(entry.row_bytes) * header.batch_rows * header.slot_count;
    if (values > entry.arena.bytes || !is_section(header, entry.offsets) ||
        entry.offsets.bytes < run * header.slot_count) {
      return broken("a ragged field's arena");
    }
    return {};
  }
  if (entry.kind != shm::kFieldFixed) return broken("a field's kind");
  if (static_cast<Uint128>(entry.arena_rows) * entry.row_bytes > entry.arena.bytes ||
      entry.arena_rows < header.batch_rows) {
    return broken("a field's arena rows");
  }
  return {};
}

}  // namespace echoline::client
