// Formats jsonl and lines: text files with one record per line, also as .gz, .zst and .bz2.
#pragma once

#include "record/index/format.h"

namespace echoline::record {

// The fields of a record are the members of its JSON object (json_record.h).
extern const Format kJsonLinesFormat;
// A record has one field, `text`: the line without blanks around it.
extern const Format kLinesFormat;

}  // namespace echoline::record
