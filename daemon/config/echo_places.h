// The places of an `echo` that a stream leaves to the daemon (`echo` as a key of the stream). For
// streams that load.h has accepted. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "echoline/v1/config.pb.h"

namespace echoline::config {

// The daemon chooses where `echo` stands.
bool leaves_echo_place(const v1::Stream& stream);
// The numbers of the steps before which `echo` can stand, ascending: between `read` and `batch`,
// after a shuffle. There is at least one. Not after `batch`: the window would count batches.
std::vector<int> echo_places(const v1::Stream& stream);
// The first place at which decoded samples are kept, or the last one of all.
int place_after_decode(const v1::Stream& stream);
// The stream with its `echo` as a step there, as a user would write it.
v1::Stream with_echo_at(const v1::Stream& stream, int place);
// "after 'decode'"; with the step's number where several have this name: "after 'resize' (step 5)".
std::string place_text(const v1::Stream& stream, int place);
// The names of the steps of the pipeline, in their order.
std::vector<std::string> step_names(const v1::Stream& stream);

}  // namespace echoline::config
