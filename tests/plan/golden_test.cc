// Compares the order of some streams with files in git, because a changed order would make all
// saved positions wrong. For an intended change: raise kPlanVersion, run this test with
// ECHOLINE_UPDATE_GOLDEN=1, and commit the files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "plan/buckets.h"
#include "random_spec.h"

namespace echoline::plan {
namespace {

using namespace testing;

struct Golden {
  std::string name;
  PlanSpec spec;
  std::vector<FactorChange> changes;
  std::uint64_t first_row = 0;
  std::uint64_t rows = ~std::uint64_t{0};
  std::vector<WeightChange> weights = {};
};

PlanSpec shards(std::uint64_t window) {
  PlanSpec spec;
  spec.seed = 7;
  spec.batch_rows = 8;
  spec.shuffle_window = window;
  spec.last = LastBatch::kPartial;
  spec.shard_records = {31, 7, 44, 18};
  return spec;
}

PlanSpec echo(EchoPoint point, std::uint32_t factor, std::uint64_t window) {
  PlanSpec spec = shards(20);
  spec.echo_point = point;
  spec.factor = factor;
  spec.echo_window = window;
  return spec;
}

// Two lists of 67 entries, the second one with records several times.
std::shared_ptr<const OrderLists> every_third_record() {
  OrderListsBuilder builder(100, 134);
  for (const std::uint64_t records : {100U, 40U}) {
    for (std::uint64_t place = 0; place < 67; ++place) {
      EXPECT_TRUE(builder.add(3 * place % records).ok());
    }
    EXPECT_TRUE(builder.end_list().ok());
  }
  return builder.finish();
}

// Three buckets of 100 records with lengths from 1 to 25; the batches have 8, 4 and 2 rows.
std::shared_ptr<const Buckets> lengths_of_three() {
  return std::make_shared<const Buckets>(std::vector<BucketShape>{{5, 8}, {12, 4}, {25, 2}}, 100,
                                         [](std::uint64_t record) { return 1 + record * 7 % 25; });
}

std::vector<Golden> goldens() {
  std::vector<Golden> all{{"shards", shards(1), {}},
                          {"shuffle_20", shards(20), {}},
                          {"shuffle_all", shards(kWindowAll), {}},
                          {"echo_2", echo(EchoPoint::kRecord, 2000, 32), {}},
                          {"echo_2_5", echo(EchoPoint::kSample, 2500, 64), {}},
                          {"echo_batch_1_5", echo(EchoPoint::kBatch, 1500, 4), {}}};
  Golden even{"even_shards", shards(1), {}};
  even.spec.shard_records = {25, 25, 25, 25};
  all.push_back(even);
  Golden lanes{"echo_lanes", echo(EchoPoint::kAugmented, 1500, 60), {}};
  lanes.spec.lanes = 2;
  all.push_back(lanes);
  Golden within{"echo_within_step", echo(EchoPoint::kSample, 2000, 0), {}};
  within.spec.lanes = 2;
  within.spec.within_step = true;
  all.push_back(within);
  Golden list{"list_lanes", lanes.spec, {}};
  list.spec.shuffle_window = 0;
  list.spec.order = every_third_record();
  all.push_back(list);
  Golden changed{"echo_changes", echo(EchoPoint::kSample, 2000, 40), {{1, 1300}, {2, 3000}}};
  changed.spec.factor_max = 3000;
  changed.spec.allow_repeats = true;
  all.push_back(changed);
  Golden far{"echo_far", echo(EchoPoint::kSample, 3700, 20000), {}, 3000000000000, 100};
  far.spec.shard_records = {std::uint64_t{1} << 40, 5};
  far.spec.shuffle_window = 10000;
  all.push_back(far);
  Golden stop{"mix_stop", shards(20), {}};
  stop.spec.mix = MixSpec{.shards = {2, 2}, .weights = {3000, 1000}};
  all.push_back(stop);
  Golden drop{"mix_drop", shards(kWindowAll), {}};
  drop.spec.mix = MixSpec{.shards = {1, 3}, .weights = {1, 1}, .at_end = MixEnd::kDrop};
  all.push_back(drop);
  Golden repeat{"mix_repeat_lanes_echo_2", echo(EchoPoint::kSample, 2000, 40), {}};
  repeat.spec.lanes = 2;
  repeat.spec.mix =
      MixSpec{.shards = {1, 1, 2}, .weights = {1, 2, 3}, .at_end = MixEnd::kRepeat, .rows = 90};
  all.push_back(repeat);
  Golden weights{"mix_repeat_weights", repeat.spec, {}};
  weights.weights = {{17, {3, 2, 1}}, {60, {0, 1, 0}}};
  all.push_back(weights);
  Golden buckets{"buckets", shards(kWindowAll), {}};
  buckets.spec.buckets = lengths_of_three();
  all.push_back(buckets);
  Golden batches{"buckets_echo_batch_1_5", buckets.spec, {}};
  batches.spec.echo_point = EchoPoint::kBatch;
  batches.spec.factor = 1500;
  batches.spec.echo_window = 4;
  all.push_back(batches);
  return all;
}

// One line per row: record, use/uses; "-" for a row that is missing in a short batch.
std::string text_of(const Golden& golden) {
  std::ostringstream text;
  text << "# plan_version " << kPlanVersion << "; " << describe(golden.spec) << "; from row "
       << golden.first_row << "\n";
  for (std::uint32_t number = 0; number < 2; ++number) {
    const auto plan = Plan::create(golden.spec);
    EXPECT_TRUE(plan.ok()) << golden.name << ": " << plan.status().message();
    const auto epoch = plan.value()->epoch(number, golden.changes, golden.weights);
    std::vector<RowUse> rows(std::min(golden.rows, epoch->rows() - golden.first_row));
    epoch->read(golden.first_row, rows);
    text << "epoch " << number << " of " << epoch->rows() << " rows\n";
    for (const RowUse& row : rows) {
      if (row.valid) text << row.record << ' ';
      text << (row.valid ? "" : "- ") << row.use << '/' << row.uses;
      if (row.first_draw > 0) text << " draws from " << row.first_draw;
      text << '\n';
    }
  }
  return text.str();
}

TEST(Golden, OrdersAreThoseOfTheFilesInGit) {
  const bool update = std::getenv("ECHOLINE_UPDATE_GOLDEN") != nullptr;
  for (const Golden& golden : goldens()) {
    const std::string path =
        std::string(ECHOLINE_SOURCE_DIR) + "/tests/plan/golden/" + golden.name + ".txt";
    const std::string text = text_of(golden);
    if (update) std::ofstream(path) << text;
    std::ifstream file(path);
    std::stringstream kept;
    kept << file.rdbuf();
    EXPECT_EQ(kept.str(), text) << golden.name
                                << ": an order changed. On purpose? See the head of this file.";
  }
}

}  // namespace
}  // namespace echoline::plan
