// Rows a second of the sequential walk, and the time of a random row, for configurations of real
// streams.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "plan/plan.h"

namespace echoline::plan {
namespace {

// Like a large image data set: 1.28 million records in shards of different sizes.
PlanSpec photos() {
  PlanSpec spec;
  spec.seed = 7;
  spec.batch_rows = 256;
  spec.shuffle_window = 10000;
  for (int i = 0; i < 1024; ++i) spec.shard_records.push_back(1200 + i % 97);
  return spec;
}

PlanSpec echoed(std::uint32_t factor) {
  PlanSpec spec = photos();
  spec.echo_point = EchoPoint::kSample;
  spec.factor = factor;
  spec.echo_window = 10000;
  return spec;
}

PlanSpec heavily_echoed() {
  PlanSpec spec = echoed(100000);
  spec.echo_window = 100000;
  return spec;
}

PlanSpec with_lanes(std::uint32_t lanes) {
  PlanSpec spec = echoed(2500);
  spec.lanes = lanes;
  return spec;
}

PlanSpec fully_shuffled() {
  PlanSpec spec = echoed(2500);
  spec.shuffle_window = kWindowAll;
  return spec;
}

// 2^40 - 1 records in 2^20 shards: no division comes out even.
PlanSpec huge() {
  PlanSpec spec = echoed(2500);
  spec.shard_records.assign(std::size_t{1} << 20, std::uint64_t{1} << 20);
  spec.shard_records.back() -= 1;
  return spec;
}

PlanSpec batches() {
  PlanSpec spec = echoed(2500);
  spec.echo_point = EchoPoint::kBatch;
  spec.echo_window = 20;
  return spec;
}

void sequential(benchmark::State& state, const PlanSpec& spec, std::size_t rows_a_call) {
  const auto plan = Plan::create(spec).value();
  const auto epoch = plan->epoch(0, {});
  std::vector<RowUse> rows(rows_a_call);
  std::uint64_t row = 0;
  for (auto _ : state) {
    if (row + rows.size() > epoch->rows()) row = 0;
    epoch->read(row, rows);
    row += rows.size();
    benchmark::DoNotOptimize(rows.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows.size()));
}

void random_row(benchmark::State& state, const PlanSpec& spec, std::size_t changes) {
  const auto plan = Plan::create(spec).value();
  std::vector<FactorChange> list;
  for (std::size_t i = 0; i < changes; ++i) {
    list.push_back({i, static_cast<std::uint32_t>(1000 + i * 20)});
  }
  const auto epoch = plan->epoch(0, list);
  std::mt19937_64 engine(1);
  for (auto _ : state) benchmark::DoNotOptimize(epoch->at(engine() % epoch->rows()));
}

BENCHMARK_CAPTURE(sequential, no_echo, photos(), 8192);
BENCHMARK_CAPTURE(sequential, factor_2_5, echoed(2500), 8192);
BENCHMARK_CAPTURE(sequential, factor_4, echoed(4000), 8192);
BENCHMARK_CAPTURE(sequential, factor_4_batchwise, echoed(4000), 256);
BENCHMARK_CAPTURE(sequential, factor_100, heavily_echoed(), 8192);
BENCHMARK_CAPTURE(sequential, lanes_8, with_lanes(8), 8192);
BENCHMARK_CAPTURE(sequential, shuffle_all, fully_shuffled(), 8192);
BENCHMARK_CAPTURE(sequential, huge, huge(), 8192);
BENCHMARK_CAPTURE(sequential, batch_echo, batches(), 8192);
BENCHMARK_CAPTURE(random_row, no_echo, photos(), 0);
BENCHMARK_CAPTURE(random_row, factor_2_5, echoed(2500), 0);
BENCHMARK_CAPTURE(random_row, factor_4, echoed(4000), 0);
BENCHMARK_CAPTURE(random_row, factor_2_5_with_64_changes, echoed(2500), 64);
BENCHMARK_CAPTURE(random_row, lanes_8, with_lanes(8), 0);
BENCHMARK_CAPTURE(random_row, huge, huge(), 0);
BENCHMARK_CAPTURE(random_row, batch_echo, batches(), 0);

}  // namespace
}  // namespace echoline::plan
