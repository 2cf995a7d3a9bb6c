// How much memory one pass of a stream may take beside its ring: for reading ahead and for the echo
// window.
#pragma once

#include <cstdint>

#include "engine/open/stream_core.h"

namespace echoline::v1 {
class Read;
}

namespace echoline::engine {

// Sets `read_ahead`, `window_floor_bytes` and `window_wish_bytes` of an otherwise opened stream.
// `decoded_bytes`: of a record, in the mean.
void size_pass(const v1::Read& read, std::uint64_t decoded_bytes, StreamCore& core);

}  // namespace echoline::engine
