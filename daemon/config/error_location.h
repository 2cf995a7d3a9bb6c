// Finds the location in the configuration that an error is about, for errors that occur after the
// configuration was read. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// The status with the location in front that it is about: the first key, step or field that its
// text names, as "echo.window", "batch: ...", "field image" or "daemon.memory". Of an error of a
// stream that names none of the configuration: its read.url. Other errors stay as they are.
Status at_location(const Status& status, const v1::Config& config,
                   const SourceLocations& locations);
// What an error about one source of a mixture begins with, for Status::with_context: then its
// location is that source's.
std::string source_context(std::string_view name);

}  // namespace echoline::config
