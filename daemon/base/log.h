// Log lines on stderr, one per event: "time level room: message". Thread safe; never called per
// row.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace echoline {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

void set_log_level(LogLevel level);
void log_line(LogLevel level, std::string_view room, std::string_view message);

template <typename... Args>
void log_info(std::string_view room, fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kInfo, room, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_warning(std::string_view room, fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kWarning, room, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void log_error(std::string_view room, fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kError, room, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace echoline
