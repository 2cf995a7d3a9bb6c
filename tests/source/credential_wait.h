// Waits for credentials as a transfer does: by repeated calls of ready().
#pragma once

#include <thread>

#include "base/clock.h"
#include "source/credentials/credential_source.h"

namespace echoline::source {

// Ok when they can be used; a final error, or the last one after `limit_ns`.
inline Status wait_ready(CredentialSource& source, std::uint64_t limit_ns = 20'000'000'000) {
  const std::uint64_t deadline = monotonic_ns() + limit_ns;
  while (true) {
    Verdict verdict = source.ready(std::time(nullptr));
    if (verdict.status.ok() || !verdict.retry || monotonic_ns() > deadline) return verdict.status;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace echoline::source
