#include "config/mix_values.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "config/names.h"
#include "config/pipeline.h"
#include "config/step_values.h"

namespace echoline::config {
namespace {

constexpr int kSourcesMax = 64;

Status check_name(const v1::MixSource& source, std::set<std::string>& names,
                  const SourceLocations& locations) {
  const std::string& name = source.name();
  if (!is_plain_name(name)) {
    return locations.error(source, "name",
                           fmt::format("'{}' is no name of a source; {}", name, kPlainNames));
  }
  if (names.insert(name).second) return Status();
  return locations.error(source, "name",
                         fmt::format("'{}' is the name of an earlier source; take another", name));
}

// The steps after it are the same for all sources.
Status check_own_decode(const v1::MixSource& source, const v1::Decode& common,
                        const SourceLocations& locations) {
  if (!source.has_decode()) return Status();
  ECHOLINE_TRY(check_fields(source.decode(), locations));
  const auto& fields = source.decode().fields();
  for (const auto& [name, field] : fields) {
    if (common.fields().contains(name)) continue;
    return locations.error(
        field, "key",
        fmt::format("source {}: the stream's step 'decode' has no field {}", source.name(), name));
  }
  for (const auto& [name, field] : common.fields()) {
    if (fields.contains(name)) continue;
    return locations.error(source, "decode",
                           fmt::format("source {} has no field {}; each source needs all fields of "
                                       "the stream's step 'decode'",
                                       source.name(), name));
  }
  return Status();
}

Status check_source(const v1::MixSource& source, const v1::Decode& common,
                    std::set<std::string>& names, const SourceLocations& locations) {
  ECHOLINE_TRY(check_name(source, names, locations));
  if (!source.has_read()) {
    return locations.error(source, "read", "source " + source.name() + " has none; it is required");
  }
  ECHOLINE_TRY(check_read(source.read(), locations));
  if (source.read().has_python()) {
    return locations.error(source.read(), "python",
                           "makes samples; the sources of 'mix' are data at addresses");
  }
  return check_own_decode(source, common, locations);
}

Status check_length(const v1::Mix& mix, const SourceLocations& locations) {
  const bool repeats = mix.at_end() == "repeat";
  if (repeats == mix.has_records()) return Status();
  return locations.error(mix, "records",
                         repeats ? "missing; with 'at_end: repeat' an epoch ends after this number"
                                 : fmt::format("is for 'at_end: repeat'; with '{}' the sources "
                                               "decide where an epoch ends; leave it out",
                                               mix.at_end()));
}

}  // namespace

Status check_mix(const v1::Stream& stream, const SourceLocations& locations) {
  const v1::Mix& mix = *mix_step(stream);
  if (mix.sources_size() < 2 || mix.sources_size() > kSourcesMax) {
    return locations.error(
        mix, "sources", fmt::format("{} given; allowed: 2 to {}", mix.sources_size(), kSourcesMax));
  }
  std::set<std::string> names;
  for (const v1::MixSource& source : mix.sources()) {
    ECHOLINE_TRY(check_source(source, decode_step(stream), names, locations));
  }
  ECHOLINE_TRY(check_length(mix, locations));
  const v1::Shuffle* const shuffle = shuffle_step(stream);
  if (shuffle != nullptr && shuffle->has_order()) {
    return locations.error(*shuffle, "order",
                           "is a whole order, and so is 'mix'; give a window instead");
  }
  if (batch_step(stream).has_buckets()) {
    return locations.error(batch_step(stream), "buckets",
                           "are for one source; leave them out, or give 'read' instead of 'mix'");
  }
  return Status();
}

}  // namespace echoline::config
