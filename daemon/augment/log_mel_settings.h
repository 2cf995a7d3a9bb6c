// The checked settings of the step log_mel.
#pragma once

#include <cstdint>

#include "audio/log_mel.h"
#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::augment {

// For audio of this rate. kInvalidArgument names the setting and the values that are allowed.
Result<audio::LogMelSettings> log_mel_settings(const v1::LogMel& settings, std::uint32_t rate);

}  // namespace echoline::augment
