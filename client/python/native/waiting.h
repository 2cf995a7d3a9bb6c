// Waits in the library while other Python threads run, and handles Ctrl-C meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "echoline/echoline.h"
#include "object.h"

namespace echoline::python {

// The longest wait in the library before Python signals are checked.
constexpr std::int64_t kSliceMs = 50;
// A status: an exception is already set.
constexpr int kRaised = -1;

// Calls wait(milliseconds) without the GIL until it returns another status than TIMEOUT, or until
// `left_ms` have passed (negative: no limit). Calls between() with the GIL after each wait; it
// returns false if it has set an exception.
template <typename Wait, typename Between>
int wait_in_slices(std::int64_t left_ms, Wait wait, Between between) {
  const bool no_limit = left_ms < 0;
  for (;;) {
    const std::int64_t slice = no_limit ? kSliceMs : std::min(kSliceMs, left_ms);
    const int status = without_gil([&] { return wait(slice); });
    if (status != ECHOLINE_TIMEOUT) return status;
    if (PyErr_CheckSignals() != 0 || !between()) return kRaised;
    left_ms -= slice;
    if (!no_limit && left_ms <= 0) return ECHOLINE_TIMEOUT;
  }
}

// Converts a timeout in seconds; None becomes -1 (no limit). False if an exception is set.
bool read_timeout(PyObject* timeout, std::int64_t& timeout_ms);

// Raises TimeoutError with the name of the loader's stream.
void raise_timeout(PyObject* loader, PyObject* timeout);

}  // namespace echoline::python
