// The loader behind the opaque handle of the C ABI.
#pragma once

#include "abi/guarded_call.h"
#include "loader/loader.h"
#include "state/state_json.h"

struct echoline_loader {
  echoline::client::Loader loader;
};

namespace echoline::client {

// Writes the state to the caller's buffer; see echoline_state.
Error write_state_to(const State& state, char* buffer, std::size_t capacity, std::size_t* length);

}  // namespace echoline::client
