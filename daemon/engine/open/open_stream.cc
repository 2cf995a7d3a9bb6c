#include "engine/open/open_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/scheme.h"
#include "config/pipeline.h"
#include "config/preparation.h"
#include "config/values.h"
#include "engine/open/fingerprint.h"
#include "engine/open/memory_plan.h"
#include "engine/open/open_cache.h"
#include "engine/open/open_data.h"
#include "engine/open/open_order.h"
#include "engine/open/open_seek_indexes.h"
#include "engine/open/probe.h"
#include "record/core/data_set.h"
#include "user_code/workers.h"

namespace echoline::engine {
namespace {

// Headers of a frame, about.
constexpr std::uint64_t kFrameOverheadBytes = 128;

plan::EchoPoint echo_point(const v1::Stream& stream) {
  switch (config::echo_place(stream)) {
    case config::EchoPlace::kNone:
      return plan::EchoPoint::kNone;
    case config::EchoPlace::kRecord:
      return plan::EchoPoint::kRecord;
    case config::EchoPlace::kSample:
      return plan::EchoPoint::kSample;
    case config::EchoPlace::kAugmented:
      return plan::EchoPoint::kAugmented;
    case config::EchoPlace::kBatch:
      return plan::EchoPoint::kBatch;
  }
  return plan::EchoPoint::kNone;
}

// config::complete_stream has checked the word, so the last case is `drop`.
plan::LastBatch last_batch(const v1::Stream& stream) {
  const std::string& last = config::batch_step(stream).last();
  if (last == "partial") return plan::LastBatch::kPartial;
  return last == "pad" ? plan::LastBatch::kPad : plan::LastBatch::kDrop;
}

// config::complete_stream has checked the word.
plan::MixEnd mix_end(const v1::Mix& mix) {
  if (mix.at_end() == "drop") return plan::MixEnd::kDrop;
  return mix.at_end() == "repeat" ? plan::MixEnd::kRepeat : plan::MixEnd::kStop;
}

plan::MixSpec mix_spec(const v1::Mix& mix, const record::DataSet& data_set) {
  plan::MixSpec spec;
  spec.at_end = mix_end(mix);
  spec.rows = mix.records();
  for (const v1::MixSource& source : mix.sources()) spec.weights.push_back(source.weight());
  for (const record::Part& part : data_set.source_parts()) spec.shards.push_back(part.shards);
  return spec;
}

plan::PlanSpec plan_spec(const v1::Stream& stream, const record::DataSet& data_set,
                         const OpenedOrder& order) {
  plan::PlanSpec spec;
  spec.seed = stream.seed();
  spec.lanes = stream.lanes();
  spec.batch_rows = config::batch_step(stream).size();
  if (const v1::Shuffle* shuffle = config::shuffle_step(stream)) {
    spec.shuffle_window = shuffle->window();  // 0 with an order
  }
  spec.echo_point = echo_point(stream);
  spec.factor = config::echo_factor(stream);
  spec.factor_max = config::echo_factor_max(stream);
  if (const v1::Echo* echo = config::echo_step(stream)) {
    spec.echo_window = echo->window();
    spec.allow_repeats = echo->allow_repeats();
    spec.within_step = echo->spread() == "step";
  }
  spec.last = last_batch(stream);
  for (const record::Shard& shard : data_set.index().shards())
    spec.shard_records.push_back(shard.record_count);
  spec.order = order.lists;
  spec.buckets = order.buckets;
  if (const v1::Mix* mix = config::mix_step(stream)) spec.mix = mix_spec(*mix, data_set);
  return spec;
}

ring::RingSpec ring_spec(const v1::Stream& stream, const plan::Plan& whole_plan,
                         const std::vector<decode::FieldType>& row_types,
                         const record::DataSet& data_set, const std::string& contents) {
  const plan::PlanSpec& plan = whole_plan.spec();
  // Without batch echo, slots and live descriptors are equally many (Pass::try_start_batch).
  const std::uint32_t slots = config::publish_step(stream).slots();
  ring::RingSpec spec;
  spec.fields = row_types;
  spec.batch_rows = plan.batch_rows;
  spec.descriptors_live = slots;
  spec.slot_count = slots;
  if (plan.echo_point == plan::EchoPoint::kBatch) {
    // One more than the window: a batch in delivery.
    spec.slot_count += static_cast<std::uint32_t>(plan.echo_window) + 1;
    spec.flags |= shm::kRingBatchEcho;
  }
  if (plan.buckets != nullptr) spec.flags |= shm::kRingBuckets;
  // Set by default; the user gave it up.
  if (!config::publish_step(stream).sealed()) spec.flags &= ~std::uint32_t{shm::kRingSealed};
  switch (plan.last) {
    case plan::LastBatch::kDrop:
      spec.last_batch = shm::kLastDrop;
      break;
    case plan::LastBatch::kPartial:
      spec.last_batch = shm::kLastPartial;
      break;
    case plan::LastBatch::kPad:
      spec.last_batch = shm::kLastPad;
      break;
  }
  spec.plan_version = plan::kPlanVersion;
  spec.rows_per_epoch = whole_plan.rows_per_epoch();
  spec.records_per_epoch = whole_plan.record_count();
  // Trainers find it in the ring's header and put it into their states.
  spec.fingerprint = fingerprint(stream, data_set, contents);
  spec.factor = plan.factor;
  spec.has_weights = plan.mix.has_value();
  spec.echo_point = static_cast<std::uint32_t>(plan.echo_point);
  spec.seed = plan.seed;
  return spec;
}

// The text of all users' functions and the versions of their interpreters, the hashes of their
// libraries and of files that steps read, and the hash of the lists of an order, or of the buckets.
std::string contents_of(const augment::Chain& chain, const OpenedOrder& order) {
  std::string contents;
  for (const user_code::Workers* workers : chain.user_code()) {
    contents += workers->function().source;
    if (workers->function().counts_versions) contents += "\n" + workers->versions() + "\n";
  }
  contents += chain.contents();
  if (order.hash.empty()) return contents;
  return fmt::format("{}\n{} {}\n", contents, order.buckets ? "buckets" : "order", order.hash);
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

Status check_plan(const plan::Plan& plan, const record::DataSet& data_set) {
  const plan::PlanSpec& spec = plan.spec();
  // A compressed shard can only be read from its beginning.
  if (spec.scatters_records() && !data_set.random_access()) {
    return Status(
        Code::kInvalidArgument,
        spec.buckets ? "batch.buckets: batches have records of all shards, and the shards are "
                       "compressed: unpack the shards"
        : spec.order ? "shuffle.order: a list can have records in any order, and the shards are "
                       "compressed: unpack the shards, or shuffle by a window"
                     : "shuffle.window: all reads records in any order, and the shards are "
                       "compressed: give a number of records, or unpack the shards");
  }
  if (spec.last != plan::LastBatch::kDrop || plan.rows_per_epoch() >= spec.batch_rows) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("an epoch has {} rows, less than one batch of {}: lower batch.size, or "
                            "set batch.last to partial or pad",
                            plan.rows_per_epoch(), spec.batch_rows));
}

// Decoding and the steps after it, without types: those may need a look at the data.
struct Steps {
  std::vector<std::unique_ptr<decode::Decoder>> decoders;  // of each source
  std::unique_ptr<augment::Chain> chain;
};

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

// A stream's data and steps.
struct Opened {
  OpenedData data;
  OpenedOrder order;
  std::unique_ptr<plan::Plan> plan;
  std::unique_ptr<batch::Preparer> preparer;
  MemoryBudget::Reservation step_memory;  // of files that steps keep
};

// So that who waits learns of users' code that takes long.
Status report_user_code(const v1::Stream& stream, const char* what, bool serves,
                        const record::ProgressFunction& progress) {
  const std::string names =
      config::user_code_names(serves ? config::up_to_prepare(stream) : stream);
  if (!progress || names.empty()) return {};
  return progress({.user_code = fmt::format("user code is {} ({})", what, names)});
}

Result<Opened> open_parts(const std::string& name, const v1::Stream& stream,
                          const std::string& state_dir, bool serves,
                          const record::ProgressFunction& progress, MemoryBudget& budget) {
  Steps steps;
  record::OpenOptions options;
  // Its processes are started first: they know how many records there are.
  const bool python = config::reads_python(stream);
  if (python) {
    ECHOLINE_TRY(report_user_code(stream, "being loaded", serves, progress));
    ECHOLINE_ASSIGN(steps, compile_steps(stream, serves, budget));
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
  ECHOLINE_ASSIGN(opened.plan, plan::Plan::create(plan_spec(stream, data_set, opened.order)));
  ECHOLINE_TRY(check_plan(*opened.plan, data_set));
  if (!python) {
    ECHOLINE_TRY(report_user_code(stream, "being loaded", serves, progress));
    ECHOLINE_ASSIGN(steps, compile_steps(stream, serves, budget));
  }
  ECHOLINE_ASSIGN(opened.step_memory,
                  budget.reserve(steps.chain->kept_bytes(), "the noise of stream " + name));
  // The preparer refers to the data set, which the core owns together with it.
  opened.preparer = std::make_unique<batch::Preparer>(data_set, std::move(steps.decoders),
                                                      std::move(steps.chain), echo_point(stream));
  return opened;
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

// Of a stream whose samples other hosts prepare. The sources share the requests to a server.
RemoteReaderOptions remote_options(const std::string& name, const v1::Prepare& step,
                                   std::string fingerprint, const batch::Preparer& preparer,
                                   double growth, std::size_t sources) {
  RemoteReaderOptions options{.client = server_options(name, step, std::move(fingerprint)),
                              .growth = growth};
  options.client.fields = preparer.prepared_types();
  options.client.concurrency =
      std::max<std::uint32_t>(1, step.concurrency() / static_cast<std::uint32_t>(sources));
  return options;
}

// Nobody could receive the samples. Their mean size is estimated from the first one.
Status check_answers(std::uint64_t decoded_bytes) {
  if (decoded_bytes + kFrameOverheadBytes <= kReceivedBytesMax) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format("prepare: a prepared sample has about {}, more than an answer of a "
                  "preparation server can have ({}); leave out 'prepare'",
                  config::format_bytes(decoded_bytes), config::format_bytes(kReceivedBytesMax)));
}

double growth_of(const record::Index& index, std::uint64_t decoded_bytes) {
  return static_cast<double>(decoded_bytes + kFrameOverheadBytes) /
         std::max(1.0, index.record_bytes_mean());
}

std::unique_ptr<BadRecords> make_bad_records(const v1::Stream& stream, const record::Index& index,
                                             const plan::Plan& plan) {
  return std::make_unique<BadRecords>(
      index, plan,
      BadRecords::Policy{.replace = stream.bad_records().policy() != "fail",
                         .limit = stream.bad_records().limit()});
}

bool can_change_factor(const plan::Plan& plan) {
  return plan.block_count() > 0 && plan.spec().factor_max > 1000;
}

bool can_change_weights(const plan::Plan& plan) {
  return plan.spec().mix.has_value() && plan.spec().mix->at_end != plan::MixEnd::kStop;
}

// Of several sources the first one's: metrics have it as a label.
std::string scheme_name(const v1::Read& read) {
  if (read.has_python()) return "python";
  return std::string(to_string(scheme_of(read.url(0)).value_or(Scheme::kFile)));
}

}  // namespace

RemoteOptions server_options(const std::string& name, const v1::Prepare& step,
                             std::string fingerprint) {
  RemoteOptions options{.stream = name,
                        .fingerprint = std::move(fingerprint),
                        .fields = {},
                        .servers = {},
                        .certificate = step.certificate(),
                        .key = step.key(),
                        .server_ca = step.server_ca(),
                        .concurrency = step.concurrency(),
                        .wait = step.fallback() == "wait"};
  for (const std::string& server : step.servers()) {
    options.servers.push_back(config::server_address(server));
  }
  return options;
}

Result<OpenedStream> open_stream(const std::string& name, const v1::Stream& given,
                                 const OpenOptions& options, WorkerPool& pool, MemoryBudget& budget,
                                 const record::ProgressFunction& progress,
                                 std::function<void(const Status&)> fail) {
  // Includes listing and indexing: seconds_to_first_batch counts from here.
  const std::uint64_t created_ns = monotonic_ns();
  const v1::Prepare* const prepare = config::prepare_step(given);
  const bool serves = options.serves && prepare != nullptr;
  const bool is_remote = !serves && prepare != nullptr;
  const v1::Stream stream = config::with_own_cache(given, serves);
  const v1::Read read = joined_read(stream);
  const v1::Publish& publish = config::publish_step(stream);
  ECHOLINE_ASSIGN(AccessList access, AccessList::parse("publish.access", {publish.access().begin(),
                                                                          publish.access().end()}));
  ECHOLINE_ASSIGN(Opened opened,
                  open_parts(name, stream, options.state_dir, serves, progress, budget));
  auto& [data, order, plan, preparer, step_memory] = opened;
  const record::DataSet& data_set = *data.data_set;
  const record::Index& index = data_set.index();
  ECHOLINE_TRY(report_user_code(stream, "called for the first records", serves, progress));
  // Uses the sources here, because the fetchers own them from their construction on.
  ECHOLINE_ASSIGN(const ProbedTypes probed, probe_types(data, *preparer, *plan, !serves));
  if (prepare != nullptr) ECHOLINE_TRY(check_answers(probed.decoded_bytes));
  preparer->set_row_types(probed.row_types);
  ECHOLINE_ASSIGN(OpenedCache cache, open_cache(name, stream, data, *preparer, budget));
  if (cache.samples != nullptr) preparer->set_sample_cache(cache.samples.get());
  const double growth = is_remote ? growth_of(index, probed.decoded_bytes) : 1;
  const bool together = preparer->chain().together_max() > 1;
  const MemoryPlan memory = plan_memory(read, data_set, *plan, probed.row_types, probed.kept_bytes,
                                        growth, together ? kTogetherBytes : kChunkBytes);
  const ring::RingSpec ring =
      ring_spec(stream, *plan, probed.row_types, data_set, contents_of(preparer->chain(), order));
  OpenedSeekIndexes seek = open_seek_indexes(
      stream, index, ring, *preparer,
      {.share = options.seek_index,
       .state_dir = options.state_dir,
       // Room for two passes, if there are any: indexes only save time.
       .spared_bytes = serves ? 0
                              : 2 * (ring::ring_bytes(ring) + memory.read_ahead.most_bytes +
                                     memory.window_floor_bytes),
       .decoded_bytes = probed.decoded_bytes},
      budget);
  preparer->set_seek_indexes(seek.indexes.get());
  const auto recorder = std::make_shared<trace::Recorder>();
  std::vector<std::unique_ptr<Fetcher>> fetchers;
  const std::size_t sources = data.sources.size();
  for (std::size_t source = 0; source < sources; ++source) {
    // From here on the source belongs to the fetcher's thread.
    fetchers.push_back(std::make_unique<Fetcher>(
        std::move(data.sources[source]), index,
        Fetcher::Caches{.levels = cache.levels.get(),
                        .samples = cache.samples.get(),
                        .fetchers = static_cast<std::uint32_t>(sources)},
        Fetcher::Options{
            .wait_on_error = config::reads_of(stream)[source]->on_error() != "fail",
            // Records of one window may be requested far apart and still share a read.
            .reach = plan->spec().scatters_records()
                         ? plan::kWindowAll
                         : std::max(plan->spec().shuffle_window, plan->spec().echo_window),
            .source = static_cast<std::uint32_t>(source),
            .own_thread = !is_remote,
            .recorder = recorder},
        fail));
  }
  std::string samples_fingerprint;
  if (prepare != nullptr) samples_fingerprint = sample_fingerprint(stream, data_set);
  if (is_remote) {
    const RemoteReaderOptions remote =
        remote_options(name, *prepare, samples_fingerprint, *preparer, growth, sources);
    // Every source asks the same servers, so one check is enough.
    for (const auto& fetcher : fetchers) {
      ECHOLINE_TRY(fetcher->use_servers(remote, fetcher == fetchers.front()));
    }
  }
  std::unique_ptr<SeekWriter> seek_writer;
  if (seek.indexes != nullptr && seek.indexes->has_log())
    seek_writer = std::make_unique<SeekWriter>(*seek.indexes);
  std::vector<batch::WorkerScratch> scratch = make_scratch(*preparer, pool.worker_count());
  std::unique_ptr<BadRecords> bad_records = make_bad_records(stream, index, *plan);
  auto all_fetchers = std::make_unique<Fetchers>(std::move(fetchers), data_set);
  const bool agrees = options.agrees && (can_change_factor(*plan) || can_change_weights(*plan));
  // Members of the core refer to each other, so all of them move into it together.
  auto core =
      std::make_shared<StreamCore>(StreamCore{.name = name,
                                              .seed = stream.seed(),
                                              .scheme = scheme_name(read),
                                              .access = std::move(access),
                                              .created_ns = created_ns,
                                              .data_set = std::move(data.data_set),
                                              .order_memory = std::move(order.memory),
                                              .step_memory = std::move(step_memory),
                                              .plan = std::move(plan),
                                              .seek_memory = std::move(seek.memory),
                                              .seek_indexes = std::move(seek.indexes),
                                              .seek_writer = std::move(seek_writer),
                                              .preparer = std::move(preparer),
                                              .bad_records = std::move(bad_records),
                                              .cache = std::move(cache.levels),
                                              .samples = std::move(cache.samples),
                                              .recorder = recorder,
                                              .fetchers = std::move(all_fetchers),
                                              .serves = serves,
                                              .sample_fingerprint = std::move(samples_fingerprint),
                                              .decoded_bytes = probed.decoded_bytes,
                                              .frame_growth = growth,
                                              .pool = &pool,
                                              .worker_scratch = std::move(scratch),
                                              .ring_spec = ring,
                                              .slots = publish.slots(),
                                              .slow = slow_policy(stream),
                                              .auto_factor = config::echo_is_auto(stream),
                                              .agrees = agrees,
                                              .stall_report_ns = options.stall_report_ns,
                                              .read_ahead = memory.read_ahead,
                                              .shuffle_window_bytes = memory.shuffle_window_bytes,
                                              .window_floor_bytes = memory.window_floor_bytes,
                                              .window_wish_bytes = memory.window_wish_bytes,
                                              .window_parts = memory.window_parts,
                                              .counters = std::make_shared<StreamCounters>(),
                                              .fail = std::move(fail)});
  return OpenedStream{std::move(core), std::move(cache.memory)};
}

}  // namespace echoline::engine
