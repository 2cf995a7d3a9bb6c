#include "ring/mapping.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <boost/interprocess/exceptions.hpp>
#include <cerrno>
#include <utility>

#include "ring/memory.h"

namespace echoline::ring {
namespace {

namespace bip = boost::interprocess;

// Reserved address space for adjacent mappings. Each take() maps over the next part, which the new
// mapping then owns. The destructor unmaps only the rest. (It must not unmap the whole range:
// another thread may have mapped memory into parts whose mapping is already gone.)
class Reservation {
 public:
  explicit Reservation(std::size_t bytes) : left_(bytes) {
    void* start =
        // PROT_NONE and no reserve: only addresses are taken, no memory.
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start != MAP_FAILED) next_ = static_cast<std::byte*>(start);
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() {
    if (next_ != nullptr && left_ != 0) munmap(next_, left_);
  }

  bool ok() const { return next_ != nullptr; }
  bip::mapped_region take(const Mappable& memory, shm::Section part) {
    // MAP_FIXED replaces the part of the reservation at `next_`, which nobody else can have mapped.
    bip::mapped_region region(memory, bip::read_write, static_cast<bip::offset_t>(part.offset),
                              part.bytes, next_, MAP_FIXED);
    next_ += part.bytes;
    left_ -= part.bytes;
    return region;
  }

 private:
  std::byte* next_ = nullptr;
  std::size_t left_;
};

// In the order of mapping: the front, then for each field its arena (twice if fixed) or its arena
// and its offsets.
std::vector<shm::Section> parts_of(const Layout& layout) {
  // The front ends with the last of the shared sections.
  const shm::RingHeader& header = layout.header;
  const shm::Section& last = header.weight_log.bytes > 0 ? header.weight_log : header.factor_log;
  std::vector<shm::Section> parts{{0, last.offset + last.bytes}};
  for (const shm::FieldEntry& entry : layout.fields) {
    parts.push_back(entry.arena);
    parts.push_back(entry.kind == shm::kFieldFixed ? entry.arena : entry.offsets);
  }
  return parts;
}

}  // namespace

Result<Mapping> Mapping::map(int fd, const Layout& layout) {
  const std::vector<shm::Section> parts = parts_of(layout);
  std::size_t bytes = 0;
  for (const shm::Section& part : parts) bytes += part.bytes;
  // One reservation for all parts: the two mappings of an arena must be adjacent.
  Reservation reservation(bytes);
  if (!reservation.ok())
    return errno_status(errno, fmt::format("address space of {} bytes for a ring", bytes));
  Mapping mapping;
  try {
    // If one fails, the regions unmap the parts so far, and the reservation the rest.
    for (const shm::Section& part : parts) mapping.regions_.push_back(reservation.take({fd}, part));
  } catch (const bip::interprocess_exception& error) {
    return errno_status(error.get_native_error(), fmt::format("mapping {} bytes of a ring", bytes));
  }
  mapping.front_ = static_cast<std::byte*>(mapping.regions_[0].get_address());
  mapping.fields_offset_ = layout.header.fields.offset;
  mapping.descriptors_offset_ = layout.header.descriptors.offset;
  mapping.writer_offset_ = layout.header.writer.offset;
  mapping.factor_log_offset_ = layout.header.factor_log.offset;
  mapping.weight_log_offset_ = layout.header.weight_log.offset;
  // Region 0 is the front; each field then has two.
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    void* second = mapping.regions_[2 * i + 2].get_address();
    mapping.arenas_.push_back(static_cast<std::byte*>(mapping.regions_[2 * i + 1].get_address()));
    const bool ragged = layout.fields[i].kind == shm::kFieldRagged;
    mapping.offsets_.push_back(ragged ? static_cast<std::uint64_t*>(second) : nullptr);
  }
  return mapping;
}

}  // namespace echoline::ring
