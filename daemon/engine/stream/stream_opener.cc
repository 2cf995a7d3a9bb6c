#include "engine/stream/stream_opener.h"

#include <utility>

#include "base/clock.h"
#include "engine/open/open_stream.h"
#include "engine/stream/echo_placer.h"
#include "engine/stream/kept_order.h"
#include "engine/stream/verdict_files.h"

namespace echoline::engine {

Result<std::unique_ptr<Stream>> StreamOpener::open(const std::string& name,
                                                   const v1::Stream& definition,
                                                   const record::ProgressFunction& progress,
                                                   std::function<void(const Status&)> fail) const {
  ECHOLINE_ASSIGN(PlacedStream placed,
                  place_echo(name, definition, options, *pool, *budget, progress));
  ECHOLINE_ASSIGN(OpenedStream opened, open_stream(name, placed.stream, options, *pool, *budget,
                                                   progress, std::move(fail)));
  opened.core->echo_choice = std::move(placed.why);
  keep_verdicts(options.state_dir, *opened.core);
  // Shared: `opened` moves into the stream.
  const std::shared_ptr<StreamCore> core = opened.core;
  auto stream = std::make_unique<Stream>(
      std::move(opened), definition, static_cast<std::uint32_t>(pool->worker_count()),
      ReattachBarrier(trainers_file->left_behind(name), monotonic_ns() + reattach_grace_ns));
  stream->order().begin_with(
      KeptOrder(options.state_dir, name, core->ring_spec.fingerprint).load());
  // It has no trainers, so no ring and no passes.
  if (core->serves) return stream;
  // Without a trainer, so that the first one finds batches ready.
  ECHOLINE_ASSIGN(BuiltPass pass,
                  build_pass(core, *budget, {.history = stream->order().first_history(0)}));
  // On an error the stream ends here, and its destructor stops the pass.
  ECHOLINE_TRY(stream->warm_up(std::move(pass), monotonic_ns()));
  // The last question: a caller that left meanwhile gets no stream.
  if (progress) ECHOLINE_TRY(progress({}));
  return stream;
}

}  // namespace echoline::engine
