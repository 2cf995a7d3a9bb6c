// A file of Megatron's tokens and where its sequences are.
#pragma once

#include <cstdint>

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

}  // namespace echoline::record
