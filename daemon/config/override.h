// Applies an override such as "daemon.workers=4" to a configuration that has been read.
#pragma once

#include <string>

#include "base/status.h"
#include "config/source_locations.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// The path names keys, streams, and steps by their name or position
// ("streams.train.pipeline.echo.factor=2", "streams.train.pipeline.0.url=..."); the value is YAML.
// Ranges are checked with everything else.
Status apply_override(const std::string& text, v1::Config& config, SourceLocations& locations);

}  // namespace echoline::config
