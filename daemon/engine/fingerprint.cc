#include "engine/fingerprint.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <xxhash.h>

#include "base/scheme.h"
#include "plan/plan.h"

namespace echoline::engine {
namespace {

std::string deterministic_bytes(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

// The part of a stream's definition that changes order or values.
v1::Stream essence(const v1::Stream& stream) {
  v1::Stream kept;
  kept.set_seed(stream.seed());
  kept.set_lanes(stream.lanes());
  kept.mutable_bad_records()->set_policy(stream.bad_records().policy());
  for (const v1::Step& step : stream.pipeline()) {
    if (step.has_cache() || step.has_publish()) continue;
    if (step.has_read()) {
      v1::Read* read = kept.add_pipeline()->mutable_read();
      if (step.read().has_tokens()) *read->mutable_tokens() = step.read().tokens();
      continue;
    }
    *kept.add_pipeline() = step;
  }
  return kept;
}

std::string object_line(const record::Shard& shard) {
  const source::ObjectInfo& object = shard.object;
  if (is_local(object.url)) {
    const std::string name = object.url.substr(object.url.find_last_of('/') + 1);
    return fmt::format("{}\n{}\n{}\n", name, object.bytes, shard.record_count);
  }
  return fmt::format("{}\n{}\n{}\n{}\n", object.url, object.bytes, object.version,
                     shard.record_count);
}

}  // namespace

Fingerprint fingerprint(const v1::Stream& stream, const record::DataSet& data_set) {
  std::string text = fmt::format("plan {}\n", plan::kPlanVersion);
  text += deterministic_bytes(essence(stream));
  text += fmt::format("{}\n{}", data_set.format(), data_set.values_beside());
  for (const record::Shard& shard : data_set.index().shards()) text += object_line(shard);
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(text.data(), text.size()));
  Fingerprint result;
  static_assert(sizeof canonical.digest == sizeof(Fingerprint));
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), result.begin());
  return result;
}

std::string to_hex(const Fingerprint& fingerprint) {
  std::string hex;
  for (const std::uint8_t byte : fingerprint) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace echoline::engine
