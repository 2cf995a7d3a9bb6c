// The two tables: streams, and trainers of one stream.
#include <fmt/core.h>

#include <algorithm>

#include "base/pluralize.h"
#include "top/numbers.h"
#include "top/panels.h"
#include "top/table.h"

namespace echoline::top {
namespace {

Table streams_of(const Paper& paper) {
  return Table("  STREAM",
               {{"STATE", 7, 2},
                {"FRESH/S", 7, 3},
                {"ECHOED/S", 8, 3},
                {"BATCHES/S", 9, 1},
                {"SOURCE", 10, 4},
                {"TRAINERS", 8, 5},
                {"WAIT", 4, 1}},
               paper.columns, paper.theme);
}

std::vector<std::string> cells_of(const StreamInterval& stream, const Paper& paper) {
  return {printable(stream.now.state(), paper.theme),
          count_text(stream.fresh_per_second),
          count_text(stream.echoed_per_second),
          count_text(stream.batches_per_second),
          bytes_rate_text(stream.source.bytes_per_second),
          count_text(static_cast<double>(stream.trainers.size())),
          percent_text(stream.wait_share)};
}

Table trainers_of(const Paper& paper) {
  return Table("TRAINER",
               {{"EPOCH", 5, 3},
                {"STEP", 7, 1},
                {"BATCH/S", 7, 4},
                {"WAIT", 4, 1},
                {"FETCH", 5, 2},
                {"PREP", 4, 2},
                {"RING", 4, 5},
                {"PEER", 4, 2},
                {"AWAY", 4, 5},
                {"LAG", 6, 3}},
               paper.columns, paper.theme);
}

std::string name_of(const v1::Consumer& trainer) {
  return fmt::format("{}/{}", trainer.job(), trainer.rank());
}

std::vector<std::string> cells_of(const TrainerInterval& trainer) {
  std::vector<std::string> cells = {
      std::to_string(trainer.now.epoch()), std::to_string(trainer.now.step()),
      count_text(trainer.batches_per_second), percent_text(trainer.wait_share)};
  for (const double share : trainer.wait_by_cause) cells.push_back(percent_text(share));
  cells.push_back(count_text(static_cast<double>(trainer.now.lag_rows())));
  return cells;
}

std::vector<const TrainerInterval*> in_order(const StreamInterval& stream, Sort sort) {
  std::vector<const TrainerInterval*> trainers;
  for (const TrainerInterval& trainer : stream.trainers) trainers.push_back(&trainer);
  const auto before = [sort](const TrainerInterval* a, const TrainerInterval* b) {
    const auto greater = [](double left, double right) { return left > right; };
    if (sort == Sort::kWait && a->wait_share != b->wait_share) {
      return greater(a->wait_share, b->wait_share);
    }
    if (sort == Sort::kLag && a->now.lag_rows() != b->now.lag_rows()) {
      return a->now.lag_rows() > b->now.lag_rows();
    }
    if (sort == Sort::kRate && a->batches_per_second != b->batches_per_second) {
      return greater(a->batches_per_second, b->batches_per_second);
    }
    return std::make_pair(a->now.job(), a->now.rank()) <
           std::make_pair(b->now.job(), b->now.rank());
  };
  std::stable_sort(trainers.begin(), trainers.end(), before);
  return trainers;
}

}  // namespace

std::vector<Line> stream_table(const std::vector<StreamInterval>& streams, const View& view,
                               std::size_t rows_max, const Paper& paper) {
  const Table table = streams_of(paper);
  std::vector<Line> lines = {table.heading()};
  const std::size_t shown = std::min(streams.size(), rows_max - 1);
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (streams[i].now.name() == view.stream) chosen = i;
  }
  const std::size_t first = chosen < shown ? 0 : chosen + 1 - shown;
  for (std::size_t i = first; i < first + shown; ++i) {
    const bool marked = streams[i].now.name() == view.stream;
    const std::string name = printable(streams[i].now.name(), paper.theme);
    lines.push_back(table.row((marked ? "> " : "  ") + name, cells_of(streams[i], paper),
                              marked ? Style::kStrong : Style::kPlain));
  }
  return lines;
}

std::vector<Line> trainer_table(const StreamInterval& stream, Sort sort, std::size_t rows_max,
                                const Paper& paper) {
  const Table table = trainers_of(paper);
  std::vector<Line> lines = {table.heading()};
  const std::vector<const TrainerInterval*> trainers = in_order(stream, sort);
  const bool all = trainers.size() < rows_max;
  const std::size_t shown = all ? trainers.size() : rows_max - 2;
  for (std::size_t i = 0; i < shown; ++i) {
    lines.push_back(
        table.row(printable(name_of(trainers[i]->now), paper.theme), cells_of(*trainers[i])));
  }
  if (!all) {
    lines.push_back(Line().add(fmt::format("and {} more", trainers.size() - shown), Style::kFaint));
  }
  return lines;
}

}  // namespace echoline::top
