// The daemon's writable mapping of a ring: the front part once, each arena of fixed rows twice in a
// row. So rows that cross the arena's end are contiguous.
#pragma once

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "echoline/shm/ring_layout.h"
#include "ring/layout.h"

namespace echoline::ring {

// Owns the mappings; the caller may close the descriptor after `map`. The addresses do not change
// during its lifetime. Any thread may call the const methods.
class Mapping {
 public:
  static Result<Mapping> map(int fd, const Layout& layout);

  // The addresses come from the daemon's own copy of the layout, never from shared memory: readers
  // can overwrite the header of an unsealed ring.
  shm::RingHeader& header() const { return *at<shm::RingHeader>(0); }
  shm::FieldEntry* fields() const { return at<shm::FieldEntry>(fields_offset_); }
  shm::Descriptor* descriptors() const { return at<shm::Descriptor>(descriptors_offset_); }
  shm::WriterPage& writer() const { return *at<shm::WriterPage>(writer_offset_); }
  shm::FactorLog& factor_log() const { return *at<shm::FactorLog>(factor_log_offset_); }
  // Only of a ring with RingSpec::has_weights.
  shm::WeightLog& weight_log() const { return *at<shm::WeightLog>(weight_log_offset_); }
  // Row 0 of a field. The arena of a fixed field is mapped twice in a row from here.
  std::byte* arena(std::size_t field) const { return arenas_[field]; }
  // The offsets of a ragged field; null for a fixed one.
  std::uint64_t* offsets(std::size_t field) const { return offsets_[field]; }

 private:
  template <typename T>
  T* at(std::uint64_t offset) const {
    return reinterpret_cast<T*>(front_ + offset);
  }

  std::vector<boost::interprocess::mapped_region> regions_;
  std::byte* front_ = nullptr;
  std::uint64_t fields_offset_ = 0;
  std::uint64_t descriptors_offset_ = 0;
  std::uint64_t writer_offset_ = 0;
  std::uint64_t factor_log_offset_ = 0;
  std::uint64_t weight_log_offset_ = 0;
  std::vector<std::byte*> arenas_;
  std::vector<std::uint64_t*> offsets_;
};

}  // namespace echoline::ring
