// Finds the location in the configuration that an error is about, for errors that occur after the
// configuration was read. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// The location of the first key, step or field that the text names, as "echo.window", "batch: ..."
// or "field image". If it names none that is in the configuration: the location of read.url.
std::string error_location(const v1::Stream& stream, const SourceLocations& locations,
                           std::string_view text);
// What an error about one source of a mixture begins with, for Status::with_context: then its
// location is that source's.
std::string source_context(std::string_view name);

// The same for the keys of a block of `daemon`, else the location of that block.
std::string error_location(const v1::ControlAccess& control, const SourceLocations& locations,
                           std::string_view text);
std::string error_location(const v1::Serve& serve, const SourceLocations& locations,
                           std::string_view text);
std::string error_location(const v1::Etcd& etcd, const SourceLocations& locations,
                           std::string_view text);

}  // namespace echoline::config
