// Log lines, one per event. On stderr: "time level module: message". If stderr is systemd's
// journal: an entry with level and fields. Thread safe; never called per row.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace echoline {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// The origin of a line: a module of the daemon and, if the line is about a stream, its name. On
// stderr "module: stream NAME: message", in the journal the fields ECHOLINE_ROOM and
// ECHOLINE_STREAM.
struct LogOrigin {
  LogOrigin(const char* of_module, std::string_view of_stream = {})
      : module(of_module), stream(of_stream) {}
  std::string_view module;
  std::string_view stream;
};

void set_log_level(LogLevel level);
void log_line(LogLevel level, const LogOrigin& origin, std::string_view message);

// Logs why the program ends: "PROGRAM: message" on stderr, without time and level; in the journal
// an entry of level error.
void log_end(std::string_view program, std::string_view message);

template <typename... Args>
void log_info(const LogOrigin& origin, fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kInfo, origin, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_warning(const LogOrigin& origin, fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kWarning, origin, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_error(const LogOrigin& origin, fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kError, origin, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace echoline
