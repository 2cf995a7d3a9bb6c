// What a stream with a step `prepare` asks of preparation servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "batch/preparer.h"
#include "echoline/v1/config.pb.h"
#include "engine/fetch/remote_reader.h"
#include "engine/remote/remote_options.h"
#include "record/core/index.h"

namespace echoline::engine {

// The servers of the step, without the fields of their frames.
RemoteOptions server_options(const std::string& name, const v1::Prepare& step,
                             std::string fingerprint);

// Of each source: the sources share the requests to a server.
RemoteReaderOptions remote_options(const std::string& name, const v1::Prepare& step,
                                   std::string fingerprint, const batch::Preparer& preparer,
                                   double growth, std::size_t sources);

// An error if an answer cannot have one sample of this size, the mean one: nobody could receive it.
Status check_answers(std::uint64_t decoded_bytes);

// Bytes of frames for each encoded byte.
double growth_of(const record::Index& index, std::uint64_t decoded_bytes);

}  // namespace echoline::engine
