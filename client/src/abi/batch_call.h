// What the functions of the C ABI have in common that read a batch, in memory or on a GPU.
#pragma once

#include <string>

#include "abi/guarded_call.h"
#include "loader/loader_info.h"

namespace echoline::client {

// Whether the batch of a handle can be used. After a fork it belongs to the parent, and its memory
// cannot be read here.
template <typename Batch>
bool readable(const Batch* batch) {
  return batch != nullptr && !forked(batch->generation());
}

// Runs `work` on the batch of a handle and copies its result to the caller's structure.
template <typename Batch, typename Out, typename Work>
int read_batch(const Batch* batch, Out* out, Work work) noexcept {
  return guarded([&]() -> Error {
    // Without a size it is not known how much of the structure may be written.
    if (batch == nullptr || !has_size(out)) {
      return {ECHOLINE_INVALID_ARGUMENT, "a batch or a structure with a size is missing"};
    }
    if (!readable(batch)) return forked_error();
    // Copied whole at the end: after an error the caller's structure is unchanged.
    Out made{};
    Error e = work(*batch, made);
    if (e.ok()) copy_out(made, out);
    return e;
  });
}

// The error lists the names, because a wrong one is mostly a typing mistake.
template <typename Fields>
Error no_field_named(const char* name, const Fields& fields) {
  std::string known;
  for (const auto& field : fields) known += " " + field.name;
  return {ECHOLINE_NOT_FOUND, "the stream has no field '" +
                                  std::string(name == nullptr ? "" : name) + "', but:" + known};
}

}  // namespace echoline::client
