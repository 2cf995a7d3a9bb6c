// What a loader reports about its stream and its position.
#pragma once

#include <cstdint>

#include "echoline/echoline.h"
#include "loader/reader.h"
#include "state/state_json.h"
#include "system/error.h"

namespace echoline::client {

// The reader is attached; the caller holds the loader's lock.

// Everything except the stream's name and the device.
void fill_state(Reader& reader, State& state);
void fill_info(Reader& reader, echoline_loader_info& info);
// FAILED_PRECONDITION if epochs differ in length.
Error count_steps(Reader& reader, std::uint64_t& steps);
// NOT_FOUND: there is no field of this number.
Error no_field_number(std::size_t index, std::size_t count);
// NOT_FOUND if there is no such field.
Error fill_field(const Reader& reader, std::uint32_t index, echoline_field& field);

}  // namespace echoline::client
