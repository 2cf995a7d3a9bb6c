#include "engine/jobs/consumers.h"

#include <algorithm>
#include <iterator>

namespace echoline::engine {

Consumer& Consumers::add(Consumer consumer) {
  changed_ = true;
  return all_.emplace_back(std::move(consumer));
}

Consumer* Consumers::find(std::uint64_t connection) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Consumer& consumer) {
    return consumer.connection == connection;
  });
  return found == all_.end() ? nullptr : &*found;
}

void Consumers::remove(const Consumer& consumer) {
  changed_ = true;
  // First the reader: it holds no slot any more, and the pass's thread wakes up.
  consumer.pass->ring().remove_reader(consumer.reader);
  all_.remove_if([&](const Consumer& other) { return &other == &consumer; });
}

bool Consumers::has_readers(const Pass& pass) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const Consumer& consumer) { return consumer.pass.get() == &pass; });
}

bool Consumers::is_reading(const Pass& pass, const Job& job) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Consumer& consumer) {
    // A moving trainer will leave this pass: it must not keep the pass for its job.
    return consumer.pass.get() == &pass && consumer.job == job && !consumer.moving;
  });
}

bool Consumers::has_job(const Job& job) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const Consumer& consumer) { return consumer.job == job; });
}

const Pass* Consumers::pass_of(const Job& job) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Consumer& consumer) {
    return consumer.job == job && !consumer.moving;
  });
  return found == all_.end() ? nullptr : found->pass.get();
}

bool Consumers::are_drained() const {
  return std::all_of(all_.begin(), all_.end(), [](const Consumer& consumer) {
    // `released` counts descriptors that the trainer gave back, `published` those it can have.
    const ring::Ring& ring = consumer.pass->ring();
    return ring.view(consumer.reader).released >= ring.published();
  });
}

std::vector<std::uint64_t> Consumers::connections() const {
  std::vector<std::uint64_t> connections;
  std::transform(all_.begin(), all_.end(), std::back_inserter(connections),
                 [](const Consumer& consumer) { return consumer.connection; });
  return connections;
}

}  // namespace echoline::engine
