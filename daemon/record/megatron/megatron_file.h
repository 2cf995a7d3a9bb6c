// A file of Megatron's tokens and where its sequences are.
#pragma once

#include <cstdint>
#include <vector>

#include "record/arrays/array_header.h"
#include "record/megatron/sequence_index.h"
#include "source/core/source.h"

namespace echoline::record {

struct MegatronFile {
  source::ObjectInfo object;  // the .bin file
  ElementType type;
  Sequences sequences;

  std::uint64_t tokens() const { return sequences.begin.back(); }
};

// How many records come before those of each file; one more than files: the last one is their
// total.
class FirstRecords {
 public:
  FirstRecords() : first_{0} {}
  void add(std::uint64_t records) { first_.push_back(first_.back() + records); }
  std::uint64_t total() const { return first_.back(); }
  std::uint64_t of(std::size_t file) const { return first_[file]; }
  std::uint64_t count(std::size_t file) const { return first_[file + 1] - first_[file]; }
  // The file that has the record.
  std::size_t file_of(std::uint64_t record) const;

 private:
  std::vector<std::uint64_t> first_;
};

}  // namespace echoline::record
