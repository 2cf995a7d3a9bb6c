#include "engine/open/fingerprint.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <xxhash.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/hex.h"
#include "base/scheme.h"
#include "config/pipeline.h"
#include "plan/plan.h"
#include "prepare/frame.h"
#include "source/core/hub_address.h"

namespace echoline::engine {
namespace {

// Map fields are serialized in the order of their keys: the same definition gives the same bytes.
std::string deterministic_bytes(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

// Removes how the code is run.
template <typename Code>
void leave_function(Code& code) {
  code.clear_workers();
  code.clear_timeout();
  code.clear_memory();
  code.clear_sample_bytes();
  code.clear_environment();
  code.clear_user();
}

// And where it is: its text is hashed by itself, and so are the bytes of a library.
void leave_essence(v1::Python& python) {
  leave_function(python);
  python.clear_file();
  python.clear_interpreter();
  // Results do not depend on how samples are cut into chunks.
  python.clear_chunk();
  if (!python.batched()) python.clear_batched();
  // With threads, the generators of Python's modules are not seeded.
  if (!python.threads()) python.clear_threads();
}

void leave_essence(v1::Plugin& plugin) {
  leave_function(plugin);
  plugin.clear_library();
}

// Only the token format and users' code count: they decide what a record is. The objects are hashed
// by object_line.
void leave_essence(v1::Read& read) {
  v1::Read kept;
  if (read.has_python()) {
    *kept.mutable_python() = read.python();
    leave_essence(*kept.mutable_python());
  }
  if (read.has_tokens()) *kept.mutable_tokens() = read.tokens();
  read = std::move(kept);
}

// The part of a stream's definition that changes order or values, without the seed.
v1::Stream essence(const v1::Stream& stream) {
  v1::Stream kept;
  kept.set_lanes(stream.lanes());
  kept.mutable_bad_records()->set_policy(stream.bad_records().policy());
  for (const v1::Step& step : stream.pipeline()) {
    // Caches, the ring and the place of the work change no order and no value.
    if (step.has_cache() || step.has_publish() || step.has_prepare()) continue;
    v1::Step& copy = *kept.add_pipeline();
    copy = step;
    if (copy.has_read()) leave_essence(*copy.mutable_read());
    if (copy.has_mix()) {
      for (v1::MixSource& source : *copy.mutable_mix()->mutable_sources()) {
        leave_essence(*source.mutable_read());
      }
    }
    if (copy.has_python()) leave_essence(*copy.mutable_python());
    if (copy.has_plugin()) leave_essence(*copy.mutable_plugin());
    // The lists and the noise are hashed by themselves.
    if (copy.has_shuffle()) copy.mutable_shuffle()->clear_order();
    if (copy.has_audio_noise()) {
      copy.mutable_audio_noise()->clear_files();
      copy.mutable_audio_noise()->clear_max_bytes();
    }
  }
  return kept;
}

std::string object_line(const record::Shard& shard) {
  const source::ObjectInfo& object = shard.object;
  // A local file has no version: its name, size and number of records must do.
  if (is_local(object.url)) {
    const std::string name = object.url.substr(object.url.find_last_of('/') + 1);
    return fmt::format("{}\n{}\n{}\n", name, object.bytes, shard.record_count);
  }
  // The version of an object on the Hub is a commit, so a branch and its commit are the same data.
  return fmt::format("{}\n{}\n{}\n{}\n", source::without_revision(object.url), object.bytes,
                     object.version, shard.record_count);
}

// The lengths are part of the ring format and of saved states: a change makes every state foreign.
// The offset of each part in a fingerprint.
struct Part {
  std::string_view name;
  std::size_t begin;
  std::size_t bytes;
};
constexpr Part kData{"data set", 0, kFingerprintDataBytes};
constexpr Part kPipeline{"pipeline", 6, 6};
constexpr Part kSeed{"seed", 12, 4};
static_assert(kSeed.begin + kSeed.bytes == shm::kFingerprintBytes);

void write_part(Fingerprint& fingerprint, const Part& part, const std::string& text) {
  // The canonical form has the same bytes on every machine, whatever its byte order.
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(text.data(), text.size()));
  std::copy_n(std::begin(canonical.digest), part.bytes, fingerprint.begin() + part.begin);
}

std::string data_text(const record::DataSet& data_set) {
  std::string data = fmt::format("{}\n{}", data_set.format(), data_set.metadata_text());
  for (const record::Shard& shard : data_set.index().shards()) data += object_line(shard);
  return data;
}

// What makes the samples of each source; data_text says where each one begins.
void add_sources(const v1::Mix& mix, v1::Mix& made) {
  for (const v1::MixSource& source : mix.sources()) {
    v1::MixSource& added = *made.add_sources();
    if (source.has_decode()) *added.mutable_decode() = source.decode();
    if (source.read().has_tokens()) {
      *added.mutable_read()->mutable_tokens() = source.read().tokens();
    }
  }
}

}  // namespace

Fingerprint fingerprint(const v1::Stream& stream, const record::DataSet& data_set,
                        const std::string& contents) {
  Fingerprint result{};
  write_part(result, kData, data_text(data_set));
  write_part(result, kPipeline,
             fmt::format("plan {}\n", plan::kPlanVersion) + deterministic_bytes(essence(stream)) +
                 contents);
  write_part(result, kSeed, fmt::format("{}", stream.seed()));
  return result;
}

std::string sample_fingerprint(const v1::Stream& stream, const record::DataSet& data_set) {
  v1::Stream made;
  for (const v1::Step& step : stream.pipeline()) {
    if (step.has_prepare()) break;
    if (step.has_read() && step.read().has_tokens()) {
      *made.add_pipeline()->mutable_read()->mutable_tokens() = step.read().tokens();
    }
    if (step.has_mix()) add_sources(step.mix(), *made.add_pipeline()->mutable_mix());
    if (step.has_decode() || config::is_augmentation(step.step_case())) *made.add_pipeline() = step;
  }
  Fingerprint result{};
  write_part(result, kData, data_text(data_set));
  write_part(result, kPipeline,
             fmt::format("samples {}\n", prepare::kSampleVersion) + deterministic_bytes(made));
  return {result.begin(), result.end()};
}

std::string difference(const Fingerprint& one, const Fingerprint& other) {
  std::string names;
  // In the order of the parts, so that a message always names them in the same order.
  for (const Part& part : {kData, kPipeline, kSeed}) {
    if (std::equal(one.begin() + part.begin, one.begin() + part.begin + part.bytes,
                   other.begin() + part.begin)) {
      continue;
    }
    names += fmt::format("{}another {}", names.empty() ? "" : " and ", part.name);
  }
  return names;
}

std::string to_hex(const Fingerprint& fingerprint) {
  return echoline::to_hex(std::as_bytes(std::span(fingerprint)));
}

}  // namespace echoline::engine
