// Reads the first bytes of many objects in parallel: a store answers hundreds in the time of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/status.h"
#include "source/core/source.h"

namespace echoline::record {

// Calls `take` with the first `bytes` (or all) of each object, in order, until a call fails. Memory
// is bounded by a few hundred headers. Read errors name the object.
Status for_each_header(const std::vector<source::ObjectInfo>& objects, std::uint64_t bytes,
                       source::Source& source,
                       const std::function<Status(std::size_t, std::span<const std::byte>)>& take);

}  // namespace echoline::record
