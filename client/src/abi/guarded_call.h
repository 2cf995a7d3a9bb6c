// What every function of the C ABI does around its work: it catches exceptions, keeps the text of
// an error, and refuses handles of a forked parent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "system/error.h"
#include "system/fork_guard.h"

namespace echoline::client {

// Copies the text for this thread's echoline_last_error; returns the status number.
int set_last_error(int status, std::string_view text) noexcept;

inline Error forked_error() {
  return {ECHOLINE_FORKED, "this handle belongs to the parent process; attach in the child itself"};
}

inline Error null_error() {
  return {ECHOLINE_INVALID_ARGUMENT, "a pointer that is needed is NULL"};
}

inline bool forked(std::uint32_t generation) { return generation != fork_generation(); }

// Runs `work`, which returns an Error; returns its status. No exception crosses the C ABI.
template <typename Work>
int guarded(Work work) noexcept {
  try {
    const Error error = work();
    return error.ok() ? static_cast<int>(ECHOLINE_OK) : set_last_error(error.code(), error.text());
  } catch (const std::bad_alloc&) {
    return set_last_error(ECHOLINE_RESOURCE_EXHAUSTED, "this process has no memory left");
  } catch (...) {
    return set_last_error(ECHOLINE_INTERNAL, "an exception that the library does not know");
  }
}

// Copies `value` to the caller's structure, as much as its `size` (the first member) allows.
template <typename T>
void copy_out(T value, T* out) {
  const std::size_t size = std::min(out->size, sizeof(T));
  value.size = out->size;
  std::memcpy(static_cast<void*>(out), &value, size);
}

// Whether the caller passed a structure with a plausible `size`.
template <typename T>
bool has_size(const T* structure) {
  return structure != nullptr && structure->size >= sizeof(std::size_t);
}

}  // namespace echoline::client
