// Access to the steps of a stream's pipeline by kind, and its echo point. For streams that load.h
// has accepted. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "echoline/v1/config.pb.h"

namespace echoline::config {

// Where the records come from: one step `read`, or those of the sources of the step `mix`, in their
// order. The pointers are valid as long as the stream.
std::vector<const v1::Read*> reads_of(const v1::Stream& stream);
// Null if the stream has one source.
const v1::Mix* mix_step(const v1::Stream& stream);

// The step of a stream without `mix`.
const v1::Read& read_step(const v1::Stream& stream);

// Steps that every accepted stream has. The references are valid as long as the stream.
// Of a stream that reads a data set in Python, which has no such step: a step that decodes the
// sample's number to the field `index`.
const v1::Decode& decode_step(const v1::Stream& stream);
// That of the records of source `source`, counted from 0.
const v1::Decode& decode_of(const v1::Stream& stream, std::size_t source);
const v1::Batch& batch_step(const v1::Stream& stream);
// The defaults if the stream has no such step.
const v1::Publish& publish_step(const v1::Stream& stream);

// Whether users' code makes the samples, without a step `decode`.
bool reads_python(const v1::Stream& stream);

// The users' code that the stream calls, as "mix of augment.py"; empty: none.
std::string user_code_names(const v1::Stream& stream);

// Null if the stream has none.
const v1::Cache* cache_step(const v1::Stream& stream);
// Whether the cache step comes after decode and stores decoded samples.
bool caches_decoded(const v1::Stream& stream);
// Whether preparation servers have the cache: its step comes before `prepare`.
bool caches_before_prepare(const v1::Stream& stream);
// The definition without a cache that is on the other side of `prepare`: of a preparation server,
// or of its hosts.
v1::Stream with_own_cache(const v1::Stream& stream, bool serves);
// Only the steps up to `prepare`: all that a preparation server runs.
v1::Stream up_to_prepare(const v1::Stream& stream);
const v1::Prepare* prepare_step(const v1::Stream& stream);
const v1::Shuffle* shuffle_step(const v1::Stream& stream);
const v1::Echo* echo_step(const v1::Stream& stream);

// The echo point: what is used more than once. kSample: a decoded sample, or one after the
// augmentations before `echo`, if others follow. kAugmented: a finished row.
enum class EchoPlace : std::uint8_t { kNone, kRecord, kSample, kAugmented, kBatch };

EchoPlace echo_place(const v1::Stream& stream);
// none, record, sample, augmented, batch.
std::string_view to_string(EchoPlace place);

// The daemon sets the factor while trainers read (`factor: auto`).
bool echo_is_auto(const v1::Stream& stream);
// Thousandths, in the beginning: 1000 without an echo step, and with `factor: auto`.
std::uint32_t echo_factor(const v1::Stream& stream);
// Thousandths; equal to the factor unless the step sets `max`.
std::uint32_t echo_factor_max(const v1::Stream& stream);

// Whether the step transforms arrays into arrays.
bool is_augmentation(v1::Step::StepCase step);
// The key of the step in the configuration, as "random_crop".
std::string_view step_name(v1::Step::StepCase step);

}  // namespace echoline::config
