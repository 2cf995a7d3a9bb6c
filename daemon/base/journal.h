// Writes to systemd's journal in its native protocol, one datagram per entry, without its library.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace echoline {

// Whether stderr is connected to the journal, by $JOURNAL_STREAM.
bool stderr_is_journal();

// Name and value. Names consist of capitals and underscores; values can have any bytes.
using JournalField = std::pair<std::string_view, std::string_view>;

// An entry in the protocol's form: a value with several lines has a length prefix.
std::string journal_entry(std::span<const JournalField> fields);

// Any thread. False if the journal does not accept it: not running, or the entry is too long.
bool send_to_journal(std::span<const JournalField> fields);

}  // namespace echoline
