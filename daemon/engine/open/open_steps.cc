#include "engine/open/open_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "config/pipeline.h"
#include "config/preparation.h"

namespace echoline::engine {
namespace {

// The steps after `decode` are the same for all sources.
Status check_same_fields(const v1::Stream& stream,
                         const std::vector<std::unique_ptr<decode::Decoder>>& decoders) {
  const std::vector<decode::FieldType>& first = decoders.front()->fields();
  for (std::size_t source = 1; source < decoders.size(); ++source) {
    const std::vector<decode::FieldType>& fields = decoders[source]->fields();
    const auto [one, other] = std::ranges::mismatch(first, fields);
    if (one == first.end() && other == fields.end()) continue;
    const v1::Mix& mix = *config::mix_step(stream);
    return Status(Code::kInvalidArgument,
                  fmt::format("mix: field {} of source {} is of another type or shape than that of "
                              "source {}; all sources need the same fields",
                              one->name, mix.sources(static_cast<int>(source)).name(),
                              mix.sources(0).name()));
  }
  return {};
}

// The noise of a step is read before its size is known, so only what is free of the budget.
v1::Stream with_noise_limit(v1::Stream stream, const MemoryBudget& budget) {
  const std::uint64_t free_bytes = budget.budget_bytes() - budget.reserved_bytes();
  for (v1::Step& step : *stream.mutable_pipeline()) {
    if (!step.has_audio_noise()) continue;
    v1::AudioNoise& noise = *step.mutable_audio_noise();
    noise.set_max_bytes(std::min(noise.max_bytes(), free_bytes));
  }
  return stream;
}

}  // namespace

Result<Steps> compile_steps(const v1::Stream& stream, bool serves, const MemoryBudget& budget) {
  Steps steps;
  const std::size_t sources = config::reads_of(stream).size();
  for (std::size_t source = 0; source < sources; ++source) {
    ECHOLINE_ASSIGN(std::unique_ptr<decode::Decoder> decoder,
                    decode::Decoder::compile(config::decode_of(stream, source)));
    steps.decoders.push_back(std::move(decoder));
  }
  ECHOLINE_TRY(check_same_fields(stream, steps.decoders));
  // Hosts run the other steps. So a server needs no users' functions, and starts no processes.
  ECHOLINE_ASSIGN(steps.chain,
                  augment::Chain::compile(
                      with_noise_limit(serves ? config::up_to_prepare(stream) : stream, budget),
                      steps.decoders.front()->fields()));
  return steps;
}

}  // namespace echoline::engine
