// The steps of a stream's pipeline by what they are, and where its echo stands.
// For streams that load.h has accepted: pure functions, any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Steps that every accepted stream has. References live as long as the stream.
const v1::Read& read_step(const v1::Stream& stream);
const v1::Decode& decode_step(const v1::Stream& stream);
const v1::Batch& batch_step(const v1::Stream& stream);
// The defaults where the stream was made without one.
const v1::Publish& publish_step(const v1::Stream& stream);

// Null when the stream has none.
const v1::Cache* cache_step(const v1::Stream& stream);
// True where the cache step stands after decode and keeps its samples.
bool caches_decoded(const v1::Stream& stream);
const v1::Shuffle* shuffle_step(const v1::Stream& stream);
const v1::Echo* echo_step(const v1::Stream& stream);

// The echo point: the last kind of step before `echo`. Without augmentations an echo after decode
// is kSample.
enum class EchoPlace : std::uint8_t { kNone, kRecord, kSample, kAugmented, kBatch };

EchoPlace echo_place(const v1::Stream& stream);
// none, record, sample, augmented, batch.
std::string_view to_string(EchoPlace place);

// Thousandths; 1000 without an echo step.
std::uint32_t echo_factor(const v1::Stream& stream);
// Thousandths; the factor itself where the step names no other.
std::uint32_t echo_factor_max(const v1::Stream& stream);

// True for the steps that turn arrays into arrays.
bool is_augmentation(v1::Step::StepCase step);
// The key a step is written with, "random_crop".
std::string_view step_name(v1::Step::StepCase step);

}  // namespace echoline::config
