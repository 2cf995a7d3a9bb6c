#include "engine/stream/order_agreement.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <chrono>
#include <random>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "engine/open/fingerprint.h"
#include "engine/stream/first_changed_row.h"

namespace echoline::engine {
namespace {

using std::chrono::milliseconds;
using Switches = std::vector<FactorSwitch>;

// Between two rounds, while a change is under way and else.
constexpr milliseconds kSoon{20};
constexpr milliseconds kIdle{250};
// Longer than a proposal and its answer take while etcd answers.
constexpr std::chrono::seconds kPatience{20};

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
  return name.data();
}

// Part of a key: letters, digits and few others.
std::string escaped(const std::string& name) {
  std::string text;
  for (const unsigned char one : name) {
    if (std::isalnum(one) != 0 || one == '-' || one == '_' || one == '.') {
      text += static_cast<char>(one);
    } else {
      text += fmt::format("%{:02X}", one);
    }
  }
  return text;
}

agree::EtcdOptions options_of(const v1::Etcd& etcd) {
  return {.endpoints = {etcd.endpoints().begin(), etcd.endpoints().end()},
          .server_ca = etcd.server_ca(),
          .certificate = etcd.certificate(),
          .key = etcd.key()};
}

// A change on which the hosts of a job have to agree.
using Wanted = std::optional<agree::Change>;

// Errors as those of EchoFactor::set.
Result<Wanted> wanted_of(Stream& stream, std::uint32_t factor) {
  const std::optional<SharedJob::View> shared = stream.shared_job().view();
  if (!shared.has_value() || stream.core()->auto_factor) return Wanted();
  const FactorControl& control = stream.order().echo_factor().control();
  ECHOLINE_TRY(control.check(factor, &shared->job));
  if (control.is_everywhere(factor)) return Wanted();
  return Wanted(agree::Change{.values = {factor}});
}

// Errors as those of WeightControl::set.
Result<Wanted> wanted_of(Stream& stream, const NamedWeights& changed) {
  const std::optional<SharedJob::View> shared = stream.shared_job().view();
  if (!shared.has_value()) return Wanted();
  const WeightControl& control = stream.order().weights();
  // What was set last on this host may be others than those of the job.
  ECHOLINE_ASSIGN(Weights weights, control.with(changed, stream.shared_job().weights()));
  if (control.is_everywhere(weights)) return Wanted();
  ECHOLINE_TRY(control.check(weights, &shared->job));
  return Wanted(agree::Change{.kind = agree::Change::Kind::kWeights, .values = std::move(weights)});
}

// With the exact rows, which takes too long for the lock.
std::vector<FactorStart> starts_of(const plan::Plan& plan, std::vector<FactorSwitch> switches) {
  std::vector<FactorStart> starts;
  for (FactorSwitch& change : switches) {
    const plan::Position first = first_changed_row(plan, change.before, change.after,
                                                   {change.start.epoch, change.start.row});
    change.start.epoch = first.epoch;
    change.start.row = first.row;
    starts.push_back(std::move(change.start));
  }
  return starts;
}

std::string unique_id() {
  std::random_device random;
  return fmt::format("{}-{:08x}{:08x}", escaped(host_name()), random(), random());
}

}  // namespace

OrderAgreement::OrderAgreement(SharedStreams& shared, StreamDriver& driver,
                               const v1::Daemon& daemon)
    : shared_(shared),
      driver_(driver),
      has_store_(daemon.has_etcd()),
      prefix_(daemon.etcd().prefix()),
      store_(options_of(daemon.etcd()), counts_) {
  if (has_store_) thread_ = std::thread([this] { loop(); });
}

void OrderAgreement::report(EngineStats& stats) const {
  if (!has_store_) return;
  stats.etcd = {.answered = counts_.answered.load(), .failed = counts_.failed.load()};
}

void OrderAgreement::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    for (const auto& [stream, wish] : std::exchange(wishes_, {})) {
      wish->result = Status(Code::kUnavailable, "the daemon is going down");
    }
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// A change is one step under the lock; finding the exact rows takes up to a second, without it.
Result<std::vector<FactorStart>> OrderAgreement::set_echo(const std::string& stream,
                                                          std::uint32_t factor) {
  std::shared_ptr<StreamCore> core;
  Wanted wanted;
  const auto set = [&](Stream& found) -> Result<Switches> {
    core = found.core();
    ECHOLINE_ASSIGN(wanted, wanted_of(found, factor));
    return wanted ? Switches() : found.order().echo_factor().set(factor);
  };
  ECHOLINE_ASSIGN(Switches switches, change_stream(shared_, driver_, stream, set));
  if (wanted) {
    ECHOLINE_ASSIGN(Made made, agree(stream, *std::move(wanted)));
    switches = std::move(made.factors);
  }
  return starts_of(*core->plan, std::move(switches));
}

Result<std::vector<WeightStart>> OrderAgreement::set_weights(const std::string& stream,
                                                             const NamedWeights& changed) {
  Wanted wanted;
  const auto set = [&](Stream& found) -> Result<std::vector<WeightStart>> {
    ECHOLINE_ASSIGN(wanted, wanted_of(found, changed));
    return wanted ? std::vector<WeightStart>() : found.order().weights().set(changed);
  };
  ECHOLINE_ASSIGN(std::vector<WeightStart> starts, change_stream(shared_, driver_, stream, set));
  if (!wanted) return starts;
  ECHOLINE_ASSIGN(Made made, agree(stream, *std::move(wanted)));
  return std::move(made.weights);
}

Result<SharedJob::Made> OrderAgreement::agree(const std::string& stream, agree::Change change) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  const auto wish = std::make_shared<Wish>(Wish{.change = std::move(change)});
  MutexLock lock(mutex_);
  if (stopping_) return Status(Code::kUnavailable, "the daemon is going down");
  if (!wishes_.try_emplace(stream, wish).second) {
    return Status(Code::kFailedPrecondition,
                  "the hosts are about to make another change already; ask again");
  }
  woken_ = true;
  changed_.notify_all();
  while (!wish->result.has_value() && changed_.wait_until(lock, until)) {
  }
  if (wish->result.has_value()) return *std::move(wish->result);
  // It stays until nothing can come of it: the next wish must not get its result.
  wish->given_up = true;
  return Status(Code::kDeadlineExceeded,
                "etcd did not answer in time: the change may still come, `show` has it");
}

void OrderAgreement::loop() {
  ::pthread_setname_np(::pthread_self(), "agree");
  bool soon = false;
  while (true) {
    {
      MutexLock lock(mutex_);
      const auto until = std::chrono::steady_clock::now() + (soon ? kSoon : kIdle);
      while (!stopping_ && !woken_ && changed_.wait_until(lock, until)) {
      }
      if (stopping_) break;
      woken_ = false;
    }
    soon = do_round();
  }
  for (auto& [stream, known] : known_) known.session->leave();
}

bool OrderAgreement::do_round() {
  update_sessions();
  bool busy = false;
  for (auto& [stream, known] : known_) {
    const Wanted wish = wish_of(stream);
    if (!known.over.ok() && wish.has_value()) fulfil(stream, known.over);
    if (known.over.ok()) note(stream, known, known.session->follow(wish, monotonic_ns()));
    busy |= known.session->is_busy() || wish.has_value();
    if (auto result = known.session->take_result()) fulfil(stream, *std::move(result));
  }
  // Of streams whose job has left meanwhile; and given up, and nothing can come of it.
  std::vector<std::string> left;
  {
    const MutexLock lock(mutex_);
    for (const auto& [stream, wish] : wishes_) {
      const auto known = known_.find(stream);
      const bool has_left = known == known_.end();
      if (has_left || (wish->given_up && !known->second.session->has_proposal()))
        left.push_back(stream);
    }
  }
  for (const std::string& stream : left) {
    fulfil(stream, Status(Code::kFailedPrecondition,
                          "the job with ranks on other hosts has left meanwhile; ask again"));
  }
  return busy && !failing_;
}

void OrderAgreement::update_sessions() {
  std::vector<std::unique_ptr<AgreementSession>> ended;
  {
    const MutexLock lock(shared_.mutex);
    std::map<std::string, Known> present;
    for (const auto& [name, stream] : shared_.table.streams()) {
      std::optional<SharedJob::View> view = stream->shared_job().view();
      if (!view.has_value()) continue;
      const std::uint64_t generation = shared_.table.generation(name);
      const auto before = known_.find(name);
      const bool same = before != known_.end() && before->second.generation == generation &&
                        before->second.session->view().session == view->session;
      if (same) {
        before->second.session->see(*std::move(view));
        present.insert(known_.extract(before));
      } else {
        present[name] = {.generation = generation,
                         .session = begin(name, generation, *stream, *std::move(view))};
      }
    }
    std::swap(known_, present);
    for (auto& [name, known] : present) ended.push_back(std::move(known.session));
  }
  // Without the lock, as it asks the store.
  for (const auto& session : ended) session->leave();
}

std::unique_ptr<AgreementSession> OrderAgreement::begin(const std::string& stream,
                                                        std::uint64_t generation, const Stream& at,
                                                        SharedJob::View view) {
  const auto with_stream = [this, stream, generation,
                            session = view.session](const std::function<void(Stream&)>& use) {
    const MutexLock lock(shared_.mutex);
    Stream* found = shared_.table.get(stream, generation);
    if (found == nullptr || found->shared_job().session() != session) return false;
    use(*found);
    driver_.do_work(shared_, stream, *found);
    return true;
  };
  std::string root = fmt::format("{}{}/{}/{}/{}x{}/", prefix_, escaped(stream),
                                 to_hex(at.core()->ring_spec.fingerprint), escaped(view.job.name),
                                 view.job.world_size, view.job.batch_size);
  return std::make_unique<AgreementSession>(
      AgreementSession::Names{
          .stream = stream, .root = std::move(root), .host = unique_id(), .shown = host_name()},
      store_, with_stream, std::move(view));
}

void OrderAgreement::note(const std::string& stream, Known& known, const Status& status) {
  if (status.ok()) {
    if (std::exchange(failing_, false)) log_info({"engine", stream}, "etcd answers again");
    return;
  }
  const bool is_over = status.code() == Code::kFailedPrecondition;
  if (is_over) known.over = status;
  if (!std::exchange(failing_, !is_over) || failure_log_.due(monotonic_ns())) {
    log_warning({"engine", stream}, "the hosts cannot agree on changes: {}", status.message());
  }
  if (is_over || !known.session->has_proposal()) fulfil(stream, status);
}

std::optional<agree::Change> OrderAgreement::wish_of(const std::string& stream) {
  const MutexLock lock(mutex_);
  const auto wish = wishes_.find(stream);
  if (wish == wishes_.end() || wish->second->given_up) return std::nullopt;
  return wish->second->change;
}

void OrderAgreement::fulfil(const std::string& stream, Result<Made> result) {
  {
    const MutexLock lock(mutex_);
    const auto wish = wishes_.find(stream);
    if (wish == wishes_.end()) return;
    wish->second->result = std::move(result);
    wishes_.erase(wish);
  }
  changed_.notify_all();
}

}  // namespace echoline::engine
