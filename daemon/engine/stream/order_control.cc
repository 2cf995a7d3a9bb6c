#include "engine/stream/order_control.h"

#include <utility>

namespace echoline::engine {

void OrderControl::begin_with(const OrderSettings& settings) {
  if (settings.factor) echo_factor_.begin_with(*settings.factor);
  if (settings.weights) weights_.begin_with(*settings.weights);
}

OrderHistory OrderControl::first_history(std::uint32_t epoch) const {
  OrderHistory history(*core_.plan);
  const PresentFactor& present = present_factor();
  // `since` is the first row.
  if (present.is_listed) history.factors.append(epoch, {0, present.factor}, {});
  history.weights.begin_with(epoch, present_weights());
  return history;
}

OrderHistory OrderControl::configured_history(std::uint32_t epoch) const {
  OrderHistory history(*core_.plan);
  if (core_.auto_factor) history.factors.append(epoch, {0, core_.plan->spec().factor}, {});
  return history;
}

Status OrderControl::check_attach(const Consumer& consumer, const Start& start) const {
  ECHOLINE_TRY(echo_factor_.control().check_attach(consumer, start));
  return weights_.check_attach(consumer, start);
}

void OrderControl::note_start(const Start& start) {
  echo_factor_.note_start(start);
  weights_.note_start(start);
}

std::vector<std::shared_ptr<Pass>> OrderControl::take_idle() {
  std::vector<std::shared_ptr<Pass>> idle = echo_factor_.take_idle();
  for (auto& pass : weights_.take_idle()) idle.push_back(std::move(pass));
  return idle;
}

}  // namespace echoline::engine
