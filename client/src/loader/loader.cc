#include "loader/loader.h"

#include <limits>
#include <utility>

#include "echoline/shm/cursor_steps.h"
#include "system/uint128.h"

namespace echoline::client {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

std::uint64_t deadline_of(std::int64_t timeout_ms, std::uint64_t now_ns) {
  if (timeout_ms < 0) return kNever;
  // In 128 bits, because the caller's milliseconds can be any number.
  const auto wait_ns = static_cast<Uint128>(timeout_ms) * 1'000'000U;
  const Uint128 deadline = wait_ns + now_ns;
  return deadline >= kNever ? kNever : static_cast<std::uint64_t>(deadline);
}

}  // namespace

Loader::Loader(LoaderOptions options)
    : options_(std::move(options)), generation_(fork_generation()), link_(options_.runtime_dir) {
  link_.attach(options_.attach, deadline_of(options_.attach_ms, shm::futex_clock_ns()), false);
}

Loader::~Loader() { close_link(); }

// Once the connection is closed the daemon reuses the slots. So first wait for the device and copy
// what the trainer holds. If that fails (no memory), keep the socket open until the process ends.
void Loader::close_link() {
  const auto& attachment = reader_.attachment();
  const auto keep_batches = [&] {
    return (!drain_hook_ || drain_hook_(attachment)) && attachment->freeze().ok();
  };
  if (attachment != nullptr && link_.connected() && !keep_batches()) {
    link_.close_but_keep_slots();
  }
  link_.close();
}

Error Loader::fail(Error error) {
  close_link();
  final_ = error;
  return error;
}

template <typename Attempt>
Error Loader::sleep_until(std::int64_t timeout_ms, Attempt attempt) {
  std::optional<TrainerWait> wait;
  std::uint64_t deadline_ns = 0, seen = 0;
  for (;;) {
    std::shared_ptr<DoorClient> door;
    std::shared_ptr<Attachment> attachment;
    Error e;
    {
      const std::lock_guard lock(mutex_);
      e = attempt();
      if (e.code() != ECHOLINE_TIMEOUT || timeout_ms == 0) return e;
      door = link_.door_to_wait_on();
      if (link_.connected()) attachment = reader_.attachment();
      seen = reader_.window().published();  // read under the lock, used without it
    }
    // The clock is read and the wait is reported only if the first attempt found nothing: a ready
    // batch costs neither.
    const std::uint64_t now = shm::futex_clock_ns();
    if (!wait) {
      deadline_ns = deadline_of(timeout_ms, now);
      wait.emplace(unattached_waits_, now);
    }
    if (now >= deadline_ns) return e;
    wait->set_attachment(attachment);
    wait->sleep(door, seen, deadline_ns);
  }
}

Error Loader::poll_attach() {
  Connection connection;
  Error e = link_.poll_attach(connection);
  if (e.code() == ECHOLINE_TIMEOUT) return e;  // not attached yet, and no error
  if (e.ok()) {
    e = attached_once_ ? reader_.resume(connection.attachment)
                       : reader_.start(connection.attachment, options_.attach);
  }
  if (!e.ok()) return fail(e);  // a final error, such as a refusal or a ring that does not fit
  link_.set_connected(std::move(connection.door));
  // The time until the first attach is no wait for a batch. Later the daemon cannot know for how
  // long this trainer had none.
  const std::uint64_t waited_ns = unattached_waits_.take(shm::futex_clock_ns());
  if (attached_once_) reader_.attachment()->cursor().add_wait(waited_ns);
  attached_once_ = true;
  return {};
}

void Loader::handle_daemon_gone() {
  if (options_.reattach_ms != 0) return attach_again(options_.reattach_ms, true);
  final_ = {ECHOLINE_DAEMON_GONE,  // without a reattach time the loss is final
            "the daemon went away; start it again and resume from a saved state, or attach with a "
            "reattach time"};
}

// The daemon moves this job to a ring of its own because it waits for other jobs, or they wait for
// it. The daemon is alive, so without a reattach time the attach time applies.
void Loader::handle_moved() {
  close_link();
  attach_again(options_.reattach_ms != 0 ? options_.reattach_ms : options_.attach_ms,
               options_.reattach_ms != 0);
}

void Loader::attach_again(std::int64_t patience_ms, bool persistent) {
  link_.attach(reader_.options_to_reattach(options_.attach),
               deadline_of(patience_ms, shm::futex_clock_ns()), persistent);
}

void Loader::poll_daemon() {
  switch (link_.poll_notices()) {
    case DaemonLink::Event::kNone:
      return;
    case DaemonLink::Event::kGone:
      return handle_daemon_gone();
    case DaemonLink::Event::kMoved:
      return handle_moved();
  }
}

void Loader::check_daemon() {
  poll_daemon();
  if (!link_.connected()) return;  // gone or moved: an attempt to attach has begun
  const shm::WriterPage& writer = reader_.attachment()->ring().writer();
  final_ = link_.reason_of_end(shm::read_state(writer) == shm::kWriterFailed);
  if (!final_.ok()) close_link();
}

Error Loader::step(std::unique_ptr<Batch>* batch) {
  if (!final_.ok()) return final_;
  // Each turn either returns or has lost the connection and attaches again.
  for (;;) {
    if (!link_.connected()) {
      if (Error e = poll_attach(); !e.ok()) return e;
    }
    if (batch == nullptr) return {};  // only attaching was asked for
    // Poll also while batches are ready. Otherwise a trainer that pauses after its daemon died
    // would come back too late: the other ranks would have continued without it.
    if (link_.poll_is_due()) poll_daemon();
    if (!final_.ok()) return final_;
    if (!link_.connected()) continue;
    Error e = reader_.try_next(*batch);
    if (e.code() == ECHOLINE_DATA_LOSS) return fail(e);  // the ring cannot be trusted any more
    if (e.code() == ECHOLINE_TIMEOUT) e = lease_timer_.check(reader_.window());
    if (e.code() == ECHOLINE_LEASE_HELD && reader_.jumped() && !drain_hook_) {
      if (Error kept = reader_.detach_held_batches(); !kept.ok()) return kept;
      continue;
    }
    if (e.code() != ECHOLINE_TIMEOUT && e.code() != ECHOLINE_LEASE_HELD) return e;
    // Also before LEASE_HELD: after the daemon died, held batches of its ring block nothing.
    check_daemon();
    if (!final_.ok()) return final_;
    if (link_.connected()) return e;
  }
}

Error Loader::await_attached(std::int64_t timeout_ms) {
  return sleep_until(timeout_ms, [&]() -> Error {
    if (attached_once_ && final_.ok()) return {};
    return step(nullptr);
  });
}

Error Loader::next(std::int64_t timeout_ms, std::unique_ptr<Batch>& batch) {
  return sleep_until(timeout_ms, [&] { return step(&batch); });
}

template <typename Read>
Error Loader::with_reader(Read read) {
  const std::lock_guard lock(mutex_);
  if (attached_once_) return read(reader_);
  return final_.ok() ? Error(ECHOLINE_UNAVAILABLE, "not attached yet; call echoline_attach_wait")
                     : final_;
}

std::optional<std::string> Loader::take_news() {
  const std::lock_guard lock(mutex_);
  return link_.take_news();
}

Error Loader::set_drain_hook(DrainHook hook) {
  const std::lock_guard lock(mutex_);
  if (hook && drain_hook_) {
    return {ECHOLINE_FAILED_PRECONDITION,
            "a device is open on this loader already, or hung when it was closed; attach another "
            "loader"};
  }
  drain_hook_ = std::move(hook);
  return {};
}

std::shared_ptr<Attachment> Loader::attachment() {
  const std::lock_guard lock(mutex_);
  return reader_.attachment();
}

void Loader::close() {
  const std::lock_guard lock(mutex_);
  close_link();
  link_.stop_attaching();
  if (final_.ok()) final_ = {ECHOLINE_CANCELLED, "the loader was closed"};
}

Error Loader::begin_epoch() {
  return with_reader([](Reader& reader) { return reader.begin_epoch(), Error(); });
}

Error Loader::skip(std::uint64_t steps) {
  return with_reader([&](Reader& reader) { return reader.skip(steps); });
}

Error Loader::state(State& state) {
  return with_reader([&](Reader& reader) {
    state.stream = options_.attach.stream;
    fill_state(reader, state);
    return Error();
  });
}

Error Loader::info(echoline_loader_info& info) {
  return with_reader([&](Reader& reader) { return fill_info(reader, info), Error(); });
}

Error Loader::steps_per_epoch(std::uint64_t& steps) {
  return with_reader([&](Reader& reader) { return count_steps(reader, steps); });
}

Error Loader::field(std::uint32_t index, echoline_field& field) {
  return with_reader([&](Reader& reader) { return fill_field(reader, index, field); });
}

}  // namespace echoline::client
