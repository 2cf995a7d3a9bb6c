#include "engine/open/open_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/error_location.h"
#include "config/pipeline.h"
#include "record/open/joined_data_set.h"
#include "source/open/open_source.h"

namespace echoline::engine {
namespace {

Status check_fields(const v1::Decode& decode, const record::DataSet& data_set) {
  for (const auto& [name, field] : decode.fields()) {
    ECHOLINE_TRY(data_set.check_field(field.key(), field.as())
                     .with_context(fmt::format("decode: field {}", name)));
  }
  return {};
}

struct OpenedPart {
  std::unique_ptr<source::Source> source;
  std::unique_ptr<record::DataSet> data_set;
};

Result<OpenedPart> open_part(const v1::Read& read, const v1::Decode& decode,
                             const std::string& state_dir, const record::ProgressFunction& progress,
                             const record::OpenOptions& options) {
  OpenedPart part;
  ECHOLINE_ASSIGN(part.source, source::open_source(read));
  ECHOLINE_ASSIGN(part.data_set,
                  record::open_data_set(read, *part.source, state_dir, progress, options));
  // Compressed shards get a source that unpacks; others stay as they are.
  part.source = part.data_set->reading(std::move(part.source));
  if (part.data_set->index().record_count() == 0) {
    return Status(Code::kNotFound, "read.url: no records in it");
  }
  ECHOLINE_TRY(check_fields(decode, *part.data_set));
  return part;
}

}  // namespace

Result<OpenedData> open_data(const v1::Stream& stream, const std::string& state_dir,
                             const record::ProgressFunction& progress,
                             const record::OpenOptions& options) {
  const v1::Mix* const mix = config::mix_step(stream);
  const std::vector<const v1::Read*> reads = config::reads_of(stream);
  OpenedData data;
  std::vector<record::NamedDataSet> parts;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const std::string name = mix == nullptr ? "" : mix->sources(static_cast<int>(i)).name();
    Result<OpenedPart> part =
        open_part(*reads[i], config::decode_of(stream, i), state_dir, progress, options);
    if (!part.ok()) return in_source(name, part.status());
    data.sources.push_back(std::move(part.value().source));
    data.metadata.push_back(part.value().data_set->metadata_text());
    data.names.push_back(name);
    parts.push_back({name, std::move(part.value().data_set)});
  }
  data.data_set = record::join_data_sets(std::move(parts));
  return data;
}

Status in_source(const std::string& name, Status status) {
  return name.empty() ? status : std::move(status).with_context(config::source_context(name));
}

v1::Read joined_read(const v1::Stream& stream) {
  const std::vector<const v1::Read*> reads = config::reads_of(stream);
  v1::Read joined = *reads.front();
  for (const v1::Read* read : std::span(reads).subspan(1)) {
    joined.mutable_url()->MergeFrom(read->url());
    joined.set_read_ahead(std::max(joined.read_ahead(), read->read_ahead()));
    if (read->has_throttle()) *joined.mutable_throttle() = read->throttle();
  }
  return joined;
}

}  // namespace echoline::engine
