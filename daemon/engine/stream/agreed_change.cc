#include "engine/stream/agreed_change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "config/values.h"
#include "engine/pass/order_change.h"

namespace echoline::engine {
namespace {

using agree::Change;

FactorPlace factor_place(const Change& change) {
  return {.epoch = change.place.epoch,
          .change = {change.place.begin, change.values.front()},
          .since = {change.place.since_epoch, change.place.since_row}};
}

WeightPlace weight_place(const Change& change) {
  return {.epoch = change.place.epoch,
          .change = {.row = change.place.begin, .weights = change.values},
          .since = {change.place.since_epoch, change.place.since_row}};
}

agree::ChangeList list_of(const FactorHistory& factors, std::uint32_t epoch) {
  agree::ChangeList list;
  for (const plan::FactorChange& change : factors.list(epoch)) {
    list.push_back({change.block, {change.factor}});
  }
  return list;
}

agree::ChangeList list_of(const WeightHistory& weights, std::uint32_t epoch) {
  agree::ChangeList list;
  for (const plan::WeightChange& change : weights.list(epoch)) {
    list.push_back({change.row, change.weights});
  }
  return list;
}

void decide_factor(const Pass& pass, const Readers& readers, Change& change) {
  const FactorPlace place = place_of(pass, change.values.front(), readers);
  FactorHistory after = pass.factors();
  after.append(place.epoch, place.change, place.since);
  change.place = {place.epoch, place.change.block, place.since.epoch, place.since.row};
  change.list = list_of(after, place.epoch);
}

void decide_weights(const Pass& pass, const Readers& readers, Change& change) {
  const WeightPlace place = place_of(pass, change.values, readers);
  WeightHistory after = pass.history().weights;
  after.append(place.epoch, place.change, place.since);
  change.place = {place.epoch, place.change.row, place.since.epoch, place.since.row};
  change.list = list_of(after, place.epoch);
}

Status another_order(const Change& change) {
  return {Code::kFailedPrecondition,
          fmt::format("the hosts of the job changed to {} in epoch {}, and this host had other "
                      "changes before; start the job on all hosts from the same state",
                      text_of(change), change.place.epoch)};
}

}  // namespace

std::string text_of(const Change& change) {
  std::vector<std::string> values;
  for (const std::uint32_t value : change.values) {
    values.push_back(config::format_thousandths(value));
  }
  return fmt::format("{} {}", change.is_factor() ? "echo factor" : "weights",
                     fmt::join(values, ", "));
}

bool has_change(const Pass& pass, const Change& change) {
  const OrderHistory history = pass.history();
  const std::uint32_t epoch = change.place.epoch;
  return change.list ==
         (change.is_factor() ? list_of(history.factors, epoch) : list_of(history.weights, epoch));
}

Change decided_in(const Pass& pass, const agree::Reply& latest, Change change) {
  const Readers readers{.batch_rows_most = latest.batch_rows_most,
                        .foremost = {latest.epoch, latest.row}};
  change.state = Change::State::kDecided;
  change.is_factor() ? decide_factor(pass, readers, change) : decide_weights(pass, readers, change);
  return change;
}

Status make_change(Pass& pass, const Change& change) {
  ECHOLINE_TRY(change.is_factor() ? change_factor_at(pass, factor_place(change))
                                  : change_weights_at(pass, weight_place(change)));
  return has_change(pass, change) ? Status() : another_order(change);
}

}  // namespace echoline::engine
