// A stream's status as text and as JSON. Pure functions; every text ends with a newline.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "echoline/v1/control.pb.h"

namespace echoline::cli {

std::string streams_table(const std::vector<v1::StreamStatus>& streams);
std::string streams_json(const std::vector<v1::StreamStatus>& streams);
std::string stream_text(const v1::StreamStatus& stream);
std::string stream_json(const v1::StreamStatus& stream);
// What delays its trainers now.
std::string stall_text(const v1::StreamStatus& stream);
std::string stall_json(const v1::StreamStatus& stream);

// The error for an unknown name; it lists `known`.
Status unknown_stream(const std::string& name, const std::vector<std::string>& known);

}  // namespace echoline::cli
