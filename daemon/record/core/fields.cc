// Records have few fields, so find() is a linear search.
#include "record/core/fields.h"

#include <fmt/core.h>

#include <functional>
#include <span>
#include <utility>

#include "record/core/data_set.h"

namespace echoline::record {

// In the order of `keys`: the first key that any field has wins.
const FieldBytes* Fields::find(std::string_view keys) const {
  while (true) {
    const std::size_t end = keys.find(';');
    const std::string_view key = keys.substr(0, end);
    for (const FieldBytes& field : fields) {
      if (field.name == key) return &field;
    }
    if (end == std::string_view::npos) return nullptr;
    keys.remove_prefix(end + 1);
  }
}

Result<std::uint64_t> DataSet::publish(source::Source&) const {
  return Status(
      Code::kInvalidArgument,
      fmt::format("format {} needs no index file: it is read from the data itself", format()));
}

void clear_fields(Fields& fields) {
  // Capacities stay, so that the next record needs no allocation.
  fields.fields.clear();
  fields.scratch.clear();
}

std::string_view copy_to_scratch(Fields& fields, std::string_view text) {
  std::string& scratch = fields.scratch;
  if (scratch.capacity() - scratch.size() < text.size()) {
    // The fields that point into the scratch move with it.
    std::string larger;
    // Twice as much, so that moves become rare.
    larger.reserve(2 * (scratch.size() + text.size()));
    larger = scratch;
    const char* const old = scratch.data();
    const std::size_t old_size = scratch.size();
    const auto moved = [&](const char* at) -> const char* {
      // std::less is defined for any two pointers, `<` is not.
      const bool inside = !std::less<>()(at, old) && std::less<>()(at, old + old_size);
      return inside ? larger.data() + (at - old) : at;
    };
    for (FieldBytes& field : fields.fields) {
      field.name = {moved(field.name.data()), field.name.size()};
      const auto* bytes = reinterpret_cast<const char*>(field.bytes.data());
      field.bytes = {reinterpret_cast<const std::byte*>(moved(bytes)), field.bytes.size()};
    }
    scratch.swap(larger);
  }
  const std::size_t at = scratch.size();
  scratch.append(text);
  return std::string_view(scratch).substr(at);
}

void add_origin(std::string_view key, std::string_view url, Fields& fields) {
  for (const auto& [name, value] : {std::pair{kKeyField, key}, {kUrlField, url}}) {
    const std::string_view copy = copy_to_scratch(fields, value);
    fields.fields.push_back({name, std::as_bytes(std::span(copy))});
  }
}

}  // namespace echoline::record
