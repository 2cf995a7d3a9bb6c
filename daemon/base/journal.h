// The system's journal, spoken to in its own protocol (one datagram an entry), without its library.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace echoline {

// Whether stderr is the journal, as systemd says it ($JOURNAL_STREAM).
bool stderr_is_journal();

// Name and value. Names are capitals and underscores; a value may hold anything.
using JournalField = std::pair<std::string_view, std::string_view>;

// An entry as the protocol has it: values of several lines are counted, not quoted.
std::string journal_entry(std::span<const JournalField> fields);

// Any thread. False where the journal does not take it: not running, or too long an entry.
bool send_to_journal(std::span<const JournalField> fields);

}  // namespace echoline
