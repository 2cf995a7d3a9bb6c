#include "augment/chain.h"

#include <algorithm>
#include <utility>

#include "augment/compile.h"
#include "base/check.h"
#include "base/step_times.h"
#include "user_code/workers.h"

namespace echoline::augment {
namespace {

UseKey first_use(UseKey key) {
  key.use = key.first_use;
  return key;
}

// Runs the programs before the step. Returns what the step gets, or, without a step, nothing.
Result<const decode::Sample*> run_programs(const Stage& stage, const decode::Sample& in,
                                           const UseKey& key, Scratch::OfStage& scratch) {
  const bool with_step = stage.step != nullptr;
  if (with_step && !stage.programs.changes_pixels()) return &in;
  decode::Sample& out = with_step ? scratch.between : scratch.after;
  ECHOLINE_TRY(stage.programs.make_sample(in, key, scratch.programs, out));
  return with_step ? &out : nullptr;
}

Status run_stage(const Stage& stage, const decode::Sample& in, const UseKey& key,
                 Scratch::OfStage& scratch) {
  ECHOLINE_ASSIGN(const decode::Sample* const between, run_programs(stage, in, key, scratch));
  if (between == nullptr) return {};
  enter_step(stage.name);
  return stage.step->run(*between, key, scratch.step.get(), scratch.after)
      .with_context(stage.context);
}

std::uint32_t several_max(const Stage& stage) {
  return stage.step == nullptr ? 1 : stage.step->several_max();
}

}  // namespace

void Scratch::stop_with(const std::atomic<bool>* stopping) {
  for (OfStage& stage : stages) {
    if (stage.step != nullptr) stage.step->stopping = stopping;
  }
}

Chain::Chain(ChainParts parts, const std::vector<decode::FieldType>& inputs)
    : parts_(std::move(parts)), inputs_(inputs) {
  for (std::size_t i = 0; i < parts_.stages.size(); ++i) {
    const std::uint32_t several = several_max(parts_.stages[i]);
    together_max_ = std::max(together_max_, several);
    if (several > 1) together_stages_ = i + 1;
  }
}

Result<std::unique_ptr<Chain>> Chain::compile(const v1::Stream& stream,
                                              const std::vector<decode::FieldType>& inputs) {
  ECHOLINE_ASSIGN(ChainParts parts, compile_steps(stream, inputs));
  return std::unique_ptr<Chain>(new Chain(std::move(parts), inputs));
}

std::unique_ptr<Scratch> Chain::make_scratch() const {
  auto scratch = std::make_unique<Scratch>();
  for (const Stage& stage : parts_.stages) {
    Scratch::OfStage& own = scratch->stages.emplace_back();
    own.programs = stage.programs.make_scratch();
    if (stage.step != nullptr) own.step = stage.step->make_scratch();
  }
  scratch->last = parts_.last.make_scratch();
  return scratch;
}

std::vector<const user_code::Workers*> Chain::user_code() const {
  std::vector<const user_code::Workers*> all;
  for (const Stage& stage : parts_.stages) {
    const bool runs = stage.step != nullptr && stage.step->workers() != nullptr;
    if (runs) all.push_back(stage.step->workers());
  }
  return all;
}

std::uint64_t Chain::given_up() const {
  std::uint64_t samples = 0;
  for (const user_code::Workers* workers : user_code()) samples += workers->counters().given_up;
  return samples;
}

std::string Chain::contents() const {
  std::string contents;
  for (const Stage& stage : parts_.stages) {
    if (stage.step != nullptr) contents += stage.step->contents();
  }
  return contents;
}

std::uint64_t Chain::kept_bytes() const {
  std::uint64_t bytes = 0;
  for (const Stage& stage : parts_.stages) {
    if (stage.step != nullptr) bytes += stage.step->kept_bytes();
  }
  return bytes;
}

Result<std::vector<decode::FieldType>> Chain::outputs_for(const decode::Sample& sample) const {
  if (parts_.stages.size() == parts_.prepared_stages) return parts_.last.outputs_for(sample);
  const std::unique_ptr<Scratch> scratch = make_scratch();
  ECHOLINE_ASSIGN(const decode::Sample* const made,
                  run_stages(parts_.prepared_stages, parts_.stages.size(), sample, {}, *scratch));
  return parts_.last.outputs_for(*made);
}

decode::Part Chain::part_of(std::size_t field, const ImageSize& size, const UseKey& key) const {
  if (parts_.stages.empty()) return parts_.last.part_of(field, size, key);
  return parts_.stages.front().programs.part_of(field, size, has_shared() ? first_use(key) : key);
}

Result<const decode::Sample*> Chain::run_stages(std::size_t begin, std::size_t end,
                                                const decode::Sample& in, const UseKey& key,
                                                Scratch& scratch) const {
  const decode::Sample* sample = &in;
  for (std::size_t i = begin; i < end; ++i) {
    if (i >= scratch.stages_done)
      ECHOLINE_TRY(run_stage(parts_.stages[i], *sample, key, scratch.stages[i]));
    sample = &scratch.stages[i].after;
  }
  return sample;
}

bool Chain::has_batched_step() const {
  return std::ranges::any_of(parts_.stages, [](const Stage& stage) {
    return stage.step != nullptr && stage.step->is_batched();
  });
}

void Chain::run_together(std::span<RowTogether> rows, bool begins_shared) const {
  const std::size_t begin = begins_shared ? parts_.shared_stages : parts_.prepared_stages;
  for (std::size_t i = begin; i < together_stages_; ++i) run_stage_together(i, rows);
  for (const RowTogether& row : rows) {
    if (row.is_good) row.scratch->stages_done = together_stages_;
  }
}

void Chain::run_stage_together(std::size_t index, std::span<RowTogether> rows) const {
  const Stage& stage = parts_.stages[index];
  std::vector<SampleStep::Member> members;
  std::vector<RowTogether*> rows_of;
  for (RowTogether& row : rows) {
    if (!row.is_good) continue;
    Scratch::OfStage& scratch = row.scratch->stages[index];
    const UseKey key = index < parts_.shared_stages ? first_use(row.key) : row.key;
    if (several_max(stage) == 1) {
      row.is_good = run_stage(stage, *row.in, key, scratch).ok();
    } else if (const auto between = run_programs(stage, *row.in, key, scratch); between.ok()) {
      members.push_back({.in = *between, .key = key, .out = &scratch.after});
      rows_of.push_back(&row);
    } else {
      row.is_good = false;
    }
    row.in = &scratch.after;
  }
  if (members.empty()) return;
  enter_step(stage.name);
  stage.step->run_several(members, rows_of.front()->scratch->stages[index].step.get());
  for (std::size_t i = 0; i < members.size(); ++i) rows_of[i]->is_good = members[i].is_done;
}

Status Chain::run_prepared(decode::Sample& sample, Scratch& scratch) const {
  if (!has_prepared()) return {};
  ECHOLINE_TRY(run_stages(0, parts_.prepared_stages, sample, {}, scratch).status());
  // Both samples stay alive: the result may borrow from what it was made of.
  std::swap(sample.tensors, scratch.stages[parts_.prepared_stages - 1].after.tensors);
  scratch.has_decoded = true;
  return {};
}

void Chain::give_back(decode::Sample& sample, Scratch& scratch) const {
  if (!std::exchange(scratch.has_decoded, false)) return;
  std::swap(sample.tensors, scratch.stages[parts_.prepared_stages - 1].after.tensors);
}

Result<decode::Sample*> Chain::run_shared(const decode::Sample& in, const UseKey& key,
                                          Scratch& scratch) const {
  ECHOLINE_CHECK(has_shared());
  ECHOLINE_TRY(run_stages(parts_.prepared_stages, parts_.shared_stages, in, first_use(key), scratch)
                   .status());
  return &scratch.stages[parts_.shared_stages - 1].after;
}

void Chain::show_rows(std::span<const std::span<std::byte>> rows, Scratch& scratch) const {
  if (parts_.shared_stages == parts_.stages.size() || parts_.stages.back().step == nullptr) return;
  std::vector<decode::Tensor>& results = scratch.stages.back().after.tensors;
  results.resize(outputs().size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool is_copied = !rows.empty() && !parts_.last.changes(i) && !outputs()[i].ragged;
    results[i].destination = is_copied ? rows[i] : std::span<std::byte>();
  }
}

Status Chain::run(const decode::Sample& in, const UseKey& key, Scratch& scratch,
                  std::span<const std::span<std::byte>> rows, std::span<std::uint64_t> lengths,
                  const std::function<void()>& place) const {
  show_rows(rows, scratch);
  const Result<const decode::Sample*> made =
      run_stages(parts_.shared_stages, parts_.stages.size(), in, key, scratch);
  show_rows({}, scratch);
  ECHOLINE_TRY(made.status());
  return parts_.last.write_rows(**made, key, scratch.last, rows, lengths, place);
}

}  // namespace echoline::augment
