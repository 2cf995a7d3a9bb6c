// Waiting in the library while Python runs on, and Ctrl-C is served.
#pragma once

#include <algorithm>
#include <cstdint>

#include "echoline/echoline.h"
#include "object.h"

namespace echoline::python {

// How long a call stays in the library.
constexpr std::int64_t kSliceMs = 50;
// An exception is set already.
constexpr int kRaised = -1;

// Calls wait(milliseconds) until it says something else than TIMEOUT, or `left_ms` are over
// (negative: never). In between, between() is false with an exception.
template <typename Wait, typename Between>
int wait_in_slices(std::int64_t left_ms, Wait wait, Between between) {
  const bool for_ever = left_ms < 0;
  for (;;) {
    const std::int64_t slice = for_ever ? kSliceMs : std::min(kSliceMs, left_ms);
    const int status = without_gil([&] { return wait(slice); });
    if (status != ECHOLINE_TIMEOUT) return status;
    if (PyErr_CheckSignals() != 0 || !between()) return kRaised;
    left_ms -= slice;
    if (!for_ever && left_ms <= 0) return ECHOLINE_TIMEOUT;
  }
}

// Of a timeout in seconds, or None for none (-1); false with an exception.
bool read_timeout(PyObject* timeout, std::int64_t& timeout_ms);

// Raises TimeoutError, with the attribute `stream` of the loader.
void raise_timeout(PyObject* loader, PyObject* timeout);

}  // namespace echoline::python
