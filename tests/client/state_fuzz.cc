// Fuzzes the parser of states. A state is text from a checkpoint: invalid text must be refused, and
// a state that is accepted must be the same after writing and reading it.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "state/state_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::client;
  State state;
  if (!parse_state({reinterpret_cast<const char*>(data), size}, state).ok()) return 0;
  State again;
  if (!parse_state(write_state(state), again).ok()) std::abort();
  if (write_state(again) != write_state(state)) std::abort();
  return 0;
}
