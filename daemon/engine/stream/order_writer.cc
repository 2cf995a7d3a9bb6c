#include "engine/stream/order_writer.h"

#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace echoline::engine {
namespace {

constexpr std::uint64_t kSlowNs = 1'000'000'000;

}  // namespace

OrderWriter::OrderWriter(std::string state_dir) : state_dir_(std::move(state_dir)) {}

KeptOrder OrderWriter::files_of(const StreamCore& core) const {
  return KeptOrder(state_dir_, core.name, core.ring_spec.fingerprint);
}

void OrderWriter::write(const StreamCore& core, const OrderSettings& settings) {
  const KeptOrder files = files_of(core);
  if (files.name().empty()) return;
  {
    const MutexLock lock(mutex_);
    const auto [at, is_new] = waiting_.try_emplace(files.name(), Waiting{files, settings});
    OrderSettings& kept = at->second.settings;
    if (settings.factor) kept.factor = settings.factor;
    if (settings.weights) kept.weights = settings.weights;
    if (!is_new) return;
  }
  loop_.post([this, name = files.name()] { write_next(name); });
}

void OrderWriter::remove(const StreamCore& core) {
  loop_.run([files = files_of(core)] { files.remove(); });
}

void OrderWriter::write_next(const std::string& name) {
  MutexLock lock(mutex_);
  const Waiting next = std::move(waiting_.extract(name).mapped());
  lock.unlock();
  const std::uint64_t begin_ns = monotonic_ns();
  next.files.save(next.settings);
  const std::uint64_t took_ns = monotonic_ns() - begin_ns;
  if (took_ns < kSlowNs) return;
  log_warning("engine", "writing {} took {:.1f} s: the disk of daemon.state_dir is slow", name,
              to_seconds(took_ns));
}

}  // namespace echoline::engine
