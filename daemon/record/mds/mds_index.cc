// Every value of the document is checked: it is as untrusted as the data.
#include "record/mds/mds_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace echoline::record {
namespace {

using Json = nlohmann::json;

Json parse(std::string_view text) { return Json::parse(text, nullptr, false); }

// A member; null if there is none, or if `object` is not an object.
const Json& member(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

Status wrong(std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("no index of an MDS data set: {}", what));
}

struct Form {
  std::string_view encoding;
  MdsForm form;
};
// Encodings whose values are files or text. Numbers and arrays are recognised by their names.
constexpr Form kForms[] = {
    {"bytes", MdsForm::kPlain},     {"str", MdsForm::kPlain},         {"jpeg", MdsForm::kPlain},
    {"png", MdsForm::kPlain},       {"json", MdsForm::kPlain},        {"str_int", MdsForm::kPlain},
    {"str_float", MdsForm::kPlain}, {"str_decimal", MdsForm::kPlain},
};

// "ndarray", "ndarray:DTYPE" or "ndarray:DTYPE:SHAPE".
bool read_array(std::string_view encoding, MdsColumn& column) {
  if (encoding != "ndarray" && !encoding.starts_with("ndarray:")) return false;
  column.form = MdsForm::kArray;
  column.type_inside = encoding == "ndarray" || encoding == "ndarray:";
  column.shape_inside = std::count(encoding.begin(), encoding.end(), ':') < 2;
  return true;
}

MdsColumn make_column(std::string name, std::string encoding) {
  MdsColumn column;
  // Unknown encodings stay kUnread: their bytes are skipped.
  column.form = MdsForm::kUnread;
  for (const Form& form : kForms) {
    if (form.encoding == encoding) column.form = form.form;
  }
  if (column.form == MdsForm::kUnread && !read_array(encoding, column)) {
    const auto type = element_type(encoding == "int" ? "int64" : encoding);
    if (type.ok()) {
      column.form = MdsForm::kNumber;
      column.type = *type;
    }
  }
  column.name = std::move(name);
  column.encoding = std::move(encoding);
  return column;
}

Result<MdsColumns> read_columns(const Json& shard) {
  const Json& names = member(shard, "column_names");
  const Json& encodings = member(shard, "column_encodings");
  const Json& sizes = member(shard, "column_sizes");
  if (!names.is_array() || !encodings.is_array() || !sizes.is_array() ||
      names.size() != encodings.size() || names.size() != sizes.size() || names.empty()) {
    return wrong("column_names, column_encodings and column_sizes are no lists of one length");
  }
  MdsColumns columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].is_string() || !encodings[i].is_string()) return wrong("a column without a name");
    MdsColumn column = make_column(names[i].get<std::string>(), encodings[i].get<std::string>());
    if (sizes[i].is_number_unsigned()) {
      const auto bytes = sizes[i].get<std::uint64_t>();
      if (bytes > std::numeric_limits<std::uint32_t>::max()) return wrong("a column's size");
      column.bytes = static_cast<std::uint32_t>(bytes);
    } else if (!sizes[i].is_null()) {
      return wrong("a column's size");
    }
    // A wrong size would shift all later columns of a sample.
    if (column.form == MdsForm::kNumber && column.bytes != column.type.bytes) {
      return wrong(
          fmt::format("column '{}' is {} of {} bytes", column.name, column.encoding, column.bytes));
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

// False for names that lead out of the folder: index.json may be hostile.
bool stays_below(std::string_view name) {
  if (name.empty() || name.front() == '/') return false;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    const std::string_view segment = name.substr(0, slash);
    if (segment.empty() || segment == "." || segment == "..") return false;
    name = slash == std::string_view::npos ? std::string_view() : name.substr(slash + 1);
  }
  return true;
}

// The names of MosaicML's streaming, which may have a level after them: "zstd:7".
Result<Compression> read_compression(const Json& name) {
  constexpr std::pair<std::string_view, Compression> kNames[] = {{"zstd", Compression::kZstd},
                                                                 {"gz", Compression::kGzip},
                                                                 {"br", Compression::kBrotli},
                                                                 {"bz2", Compression::kBzip2},
                                                                 {"snappy", Compression::kSnappy}};
  const std::string text = name.is_string() ? name.get<std::string>() : std::string();
  const std::string_view wanted = std::string_view(text).substr(0, text.find(':'));
  for (const auto& [known, compression] : kNames) {
    if (known == wanted) return compression;
  }
  return Status(Code::kUnimplemented,
                fmt::format("the shards have the compression {}, which is not read, only zstd, gz, "
                            "br, bz2 and snappy: write them again",
                            name.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

Result<std::optional<MdsZip>> read_zip(const Json& shard) {
  const Json& json = member(shard, "zip_data");
  if (json.is_null()) return std::optional<MdsZip>();
  const Json& name = member(json, "basename");
  const Json& bytes = member(json, "bytes");
  if (!name.is_string() || !bytes.is_number_unsigned() || bytes == 0) {
    return wrong("a compressed shard without basename or bytes");
  }
  MdsZip zip{name.get<std::string>(), bytes.get<std::uint64_t>(), {}};
  if (!stays_below(zip.name)) {
    return wrong("shard name " + name.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  ECHOLINE_ASSIGN(zip.compression, read_compression(member(shard, "compression")));
  return std::optional(std::move(zip));
}

Result<MdsShard> read_shard(const Json& json) {
  if (member(json, "format") != "mds" || member(json, "version") != 2) {
    return Status(Code::kUnimplemented,
                  fmt::format("format {} version {} is not read, only mds of version 2",
                              member(json, "format").dump(), member(json, "version").dump()));
  }
  const Json& raw = member(json, "raw_data");
  const Json& name = member(raw, "basename");
  const Json& bytes = member(raw, "bytes");
  const Json& samples = member(json, "samples");
  if (!name.is_string() || !bytes.is_number_unsigned() || !samples.is_number_unsigned()) {
    return wrong("a shard without basename, bytes or samples");
  }
  MdsShard shard;
  shard.name = name.get<std::string>();
  shard.bytes = bytes.get<std::uint64_t>();
  shard.samples = samples.get<std::uint64_t>();
  if (!stays_below(shard.name)) return wrong("shard name " + name.dump());
  // Offsets in a shard have 32 bits.
  if (shard.bytes > std::numeric_limits<std::uint32_t>::max() || shard.samples > shard.bytes / 4) {
    return wrong(
        fmt::format("{} with {} samples in {} bytes", shard.name, shard.samples, shard.bytes));
  }
  ECHOLINE_ASSIGN(shard.zip, read_zip(json));
  return shard;
}

// The column layout of a shard as text, to compare layouts.
std::string layout_of(const Json& shard) {
  return member(shard, "column_names").dump(-1, ' ', false, Json::error_handler_t::replace) +
         member(shard, "column_encodings").dump(-1, ' ', false, Json::error_handler_t::replace) +
         member(shard, "column_sizes").dump();
}

}  // namespace

bool is_mds_index(std::string_view json) {
  const Json document = parse(json);
  const Json& shards = member(document, "shards");
  return shards.is_array() && !shards.empty() && member(shards[0], "format") == "mds";
}

Result<std::vector<MdsShard>> parse_mds_index(std::string_view json) {
  const Json document = parse(json);
  if (document.is_discarded()) return wrong("no JSON");
  const Json& entries = member(document, "shards");
  if (member(document, "version") != 2 || !entries.is_array()) {
    return wrong("version is not 2, or there are no shards");
  }
  std::vector<MdsShard> shards;
  std::string layout;
  for (const Json& entry : entries) {
    ECHOLINE_ASSIGN(MdsShard shard, read_shard(entry));
    std::string its_layout = layout_of(entry);
    if (shards.empty() || its_layout != layout) {
      ECHOLINE_ASSIGN(MdsColumns columns, read_columns(entry));
      shard.columns = std::make_shared<const MdsColumns>(std::move(columns));
      layout = std::move(its_layout);
    } else {
      shard.columns = shards.back().columns;
    }
    shards.push_back(std::move(shard));
  }
  return shards;
}

}  // namespace echoline::record
