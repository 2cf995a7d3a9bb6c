#include "loader.h"

#include <time.h>

#include <algorithm>
#include <limits>
#include <thread>

#include "wide.h"

namespace echoline::client {
namespace {

// The longest sleep: how late a dead daemon is noticed.
constexpr std::uint64_t kSliceNs = 50'000'000;
constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
// A writer that failed sends its reason through the door; if it doesn't, we say so without it.
constexpr std::uint64_t kReasonNs = 500'000'000;
// How long another thread may take over a batch before the wait for its slot ends as LEASE_HELD.
constexpr std::uint64_t kLeaseElsewhereNs = 10'000'000'000;
// Of those that nobody asks for, the oldest are forgotten.
constexpr std::size_t kNewsMax = 16;

// Some milliseconds behind, and a fifth of what the exact clock costs, which would be a third of
// what a ready batch takes.
std::uint64_t rough_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t deadline_of(std::int64_t timeout_ms, std::uint64_t now_ns) {
  if (timeout_ms < 0) return kNever;
  const auto wait_ns = static_cast<Wide>(timeout_ms) * 1'000'000U;
  const Wide deadline = wait_ns + now_ns;
  return deadline >= kNever ? kNever : static_cast<std::uint64_t>(deadline);
}

}  // namespace

// One wait of a trainer: counted on the cursor page of whichever attachment it waits for.
class Loader::Wait {
 public:
  explicit Wait(std::uint64_t since_ns) : since_ns_(since_ns) {}
  ~Wait() { leave(); }

  void enter(const std::shared_ptr<Attachment>& attachment) {
    if (attachment == attachment_) return;
    leave();
    attachment_ = attachment;
    if (attachment_ != nullptr) attachment_->cursor().begin_wait(since_ns_);
  }

  // Sleeps until something may have changed, a slice at most.
  void sleep(const std::shared_ptr<DoorClient>& door, std::uint64_t seen, std::uint64_t until_ns) {
    const std::uint64_t now = shm::futex_clock_ns();
    until_ns = std::min(until_ns, now + kSliceNs);
    if (until_ns <= now) return;
    const bool running = attachment_ != nullptr &&
                         shm::read_state(attachment_->ring().writer()) == shm::kWriterRunning;
    if (running) {
      shm::sleep_for_publish(attachment_->ring().writer(), seen, until_ns);
    } else if (door != nullptr) {
      door->wait(static_cast<int>((until_ns - now) / 1'000'000U + 1));
    } else {
      std::this_thread::sleep_for(std::chrono::nanoseconds(until_ns - now));
    }
  }

 private:
  void leave() {
    if (attachment_ != nullptr) attachment_->cursor().end_wait();
    attachment_.reset();
  }

  std::uint64_t since_ns_;
  std::shared_ptr<Attachment> attachment_;
};

Loader::Loader(LoaderOptions options)
    : options_(std::move(options)),
      generation_(fork_generation()),
      connector_(options_.runtime_dir) {
  connector_.start(options_.wish, deadline_of(options_.attach_ms, shm::futex_clock_ns()), false);
}

Loader::~Loader() { close_door(); }

// Slots are the daemon's again once the door is closed: what the trainer keeps is copied aside
// before. Where there's no memory for that, the door stays open instead, until the process ends.
void Loader::close_door() {
  const auto& attachment = reader_.attachment();
  const auto keep = [&] { return (!settle_ || settle_(attachment)) && attachment->freeze().ok(); };
  if (attachment != nullptr && door_ != nullptr && !keep()) {
    DoorClient::leave_open(door_);
  }
  door_.reset();
}

Error Loader::fail(Error error) {
  close_door();
  final_ = error;
  return error;
}

// Looks, and sleeps in slices while `look` says TIMEOUT.
template <typename Look>
Error Loader::sleep_until(std::int64_t timeout_ms, Look look) {
  std::optional<Wait> wait;
  std::uint64_t deadline_ns = 0;
  for (;;) {
    std::shared_ptr<DoorClient> door;
    std::shared_ptr<Attachment> attachment;
    std::uint64_t seen = 0;
    {
      const std::lock_guard lock(mutex_);
      Error e = look();
      if (e.code() != ECHOLINE_TIMEOUT || timeout_ms == 0) return e;
      door = door_ != nullptr ? door_ : connector_.door();
      if (door_ != nullptr) attachment = reader_.attachment();
      seen = reader_.seen_published();
    }
    const std::uint64_t now = shm::futex_clock_ns();
    if (!wait) {
      deadline_ns = deadline_of(timeout_ms, now);
      wait.emplace(now);
    }
    if (now >= deadline_ns) return {ECHOLINE_TIMEOUT, "nothing was ready in time"};
    wait->enter(attachment);
    wait->sleep(door, seen, deadline_ns);
  }
}

Error Loader::pump_connector() {
  Connection connection;
  Error e = connector_.pump(shm::futex_clock_ns(), connection);
  if (e.code() == ECHOLINE_TIMEOUT) return e;
  if (e.ok()) {
    e = attached_once_ ? reader_.resume(connection.attachment)
                       : reader_.start(connection.attachment, options_.wish);
  }
  if (!e.ok()) return fail(e);
  door_ = std::move(connection.door);
  attached_once_ = true;
  failing_since_ns_ = 0;
  return {};
}

void Loader::daemon_gone() {
  door_.reset();
  if (options_.reattach_ms == 0) {
    final_ = {
        ECHOLINE_DAEMON_GONE,
        "the daemon went away; start it again and resume from a saved state, or attach with a "
        "reattach time"};
    return;
  }
  attach_again(options_.reattach_ms, true);
}

// To a ring of its own job's, as others hold up the one before. What the trainer keeps of that is
// copied aside.
void Loader::change_ring() {
  close_door();
  attach_again(options_.reattach_ms != 0 ? options_.reattach_ms : options_.attach_ms,
               options_.reattach_ms != 0);
}

void Loader::attach_again(std::int64_t patience_ms, bool also_to_another_daemon) {
  AttachWish wish = options_.wish;
  wish.reattaching = true;
  wish.join = shm::kJoinPosition;
  wish.position = reader_.position();
  wish.changes = reader_.changes_known();
  wish.batch_size = static_cast<std::uint32_t>(reader_.cut().batch_size);
  const shm::RingHeader& header = reader_.attachment()->ring().header();
  wish.has_fingerprint = true;
  wish.plan_version = header.plan_version;
  std::copy(std::begin(header.fingerprint), std::end(header.fingerprint), wish.fingerprint.begin());
  connector_.start(std::move(wish), deadline_of(patience_ms, shm::futex_clock_ns()),
                   also_to_another_daemon);
}

// A batch that another thread took will come back soon; one that it keeps must not hang this one
// for ever.
Error Loader::check_lease() {
  Error waits = {ECHOLINE_TIMEOUT, "no batch was ready in time"};
  if (!reader_.blocked_by_other_thread()) {
    blocked_since_ns_ = 0;
    return waits;
  }
  const std::uint64_t now = shm::futex_clock_ns();
  if (blocked_since_ns_ == 0) blocked_since_ns_ = now;
  if (now - blocked_since_ns_ < kLeaseElsewhereNs) return waits;
  blocked_since_ns_ = 0;
  return reader_.lease_held();
}

// Also while batches are ready: a trainer that falls silent after its daemon died would find that
// the others have gone on without it.
bool Loader::look_is_due() {
  const std::uint64_t now = rough_clock_ns();
  if (now - looked_ns_ < kSliceNs) return false;
  looked_ns_ = now;
  return true;
}

// What the daemon had to say. A verdict waits until all that was published is read; else the door
// may be gone after this, or final_ be set.
void Loader::hear_daemon() {
  const bool alive = door_->poll_alive();
  for (std::string& news : door_->take_news()) news_.push_back(std::move(news));
  while (news_.size() > kNewsMax) news_.pop_front();
  if (door_->verdict()) return;
  if (!alive) {
    daemon_gone();
  } else if (door_->moved()) {
    change_ring();
  }
}

// Is there still somebody who could publish? Sets final_, or begins to re-attach.
void Loader::check_daemon() {
  hear_daemon();
  if (door_ == nullptr) return;
  if (door_->verdict()) {
    final_ = *door_->verdict();
  } else if (shm::read_state(reader_.attachment()->ring().writer()) == shm::kWriterFailed) {
    const std::uint64_t now = shm::futex_clock_ns();
    if (failing_since_ns_ == 0) failing_since_ns_ = now;
    if (now - failing_since_ns_ > kReasonNs) {
      final_ = {ECHOLINE_INTERNAL, "the stream failed; the daemon's log says why"};
    }
  }
  if (!final_.ok()) close_door();
}

Error Loader::step(std::unique_ptr<Batch>* batch) {
  if (!final_.ok()) return final_;
  for (;;) {
    if (door_ == nullptr) {
      if (Error e = pump_connector(); !e.ok()) return e;
    }
    if (batch == nullptr) return {};
    if (look_is_due()) hear_daemon();
    if (!final_.ok()) return final_;
    if (door_ == nullptr) continue;
    Error e = reader_.try_next(*batch);
    if (e.code() == ECHOLINE_DATA_LOSS) return fail(e);
    if (e.code() == ECHOLINE_TIMEOUT) e = check_lease();
    if (e.code() == ECHOLINE_LEASE_HELD && reader_.jumped() && !settle_) {
      if (Error kept = reader_.leave_kept_behind(); !kept.ok()) return kept;
      continue;
    }
    if (e.code() != ECHOLINE_TIMEOUT && e.code() != ECHOLINE_LEASE_HELD) return e;
    // Also before LEASE_HELD: what is held of a dead daemon's ring is in nobody's way.
    check_daemon();
    if (!final_.ok()) return final_;
    if (door_ != nullptr) return e;
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

Error Loader::check_attached() const {
  if (attached_once_) return {};
  return final_.ok() ? Error(ECHOLINE_UNAVAILABLE, "not attached yet; call echoline_attach_wait")
                     : final_;
}

std::optional<std::string> Loader::take_news() {
  const std::lock_guard lock(mutex_);
  if (news_.empty()) return std::nullopt;
  std::string oldest = std::move(news_.front());
  news_.pop_front();
  return oldest;
}

Error Loader::before_leaving(Settle settle) {
  const std::lock_guard lock(mutex_);
  if (settle && settle_) {
    return {ECHOLINE_FAILED_PRECONDITION,
            "a device is open on this loader already, or hung when it was closed; attach another "
            "loader"};
  }
  settle_ = std::move(settle);
  return {};
}

std::shared_ptr<Attachment> Loader::attachment() {
  const std::lock_guard lock(mutex_);
  return reader_.attachment();
}

void Loader::close() {
  const std::lock_guard lock(mutex_);
  close_door();
  connector_.stop();
  if (final_.ok()) final_ = {ECHOLINE_CANCELLED, "the loader was closed"};
}

Error Loader::begin_epoch() {
  const std::lock_guard lock(mutex_);
  if (Error e = check_attached(); !e.ok()) return e;
  reader_.begin_epoch();
  return {};
}

Error Loader::skip(std::uint64_t steps) {
  const std::lock_guard lock(mutex_);
  if (Error e = check_attached(); !e.ok()) return e;
  return reader_.skip(steps);
}

}  // namespace echoline::client
