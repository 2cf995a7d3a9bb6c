// What the opaque handles of the C ABI stand for, where several of its files need to know.
#pragma once

#include "abi/guarded_call.h"
#include "loader/loader.h"
#include "state/state_json.h"

struct echoline_loader {
  echoline::client::Loader loader;
};

namespace echoline::client {

// The state's text into a buffer of the caller's; see echoline_state.
Error give_state(const State& state, char* buffer, std::size_t capacity, std::size_t* length);

}  // namespace echoline::client
