// Which part of a stream an error's text is about, for errors that are found after the text was
// read.
#pragma once

#include <string>
#include <string_view>

#include "config/places.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Where the first key, step or field stands that the text names, as "echo.window", "batch: ..." or
// "field image"; where it names none that is written, the place of read.url. Pure function.
std::string place_of_error(const v1::Stream& stream, const Places& places, std::string_view text);

// The same for keys of `daemon.control`, named so; its own place where the text names none.
std::string place_of_error(const v1::ControlAccess& control, const Places& places,
                           std::string_view text);

}  // namespace echoline::config
