// One pass over the characters. A quote is special only at the start of a field and within a quoted
// field.
#include "record/files/csv.h"

namespace echoline::record {

Result<std::vector<std::string>> take_csv_row(std::string_view& text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {
      fields.back() += '"';
      ++at;
    } else if (c == '"' && (quoted || fields.back().empty())) {
      quoted = !quoted;
    } else if (quoted) {
      fields.back() += c;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      break;
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return Status(Code::kInvalidArgument, "a quote is not closed");
  if (at < text.size() && fields.back().ends_with('\r')) fields.back().pop_back();
  text.remove_prefix(at < text.size() ? at + 1 : at);
  return fields;
}

}  // namespace echoline::record
