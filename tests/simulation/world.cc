#include "simulation/world.h"

#include <algorithm>
#include <utility>

#include "config/load.h"
#include "config/pipeline.h"
#include "echoline/v1/config.pb.h"

namespace echoline::simulation {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStepsMax = 1500;
constexpr std::uint64_t kDrainRoundsMax = 20'000;
constexpr std::size_t kPassesMax = 3;

constexpr const char* kStream = R"(
streams:
  simulated:
    pipeline:
      - read: {url: /nowhere, format: webdataset}
      - decode: {data: {key: data, as: uint8, shape: [16]}, rest: {key: rest, as: bytes, max_bytes: 200}}
      - batch: {size: 1}
      - publish: {}
)";

v1::Stream stream_definition() {
  static const v1::Config config = config::parse_config(kStream, "simulation").value();
  return config.streams().at("simulated");
}

// A spec that the plan accepts and whose epochs have a batch at least.
plan::PlanSpec draw_spec(Dice& dice) {
  while (true) {
    plan::PlanSpec spec = plan::testing::random_spec(dice, 40);
    const auto plan = plan::Plan::create(spec);
    if (!plan.ok() || (*plan)->rows_per_epoch() < spec.batch_rows) continue;
    // Of lists, half have records several times.
    if (spec.order && dice.chance(50)) {
      spec.order = plan::testing::random_order(dice, plan::testing::record_count(spec),
                                               spec.order->length(), true);
    }
    return spec;
  }
}

std::vector<bool> draw_bad_records(Dice& dice, std::uint64_t records) {
  std::vector<bool> bad(records);
  if (records < 10 || dice.chance(60)) return bad;
  for (std::uint64_t i = 0; i < records / 8; ++i) bad[dice.between(0, records - 1)] = true;
  return bad;
}

ring::RingSpec ring_spec(const plan::Plan& plan, const batch::Preparer& preparer,
                         std::uint32_t slots) {
  const plan::PlanSpec& from = plan.spec();
  ring::RingSpec spec;
  spec.fields = preparer.row_types();
  spec.batch_rows = from.batch_rows;
  spec.descriptors_live = slots;
  spec.slot_count = slots;
  if (from.echo_point == plan::EchoPoint::kBatch) {
    spec.slot_count += static_cast<std::uint32_t>(from.echo_window) + 1;
    spec.flags |= shm::kRingBatchEcho;
  }
  spec.rows_per_epoch = plan.rows_per_epoch();
  spec.records_per_epoch = plan.record_count();
  spec.factor = from.factor;
  spec.seed = from.seed;
  return spec;
}

}  // namespace

World::World(std::uint64_t seed)
    : dice_(seed),
      clock_(1'000'000'000),
      spec_(draw_spec(dice_)),
      workers_(static_cast<std::uint32_t>(dice_.between(1, 3))) {
  if (dice_.chance(50)) {
    faults_ = {.unavailable = dice_.between(0, 30),
               .flips_left = dice_.between(0, 3),
               .late = dice_.between(0, 20)};
  }
  make_core();
  const std::uint64_t trainers = dice_.between(1, 4);
  for (std::uint64_t i = 0; i < trainers; ++i) {
    const std::uint32_t epoch = static_cast<std::uint32_t>(dice_.between(0, 2));
    const auto rows = core_->plan->epoch(epoch, {})->rows();
    std::uint64_t step = dice_.chance(50) ? 0 : dice_.between(0, rows / spec_.batch_rows - 1);
    trainers_.push_back(std::make_unique<SimTrainer>(*data_set_, *core_->plan,
                                                     plan::Position{epoch, step * spec_.batch_rows},
                                                     dice_.between(1, 25)));
  }
}

World::~World() {
  for (const auto& trainer : trainers_) {
    if (trainer->pass() != nullptr) trainer->detach();
  }
  for (const auto& pass : passes_) pass->stop(shm::kWriterEnded);
  passes_.clear();
  while (pool_.run_one(0)) {
  }
}

void World::make_core() {
  const bool checksums = dice_.chance(70);
  const std::uint64_t records = plan::testing::record_count(spec_);
  // A list can have mostly bad records, and the stream fails.
  auto data_set = std::make_unique<SimDataSet>(
      dice_, spec_.shard_records, checksums,
      spec_.order ? std::vector<bool>(records) : draw_bad_records(dice_, records));
  data_set_ = data_set.get();
  const record::Index& index = data_set->index();
  const v1::Stream definition = stream_definition();
  core_ = std::make_shared<engine::StreamCore>();
  core_->name = "simulated";
  core_->seed = spec_.seed;
  core_->data_set = std::move(data_set);
  core_->plan = plan::Plan::create(spec_).value();
  auto decoder = decode::Decoder::compile(config::decode_step(definition)).value();
  auto chain = augment::Chain::compile(definition, decoder->fields()).value();
  std::vector<std::unique_ptr<decode::Decoder>> decoders;
  decoders.push_back(std::move(decoder));
  core_->preparer = std::make_unique<batch::Preparer>(*core_->data_set, std::move(decoders),
                                                      std::move(chain), spec_.echo_point);
  core_->preparer->set_row_types(core_->preparer->chain().outputs());
  for (std::uint32_t i = 0; i < workers_; ++i) {
    core_->worker_scratch.push_back(core_->preparer->make_scratch());
  }
  core_->bad_records = std::make_unique<engine::BadRecords>(
      index, *core_->plan, engine::BadRecords::Policy{.replace = true, .limit = 1.0});
  if (dice_.chance(30)) {
    cache::Levels::Options options;
    options.data = {.records = records,
                    .bytes = index.record_bytes_total(),
                    .place_of = [&index](std::uint64_t record) {
                      const record::Extent extent = index.extent(record);
                      return cache::RecordPlace{extent.shard, extent.offset, extent.bytes};
                    }};
    options.memory_bytes = index.record_bytes_total() * dice_.between(1, 4) / 4;
    core_->cache = cache::Levels::open(std::move(options)).value();
  }
  core_->pool = &pool_;
  core_->slots = static_cast<std::uint32_t>(dice_.between(2, 5));
  core_->ring_spec = ring_spec(*core_->plan, *core_->preparer, core_->slots);
  const std::uint64_t least = index.record_bytes_max() + engine::kChunkBytes +
                              spec_.batch_rows * engine::kAheadOverheadBytes;
  core_->read_ahead = {.least_bytes = dice_.between(0, least),
                       .most_bytes = least * dice_.between(1, 3),
                       .cover_ns = 100 * kMs,
                       .first_bytes = least};
  core_->fail = [this](const Status& status) { failure_ = status; };
  make_fetcher();
}

void World::make_fetcher() {
  auto source = std::make_unique<SimSource>(dice_, data_set_->index(), dice_.between(1, 5), faults_,
                                            coverage_.store_failures);
  engine::Fetcher::Options options;
  options.reach = dice_.between(0, 50);
  options.own_thread = false;
  std::vector<std::unique_ptr<engine::Fetcher>> fetchers;
  fetchers.push_back(std::make_unique<engine::Fetcher>(
      std::move(source), data_set_->index(), engine::Fetcher::Caches{.levels = core_->cache.get()},
      options, core_->fail));
  fetcher_ = fetchers.front().get();
  core_->fetchers = std::make_unique<engine::Fetchers>(std::move(fetchers), *data_set_);
}

std::string World::describe() const { return plan::testing::describe(spec_); }

std::string World::run(Coverage& coverage) {
  const std::uint64_t steps = dice_.between(50, kStepsMax);
  for (std::uint64_t i = 0; i < steps && check().empty() && !all_done(); ++i) step();
  // From here on nothing fails any more, so everything must end.
  faults_ = {};
  for (std::uint64_t round = 0; check().empty() && !all_done(); ++round) {
    if (round == kDrainRoundsMax) return "stuck: no fault is left, and some trainer gets nothing";
    step_everything();
  }
  for (const auto& trainer : trainers_) {
    coverage_.rows += trainer->rows();
    coverage_.replaced += trainer->replaced();
  }
  coverage_.batches = core_->counters->batches.load();
  coverage = coverage_;
  return check();
}

// One random actor does one step.
void World::step() {
  SimTrainer& trainer = *trainers_[dice_.between(0, trainers_.size() - 1)];
  const std::uint64_t draw = dice_.between(0, 99);
  if (draw < 20) {
    fetcher_->do_work();
  } else if (draw < 45) {
    pool_.run_one(dice_.between(0, workers_ - 1));
  } else if (draw < 70) {
    if (!passes_.empty()) passes_[dice_.between(0, passes_.size() - 1)]->do_work();
  } else if (draw < 90) {
    let_trainer_act(trainer);
  } else if (draw < 97) {
    clock_.advance(dice_.between(0, 20) * kMs);
  } else if (dice_.chance(30)) {
    change_factor();
  } else if (dice_.chance(20)) {
    restart();
  } else {
    retire_passes();
  }
}

void World::let_trainer_act(SimTrainer& trainer) {
  if (trainer.is_done() && trainer.pass() == nullptr) return;
  if (trainer.pass() == nullptr) return join(trainer);
  if (trainer.is_done() || dice_.chance(2)) return trainer.detach();
  if (trainer.wants_more() && dice_.chance(3)) {
    ++coverage_.skips;
    return trainer.skip_epoch();
  }
  if (!trainer.wants_more() || dice_.chance(50)) {
    trainer.release();
  } else {
    trainer.read();
  }
}

void World::step_everything() {
  clock_.advance(5 * kMs);
  fetcher_->do_work();
  for (std::uint32_t worker = 0; worker < workers_; ++worker) {
    while (pool_.run_one(worker)) {
    }
  }
  for (const auto& pass : passes_) {
    while (pass->do_work()) {
    }
  }
  for (const auto& trainer : trainers_) {
    if (trainer->pass() == nullptr) {
      if (!trainer->is_done()) join(*trainer);
      continue;
    }
    while (trainer->wants_more() && trainer->read()) {
    }
    while (trainer->release()) {
    }
    if (trainer->is_done()) trainer->detach();
  }
  retire_passes();
}

bool World::all_done() const {
  return std::all_of(trainers_.begin(), trainers_.end(),
                     [](const auto& trainer) { return trainer->is_done(); });
}

// As a stream does: into a pass that has the position, else into a new one.
void World::join(SimTrainer& trainer) {
  const engine::LaneSet lanes(spec_.lanes, true);
  for (const auto& pass : passes_) {
    if (!pass->history().follows(trainer.position(), trainer.history(), /*strict=*/false)) continue;
    const auto reader = pass->join(trainer.position(), false, lanes).value();
    if (reader.has_value()) return trainer.attach(pass, *reader);
  }
  if (passes_.size() >= kPassesMax) return;
  engine::Pass::Options options{.start = trainer.position(),
                                .history = trainer.history(),
                                .tails = false,
                                .window_bytes_max = dice_.between(0, 4096)};
  auto pass = engine::Pass::create(core_, std::move(options), {}).value();
  const auto reader = pass->join(trainer.position(), false, lanes).value();
  pass->keep_lanes(lanes);  // no other ranks are expected
  passes_.push_back(pass);
  ++coverage_.passes;
  if (reader.has_value()) {
    trainer.attach(pass, *reader);
  } else {
    failure_ = Status(Code::kInternal, "a new pass does not take the reader it was made for");
  }
}

// Ends the passes that nobody reads.
void World::retire_passes() {
  std::erase_if(passes_, [&](const auto& pass) {
    const bool read = std::any_of(trainers_.begin(), trainers_.end(),
                                  [&](const auto& trainer) { return trainer->pass() == pass; });
    if (!read) pass->stop(shm::kWriterEnded);
    return !read;
  });
}

void World::change_factor() {
  if (spec_.echo_point == plan::EchoPoint::kNone || spec_.factor_max <= spec_.factor) return;
  for (const auto& pass : passes_) {
    if (!engine::check_factor_change(*pass).ok()) return;
  }
  const auto factor = static_cast<std::uint32_t>(dice_.between(spec_.factor, spec_.factor_max));
  for (const auto& pass : passes_) {
    engine::Readers readers{.batch_rows_most = spec_.batch_rows, .foremost = {}};
    for (const auto& trainer : trainers_) {
      if (trainer->pass() == pass) {
        readers.foremost = std::max(readers.foremost, trainer->position());
      }
    }
    if (engine::change_factor(*pass, factor, readers).has_value()) ++coverage_.factor_changes;
  }
}

// The daemon ends and comes back: trainers attach again where they were.
void World::restart() {
  ++coverage_.restarts;
  for (const auto& trainer : trainers_) {
    if (trainer->pass() != nullptr) trainer->detach();
  }
  retire_passes();
  make_fetcher();
}

std::string World::check() const {
  if (!failure_.ok()) return std::string(failure_.message());
  for (const auto& trainer : trainers_) {
    if (!trainer->fault().empty()) return trainer->fault();
  }
  return {};
}

}  // namespace echoline::simulation
