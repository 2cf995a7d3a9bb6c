// Cuts an answer of a preparation server into frames, and checks them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "decode/sample.h"

namespace echoline::engine {

// The bytes of a PrepareResponse, in pieces as they have arrived.
using AnswerPieces = std::vector<std::span<const std::byte>>;

// One frame for each of the first records, at least one; each in a buffer of its own. kDataLoss
// where anything in the answer is wrong: form, number, record, types, checksum.
Result<std::vector<std::shared_ptr<Buffer>>> frames_of(
    const AnswerPieces& answer, const std::vector<std::uint64_t>& records,
    const std::vector<decode::FieldType>& fields);

}  // namespace echoline::engine
