#include "config/other_names.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "config/names.h"
#include "config/rules.h"

namespace echoline::config {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Names that are too far from ours for did_you_mean(). The first one counts that the message has.
constexpr auto kOurNames = std::to_array<Pair>({
    {"flip", "horizontal_flip"},
    {"hflip", "horizontal_flip"},
    {"jitter", "color_jitter"},
    {"blur", "gaussian_blur"},
    {"buffer", "window"},
    {"buffer_size", "window"},
    {"shuffle_buffer", "window"},
    {"buffer_size", "read_ahead"},
    {"prefetch", "read_ahead"},
    {"prefetch_factor", "read_ahead"},
    {"num_parallel_calls", "concurrency"},
    {"num_parallel_reads", "concurrency"},
    {"data_dir", "url"},
    {"file", "url"},
    {"filenames", "url"},
    {"files", "url"},
    {"path", "url"},
    {"paths", "url"},
    {"root", "url"},
    {"batch_size", "size"},
    {"kernel_size", "size"},
    {"output_size", "size"},
    {"num_threads", "workers"},
    {"num_workers", "workers"},
    {"p", "probability"},
    {"prob", "probability"},
    {"num_ops", "operations"},
    {"steps", "pipeline"},
    {"transform", "pipeline"},
    {"transforms", "pipeline"},
});

// Settings that are elsewhere, or not needed.
constexpr std::string_view kDropHere = "here it is 'last: drop' of the step 'batch'";
constexpr std::string_view kAheadHere =
    "here it is 'read_ahead' of the step 'read', in bytes, and 'slots' of the step 'publish', in "
    "batches";
constexpr std::string_view kArraysHere =
    "not needed here: 'decode' makes arrays, and 'normalize' makes them float32, by default chw";
constexpr std::string_view kThreadsHere =
    "here it is daemon.workers: one daemon has the threads for all processes";
constexpr auto kElsewhere = std::to_array<Pair>({
    {"batch_size", "here it is 'size' of the step 'batch'"},
    {"buffer_size", "here it is 'window' of the step 'shuffle'"},
    {"crop", "here it is random_crop, center_crop or random_resized_crop"},
    {"drop_last", kDropHere},
    {"drop_remainder", kDropHere},
    {"epochs", "a loader reads as many epochs as it is asked for"},
    {"map", "for code of your own there is the step 'python'"},
    {"num_threads", kThreadsHere},
    {"num_workers", kThreadsHere},
    {"pil_to_tensor", kArraysHere},
    {"pin_memory", "not needed here: a loader with a device copies to it"},
    {"prefetch", kAheadHere},
    {"prefetch_factor", kAheadHere},
    {"repeat", "not needed here: epochs follow each other; 'echo' uses a record several times"},
    {"seed", "here it belongs to the stream, next to 'pipeline'"},
    {"shuffle", "here it is a step of its own, as '- shuffle: {window: all}'"},
    {"to_image", kArraysHere},
    {"to_tensor", kArraysHere},
});

std::string hint(std::string_view key, const std::vector<std::string>& known) {
  for (const auto& [theirs, ours] : kOurNames) {
    if (theirs != key || std::ranges::find(known, ours) == known.end()) continue;
    return "; did you mean '" + std::string(ours) + "'?";
  }
  const auto* const found = std::ranges::find(kElsewhere, key, &Pair::first);
  if (found != kElsewhere.end()) return "; " + std::string(found->second);
  return did_you_mean(key, known);
}

}  // namespace

std::string unknown_key_text(const std::string& key, const google::protobuf::Descriptor& message) {
  const std::vector<std::string> known = known_keys(message);
  return "unknown; allowed: " + join_names(known) + hint(key, known);
}

}  // namespace echoline::config
