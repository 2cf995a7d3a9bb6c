#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "base/journal.h"
#include "base/sanitize_name.h"

namespace echoline {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("echoline",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *instance;
}

// The levels of syslog(3), which the journal uses.
std::string_view priority(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "7";
    case LogLevel::kInfo:
      return "6";
    case LogLevel::kWarning:
      return "4";
    case LogLevel::kError:
      return "3";
  }
  return "6";
}

bool to_journal(LogLevel level, const LogOrigin& origin, std::string_view message) {
  static const bool journal = stderr_is_journal();
  if (!journal) return false;
  std::vector<JournalField> fields = {{"MESSAGE", message},
                                      {"PRIORITY", priority(level)},
                                      {"SYSLOG_IDENTIFIER", program_invocation_short_name}};
  if (!origin.module.empty()) fields.emplace_back("ECHOLINE_ROOM", origin.module);
  if (!origin.stream.empty()) fields.emplace_back("ECHOLINE_STREAM", origin.stream);
  return send_to_journal(fields);
}

}  // namespace

void set_log_level(LogLevel level) { logger().set_level(spdlog_level(level)); }

void log_line(LogLevel level, const LogOrigin& origin, std::string_view message) {
  if (!logger().should_log(spdlog_level(level))) return;
  // Messages have names and texts of others: keys of records, answers of stores.
  const std::string shown = sanitize_text(message);
  const std::string text =
      origin.stream.empty() ? shown : fmt::format("stream {}: {}", origin.stream, shown);
  if (to_journal(level, origin, text)) return;
  logger().log(spdlog_level(level), "{}: {}", origin.module, text);
}

void log_end(std::string_view program, std::string_view message) {
  const std::string shown = sanitize_text(message);
  if (to_journal(LogLevel::kError, "", shown)) return;
  fmt::print(stderr, "{}: {}\n", program, shown);
}

}  // namespace echoline
