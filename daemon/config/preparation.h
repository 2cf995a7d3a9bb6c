// Checks of preparation servers (`daemon.serve`) and of the step that names them (`prepare`).
#pragma once

#include <string>

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// The address of a step's server without its scheme, as "host:port"; empty if it is none.
std::string server_address(const std::string& server);

// After the streams were checked: all files of mutual TLS, somebody who may ask, and something to
// ask for.
Status check_serve(const v1::Config& config, const SourceLocations& locations);

// For a stream with the right order of steps: addresses, and what cannot be prepared elsewhere.
Status check_prepare(const v1::Stream& stream, const SourceLocations& locations);

}  // namespace echoline::config
