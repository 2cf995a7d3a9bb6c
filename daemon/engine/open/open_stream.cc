#include "engine/open/open_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/scheme.h"
#include "config/pipeline.h"
#include "config/preparation.h"
#include "engine/open/fingerprint.h"
#include "engine/open/memory_plan.h"
#include "engine/open/open_cache.h"
#include "engine/open/open_data.h"
#include "engine/open/open_order.h"
#include "engine/open/open_plan.h"
#include "engine/open/open_remote.h"
#include "engine/open/open_seek_indexes.h"
#include "engine/open/open_steps.h"
#include "engine/open/probe.h"
#include "engine/open/ring_spec.h"
#include "record/core/data_set.h"
#include "user_code/workers.h"

namespace echoline::engine {
namespace {

// A stream's data and steps.
struct Opened {
  OpenedData data;
  OpenedOrder order;
  std::unique_ptr<plan::Plan> plan;
  std::unique_ptr<batch::Preparer> preparer;
  MemoryBudget::Reservation step_memory;  // of files that steps keep
};

// Tells who waits that users' code may be what takes long, while `run` runs.
template <typename Run>
auto with_user_code(const v1::Stream& stream, const char* what, bool serves,
                    const record::ProgressFunction& progress, const Run& run) -> decltype(run()) {
  const std::string names =
      config::user_code_names(serves ? config::up_to_prepare(stream) : stream);
  if (!progress || names.empty()) return run();
  ECHOLINE_TRY(progress({.user_code = fmt::format("{} user code ({})", what, names)}));
  auto result = run();
  // What follows is not its time.
  ECHOLINE_TRY(progress({}));
  return result;
}

Result<Opened> open_parts(const std::string& name, const v1::Stream& stream,
                          const std::string& state_dir, bool serves,
                          const record::ProgressFunction& progress, MemoryBudget& budget) {
  Steps steps;
  const auto load = [&] {
    return with_user_code(stream, "the steps are loaded, with", serves, progress,
                          [&] { return compile_steps(stream, serves, budget); });
  };
  record::OpenOptions options;
  // Its processes are started first: they know how many records there are.
  const bool python = config::reads_python(stream);
  if (python) {
    ECHOLINE_ASSIGN(steps, load());
    options.python_records = steps.chain->user_code().front()->length();
  }
  Opened opened;
  ECHOLINE_ASSIGN(opened.data, open_data(stream, state_dir, progress, options));
  const record::DataSet& data_set = *opened.data.data_set;
  // A preparation server gets the numbers of records from hosts: it has no order.
  if (!serves) {
    ECHOLINE_ASSIGN(opened.order, open_order(name, stream, data_set, budget));
  }
  // Checked before anything is decoded: a plan that cannot work fails quickly.
  ECHOLINE_ASSIGN(opened.plan, open_plan(stream, data_set, opened.order));
  if (!python) {
    ECHOLINE_ASSIGN(steps, load());
  }
  ECHOLINE_ASSIGN(opened.step_memory,
                  budget.reserve(steps.chain->kept_bytes(), "the noise of stream " + name));
  // The preparer refers to the data set, which the core owns together with it.
  opened.preparer = std::make_unique<batch::Preparer>(data_set, std::move(steps.decoders),
                                                      std::move(steps.chain), echo_point(stream));
  return opened;
}

SlowPolicy slow_policy(const v1::Stream& stream) {
  const v1::Publish& publish = config::publish_step(stream);
  using enum SlowPolicy::Action;
  // publish.lag is in rows, and the default is half of the ring.
  const std::uint64_t half_the_slots =
      std::uint64_t{publish.slots() / 2} * config::batch_step(stream).size();
  return {.action = publish.when_slow() == "split"    ? kSplit
                    : publish.when_slow() == "detach" ? kDetach
                                                      : kWait,
          .lag_rows = publish.has_lag() ? publish.lag() : half_the_slots,
          .ring_rows = std::uint64_t{publish.slots()} * config::batch_step(stream).size()};
}

// One for each worker, so that workers share no buffers and need no lock.
std::vector<batch::WorkerScratch> make_scratch(const batch::Preparer& preparer,
                                               std::size_t workers) {
  std::vector<batch::WorkerScratch> scratch;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    scratch.push_back(preparer.make_scratch());
  }
  return scratch;
}

std::unique_ptr<BadRecords> make_bad_records(const v1::Stream& stream, const record::Index& index,
                                             const plan::Plan& plan) {
  return std::make_unique<BadRecords>(
      index, plan,
      BadRecords::Policy{.replace = stream.bad_records().policy() != "fail",
                         .limit = stream.bad_records().limit()});
}

// Of several sources the first one's: metrics have it as a label.
std::string scheme_name(const v1::Read& read) {
  if (read.has_python()) return "python";
  return std::string(to_string(scheme_of(read.url(0)).value_or(Scheme::kFile)));
}

// What the definition alone says.
StreamCore begin_core(const std::string& name, const v1::Stream& stream, const OpenOptions& options,
                      bool serves, WorkerPool& pool) {
  StreamCore core;
  core.name = name;
  core.seed = stream.seed();
  core.scheme = scheme_name(joined_read(stream));
  core.serves = serves;
  core.pool = &pool;
  core.slots = config::publish_step(stream).slots();
  core.slow = slow_policy(stream);
  core.auto_factor = config::echo_is_auto(stream);
  core.stall_report_ns = options.stall_report_ns;
  return core;
}

// The memory of a pass, without its ring.
void plan_memory_of(StreamCore& core, const v1::Stream& stream, const ProbedTypes& probed) {
  const bool together = core.preparer->chain().together_max() > 1;
  const MemoryPlan memory =
      plan_memory(joined_read(stream), *core.data_set, *core.plan, probed.row_types,
                  probed.kept_bytes, core.frame_growth, together ? kTogetherBytes : kChunkBytes);
  core.read_ahead = memory.read_ahead;
  core.shuffle_window_bytes = memory.shuffle_window_bytes;
  core.window_floor_bytes = memory.window_floor_bytes;
  core.window_wish_bytes = memory.window_wish_bytes;
  core.window_parts = memory.window_parts;
}

// Room for two passes is left, if there are any: indexes only save time.
void add_seek_indexes(StreamCore& core, const v1::Stream& stream, const OpenOptions& options,
                      MemoryBudget& budget) {
  const std::uint64_t pass_bytes =
      ring::ring_bytes(core.ring_spec) + core.read_ahead.most_bytes + core.window_floor_bytes;
  OpenedSeekIndexes seek =
      open_seek_indexes(stream, core.data_set->index(), core.ring_spec, *core.preparer,
                        {.share = options.seek_index,
                         .state_dir = options.state_dir,
                         .spared_bytes = core.serves ? 0 : 2 * pass_bytes,
                         .decoded_bytes = core.decoded_bytes},
                        budget);
  core.preparer->set_seek_indexes(seek.indexes.get());
  if (seek.indexes != nullptr && seek.indexes->has_log()) {
    core.seek_writer = std::make_unique<SeekWriter>(*seek.indexes);
  }
  core.seek_memory = std::move(seek.memory);
  core.seek_indexes = std::move(seek.indexes);
}

// `is_remote`: servers prepare the samples, and the fetchers ask them first.
Result<std::unique_ptr<Fetchers>> open_fetchers(
    const StreamCore& core, const v1::Stream& stream,
    std::vector<std::unique_ptr<source::Source>> sources, bool is_remote,
    const std::function<void(const Status&)>& fail) {
  const plan::PlanSpec& plan = core.plan->spec();
  std::vector<std::unique_ptr<Fetcher>> fetchers;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    // From here on the source belongs to the fetcher's thread.
    fetchers.push_back(std::make_unique<Fetcher>(
        std::move(sources[source]), core.data_set->index(),
        Fetcher::Caches{.levels = core.cache.get(),
                        .samples = core.samples.get(),
                        .fetchers = static_cast<std::uint32_t>(sources.size())},
        Fetcher::Options{.wait_on_error = config::reads_of(stream)[source]->on_error() != "fail",
                         // Records of one window may be requested far apart and still share a read.
                         .reach = plan.scatters_records()
                                      ? plan::kWindowAll
                                      : std::max(plan.shuffle_window, plan.echo_window),
                         .source = static_cast<std::uint32_t>(source),
                         .own_thread = !is_remote,
                         .recorder = core.recorder},
        fail));
  }
  if (is_remote) {
    const RemoteReaderOptions remote =
        remote_options(core.name, *config::prepare_step(stream), core.sample_fingerprint,
                       *core.preparer, core.frame_growth, sources.size());
    // Every source asks the same servers, so one check is enough.
    for (const auto& fetcher : fetchers) {
      ECHOLINE_TRY(fetcher->use_servers(remote, fetcher == fetchers.front()));
    }
  }
  return std::make_unique<Fetchers>(std::move(fetchers), *core.data_set);
}

}  // namespace

Result<OpenedStream> open_stream(const std::string& name, const v1::Stream& given,
                                 const OpenOptions& options, WorkerPool& pool, MemoryBudget& budget,
                                 const record::ProgressFunction& progress,
                                 std::function<void(const Status&)> fail) {
  // Includes listing and indexing: seconds_to_first_batch counts from here.
  const std::uint64_t created_ns = monotonic_ns();
  const bool has_prepare = config::prepare_step(given) != nullptr;
  const bool serves = options.serves && has_prepare;
  const bool is_remote = !serves && has_prepare;
  const v1::Stream stream = config::with_own_cache(given, serves);
  const auto core = std::make_shared<StreamCore>(begin_core(name, stream, options, serves, pool));
  core->created_ns = created_ns;
  const auto& access = config::publish_step(stream).access();
  ECHOLINE_ASSIGN(core->access,
                  AccessList::parse("publish.access", {access.begin(), access.end()}));

  ECHOLINE_ASSIGN(Opened opened,
                  open_parts(name, stream, options.state_dir, serves, progress, budget));
  // Uses the sources here, because the fetchers own them from their construction on.
  ECHOLINE_ASSIGN(const ProbedTypes probed,
                  with_user_code(stream, "the first records are read, and prepared by", serves,
                                 progress, [&opened, serves] {
                                   return probe_types(opened.data, *opened.preparer, *opened.plan,
                                                      !serves);
                                 }));
  auto& [data, order, plan, preparer, step_memory] = opened;
  if (has_prepare) ECHOLINE_TRY(check_answers(probed.decoded_bytes));
  preparer->set_row_types(probed.row_types);
  ECHOLINE_ASSIGN(OpenedCache cache, open_cache(name, stream, data, *preparer, budget));
  if (cache.samples != nullptr) preparer->set_sample_cache(cache.samples.get());

  core->ring_spec =
      ring_spec(stream, *plan, probed.row_types, *data.data_set, preparer->chain(), order);
  core->data_set = std::move(data.data_set);
  core->order_memory = std::move(order.memory);
  core->step_memory = std::move(step_memory);
  core->plan = std::move(plan);
  core->preparer = std::move(preparer);
  core->cache = std::move(cache.levels);
  core->samples = std::move(cache.samples);
  core->decoded_bytes = probed.decoded_bytes;
  const record::Index& index = core->data_set->index();
  if (is_remote) core->frame_growth = growth_of(index, probed.decoded_bytes);
  plan_memory_of(*core, stream, probed);
  add_seek_indexes(*core, stream, options, budget);
  if (has_prepare) core->sample_fingerprint = sample_fingerprint(stream, *core->data_set);
  ECHOLINE_ASSIGN(core->fetchers,
                  open_fetchers(*core, stream, std::move(data.sources), is_remote, fail));
  core->worker_scratch = make_scratch(*core->preparer, pool.worker_count());
  core->bad_records = make_bad_records(stream, index, *core->plan);
  core->agrees = options.agrees && can_change_order(*core->plan);
  core->fail = std::move(fail);
  return OpenedStream{core, std::move(cache.memory)};
}

}  // namespace echoline::engine
