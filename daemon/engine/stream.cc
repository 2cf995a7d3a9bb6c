#include "engine/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "config/pipeline.h"
#include "engine/fingerprint.h"

namespace echoline::engine {
namespace {

// How long the ranks of a job that has begun are waited for before the others go on without them.
constexpr std::uint64_t kRankPatienceNs = 30'000'000'000;

std::string text_of(const char (&field)[shm::kNameBytes]) {
  return {field, strnlen(field, sizeof field)};
}

Status check_request(const shm::AttachRequest& request, const StreamCore& core,
                     std::uint32_t batch_size) {
  const ring::RingSpec& spec = core.ring_spec;
  if (request.world_size == 0 || request.rank >= request.world_size) {
    return Status(Code::kInvalidArgument,
                  fmt::format("rank {} of world size {}: ranks count from 0", request.rank,
                              request.world_size));
  }
  if (batch_size % request.world_size != 0) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("batch size {} (of all ranks together) is no multiple of world size {}",
                    batch_size, request.world_size));
  }
  if ((spec.flags & shm::kRingBatchEcho) != 0 && batch_size != spec.batch_rows) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a stream with batch echo has batches of {} only, {} was asked for",
                              spec.batch_rows, batch_size));
  }
  if (request.has_fingerprint == 0) return {};
  if (request.plan_version != 0 && request.plan_version != spec.plan_version) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("the state was made under plan version {}, this daemon has {}",
                              request.plan_version, spec.plan_version));
  }
  if (!std::equal(spec.fingerprint.begin(), spec.fingerprint.end(), request.fingerprint)) {
    Fingerprint theirs;
    std::copy(std::begin(request.fingerprint), std::end(request.fingerprint), theirs.begin());
    return Status(Code::kFailedPrecondition,
                  fmt::format("the state belongs to another data set, pipeline or seed: its "
                              "fingerprint is {}, that of stream '{}' is {}",
                              to_hex(theirs), core.name, to_hex(spec.fingerprint)));
  }
  return {};
}

}  // namespace

Stream::Stream(OpenedStream opened, v1::Stream definition, MemoryBudget& budget,
               std::uint32_t workers, std::uint64_t reunion_until_ns)
    : definition_(std::move(definition)),
      budget_(budget),
      core_(std::move(opened.core)),
      cache_(std::move(opened.cache)),
      stages_(*core_, workers),
      reunion_(reunion_until_ns) {}

Stream::~Stream() {
  stop(shm::kWriterEnded);
  for (const auto& pass : passes_) pass->give_back_memory();
  // A worker or the thread of I/O may be the last to let go of the core: by then there must
  // be nothing to join.
  core_->fetcher->stop();
  for (const Reunion::Returning& returning : reunion_.take_all()) {
    returning.reply(Status(Code::kNotFound, fmt::format("stream '{}' has ended", core_->name)));
  }
}

Status Stream::warm_up() {
  ECHOLINE_ASSIGN(auto pass, start_pass({}));
  passes_.push_back(pass);
  return hold_for_named_jobs(pass);
}

Status Stream::hold_for_named_jobs(const std::shared_ptr<Pass>& pass) {
  for (const std::string& job : config::publish_step(definition_).jobs()) {
    ECHOLINE_ASSIGN(const ring::Ring::Reader reader, pass->ring().add_reader(0));
    holds_.push_back({.pass = pass,
                      .reader = reader.id,
                      .job = job,
                      .world_size = 0,
                      .batch_size = 0,
                      .start = {},
                      .ranks = {},
                      .until_ns = ~std::uint64_t{0}});
  }
  return {};
}

Result<std::shared_ptr<Pass>> Stream::start_pass(Pass::Options options) {
  const std::uint64_t needed_bytes =
      ring::ring_bytes(core_->ring_spec) + core_->read_ahead_bytes + core_->window_floor_bytes;
  const std::string what =
      fmt::format("a pass of stream '{}' (ring {}, read-ahead {}, echo window {})", core_->name,
                  format_bytes(ring::ring_bytes(core_->ring_spec)),
                  format_bytes(core_->read_ahead_bytes), format_bytes(core_->window_floor_bytes));
  std::vector<MemoryBudget::Reservation> reservations;
  ECHOLINE_ASSIGN(auto needed, budget_.reserve(needed_bytes, what));
  reservations.push_back(std::move(needed));
  // Where not all fits, room stays for a second pass: a resumed job must not be refused for a wish.
  reservations.push_back(budget_.reserve_up_to(core_->window_wish_bytes, needed_bytes));
  options.window_bytes_max = reservations.back().bytes();
  if (options.window_bytes_max < core_->window_wish_bytes) {
    log_info("engine",
             "stream {}: {} of {} fit for decoded samples; the others are kept encoded and "
             "decoded again for each use",
             core_->name, format_bytes(options.window_bytes_max),
             format_bytes(core_->window_wish_bytes));
  }
  return Pass::start(core_, std::move(options), std::move(reservations));
}

Position Stream::position_of(const shm::AttachRequest& request, const Consumer& consumer) const {
  if (request.join == shm::kJoinPosition) return {request.epoch, request.row};
  if (request.join != shm::kJoinCurrent && request.join != shm::kJoinNextEpoch) return {};
  // All ranks of a job begin where its first one did.
  for (const Hold& hold : holds_) {
    if (hold.is_of(consumer)) return hold.start;
  }
  Position latest;
  bool running = false;
  for (const auto& pass : passes_) {
    if (!has_readers(*pass)) continue;
    latest = std::max(latest, pass->next_position());
    running = true;
  }
  if (!running) return {};
  if (request.join == shm::kJoinNextEpoch) return {latest.epoch + 1, 0};
  // Its batches start at multiples of its own batch size, the last one may be short.
  const std::uint64_t batch_size = consumer.batch_size;
  const std::uint64_t row = (latest.row + batch_size - 1) / batch_size * batch_size;
  return row < core_->plan->rows_per_epoch() ? Position{latest.epoch, row}
                                             : Position{latest.epoch + 1, 0};
}

Result<std::vector<plan::FactorChange>> Stream::settle_start(const shm::AttachRequest& request,
                                                             Consumer& consumer) const {
  Position& start = consumer.start;
  start = position_of(request, consumer);
  std::vector<plan::FactorChange> changes;
  for (std::uint32_t i = 0; i < std::min<std::size_t>(request.change_count, shm::kFactorChangesMax);
       ++i) {
    changes.push_back({request.changes[i].block, request.changes[i].factor});
  }
  ECHOLINE_TRY(core_->plan->check_changes(changes));
  const std::uint64_t rows = core_->plan->epoch(start.epoch, changes)->rows();
  if (start.row > rows) {
    return Status(Code::kInvalidArgument,
                  fmt::format("row {} of an epoch that has {}", start.row, rows));
  }
  const std::uint32_t batch_rows = core_->ring_spec.batch_rows;
  if ((core_->ring_spec.flags & shm::kRingBatchEcho) != 0 && start.row % batch_rows != 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("row {}: with batch echo every batch starts at a multiple of {}",
                              start.row, batch_rows));
  }
  if (start.row < rows) return changes;
  start = {start.epoch + 1, 0};
  return std::vector<plan::FactorChange>();
}

// Under `drop` a pass may leave out what does not fill a batch of the stream's own grid; batches of
// another size, or off the grid, reach into it.
bool Stream::needs_tails(const Consumer& consumer) const {
  const ring::RingSpec& spec = core_->ring_spec;
  return spec.last_batch == shm::kLastDrop &&
         (consumer.batch_size != spec.batch_rows || consumer.start.row % spec.batch_rows != 0);
}

void Stream::attach(std::uint64_t connection, const shm::AttachRequest& request,
                    const ReplyFunction& reply, std::uint64_t now_ns) {
  if (reunion_.awaits(request, now_ns)) {
    reunion_.add({connection, request, reply}, now_ns);
  } else {
    reply(find_and_join(connection, request, now_ns));
  }
}

Result<Attachment> Stream::find_and_join(std::uint64_t connection,
                                         const shm::AttachRequest& request, std::uint64_t now_ns) {
  if (!failure_.ok()) return failure_;
  Consumer consumer;
  consumer.connection = connection;
  consumer.job = text_of(request.job);
  consumer.rank = request.rank;
  consumer.world_size = request.world_size;
  consumer.batch_size = request.batch_size == 0 ? core_->ring_spec.batch_rows : request.batch_size;
  ECHOLINE_TRY(check_request(request, *core_, consumer.batch_size));
  ECHOLINE_ASSIGN(const std::vector<plan::FactorChange> changes, settle_start(request, consumer));
  ECHOLINE_ASSIGN(const Place place, find_place(consumer.start, changes, needs_tails(consumer)));
  consumer.pass = place.pass;
  consumer.reader = place.reader.id;
  note_rank(place, consumer, now_ns);

  Attachment attachment;
  attachment.reply.batch_size = consumer.batch_size;
  attachment.reply.first_sequence = place.reader.first_sequence;
  attachment.reply.epoch = consumer.start.epoch;
  attachment.reply.row = consumer.start.row;
  attachment.reply.change_count = static_cast<std::uint32_t>(changes.size());
  std::copy_n(std::begin(request.changes), changes.size(), attachment.reply.changes);
  attachment.data_fd = place.pass->ring().data_fd();
  attachment.cursor_fd = place.reader.cursor_fd;
  log_info("engine", "stream {}: job {} rank {}/{} attached at epoch {} row {}", core_->name,
           consumer.job, consumer.rank, consumer.world_size, consumer.start.epoch,
           consumer.start.row);
  consumers_.push_back(std::move(consumer));
  return attachment;
}

Result<Stream::Place> Stream::find_place(Position position,
                                         const std::vector<plan::FactorChange>& changes,
                                         bool tails) {
  for (const auto& pass : passes_) {
    if (tails && !pass->tails()) continue;
    if (pass->changes_of(position.epoch) != changes) continue;
    const auto sequence = pass->sequence_of(position);
    if (!sequence.has_value()) continue;
    ECHOLINE_ASSIGN(const ring::Ring::Reader reader, pass->ring().add_reader(*sequence));
    if (reader.first_sequence <= *sequence) return Place{pass, reader};
    pass->ring().remove_reader(reader.id);
  }
  retire_idle_passes();
  ECHOLINE_ASSIGN(
      auto pass,
      start_pass({.start = position, .changes = changes, .tails = tails, .window_bytes_max = 0}));
  passes_.push_back(pass);
  ECHOLINE_ASSIGN(const ring::Ring::Reader reader, pass->ring().add_reader(0));
  return Place{std::move(pass), reader};
}

void Stream::retire_idle_passes() {
  std::erase_if(passes_, [this](const std::shared_ptr<Pass>& pass) {
    if (has_readers(*pass)) return false;
    pass->stop(shm::kWriterEnded);
    pass->give_back_memory();
    holds_.remove_if([&](const Hold& hold) { return hold.pass == pass; });
    return true;
  });
}

bool Stream::has_readers(const Pass& pass) const {
  return std::any_of(consumers_.begin(), consumers_.end(),
                     [&](const Consumer& consumer) { return consumer.pass.get() == &pass; });
}

bool Stream::is_wanted(const Hold& hold) const {
  if (hold.world_size == 0) return true;
  return std::any_of(consumers_.begin(), consumers_.end(), [&](const Consumer& consumer) {
    return consumer.pass == hold.pass && hold.is_of(consumer);
  });
}

void Stream::note_rank(const Place& place, const Consumer& consumer, std::uint64_t now_ns) {
  for (Hold& named : holds_) {
    const bool meant =
        named.pass == place.pass && named.world_size == 0 && named.job == consumer.job;
    if (meant) named.ranks.insert(consumer.rank);
  }
  if (consumer.world_size == 1) return;
  const bool rejoins =
      std::any_of(consumers_.begin(), consumers_.end(), [&](const Consumer& other) {
        return other.job == consumer.job && other.world_size == consumer.world_size &&
               other.batch_size == consumer.batch_size;
      });
  const auto hold = std::find_if(holds_.begin(), holds_.end(), [&](const Hold& candidate) {
    return candidate.pass == place.pass && candidate.is_of(consumer);
  });
  if (hold != holds_.end()) {
    hold->ranks.insert(consumer.rank);
    return;
  }
  if (rejoins) return;
  Result<ring::Ring::Reader> reader = place.pass->ring().add_reader(place.reader.first_sequence);
  if (!reader.ok()) return;
  holds_.push_back({place.pass,
                    reader->id,
                    consumer.job,
                    consumer.world_size,
                    consumer.batch_size,
                    consumer.start,
                    {consumer.rank},
                    now_ns + kRankPatienceNs});
}

void Stream::release_holds(std::uint64_t now_ns) {
  holds_.remove_if([&](const Hold& hold) {
    const bool named = hold.world_size == 0;
    const bool complete = named ? !hold.ranks.empty() : hold.ranks.size() == hold.world_size;
    const bool wanted = is_wanted(hold);
    if (!complete && wanted && now_ns < hold.until_ns) return false;
    if (!complete && wanted) {
      log_warning("engine",
                  "stream {}: {} of {} ranks of job {} attached within {} s; they go on, the "
                  "others will get a pass of their own",
                  core_->name, hold.ranks.size(), hold.world_size, hold.job,
                  kRankPatienceNs / 1'000'000'000);
    }
    hold.pass->ring().remove_reader(hold.reader);
    return true;
  });
}

bool Stream::withdraw(std::uint64_t connection) {
  if (reunion_.forget(connection)) return true;
  const auto consumer = std::find_if(consumers_.begin(), consumers_.end(),
                                     [&](const Consumer& c) { return c.connection == connection; });
  if (consumer == consumers_.end()) return false;
  take_off(consumer);
  return true;
}

void Stream::take_off(std::list<Consumer>::iterator consumer) {
  log_info("engine", "stream {}: job {} rank {}/{} left", core_->name, consumer->job,
           consumer->rank, consumer->world_size);
  consumer->pass->ring().remove_reader(consumer->reader);
  consumers_.erase(consumer);
  release_holds(0);
}

std::vector<std::uint64_t> Stream::tick(std::uint64_t now_ns) {
  std::vector<std::uint64_t> misbehaved;
  StageView view{.has_trainers = !consumers_.empty()};
  view.fetch_waits = core_->fetcher->counters().waiting > 0;
  for (const auto& pass : passes_) view.ring_full |= pass->ring_full();
  for (auto consumer = consumers_.begin(); consumer != consumers_.end();) {
    const ring::ReaderView reader = consumer->pass->ring().view(consumer->reader);
    consumer->waits.charge(reader, now_ns, consumer->pass->wait_cause());
    view.trainer_waits |= reader.waiting_since_ns != 0;
    const auto current = consumer++;
    if (!reader.misbehaved) continue;
    misbehaved.push_back(current->connection);
    take_off(current);
  }
  stages_.tick(now_ns, view);
  for (const Reunion::Returning& returning : reunion_.take_due(now_ns)) {
    returning.reply(find_and_join(returning.connection, returning.request, now_ns));
  }
  release_holds(now_ns);
  return misbehaved;
}

std::vector<std::uint64_t> Stream::stop(shm::WriterState state) {
  std::vector<std::uint64_t> connections;
  for (const Consumer& consumer : consumers_) connections.push_back(consumer.connection);
  for (const auto& pass : passes_) pass->stop(state);
  return connections;
}

bool Stream::drained() const {
  return std::all_of(consumers_.begin(), consumers_.end(), [](const Consumer& consumer) {
    ring::Ring& ring = consumer.pass->ring();
    return ring.view(consumer.reader).released >= ring.published();
  });
}

}  // namespace echoline::engine
