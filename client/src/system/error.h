// Errors inside the client library: a status number of the C ABI with a text. Nothing here throws.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "echoline/echoline.h"

namespace echoline::client {

// A plain value; the default is success. The text says what failed, where, and what to do.
class [[nodiscard]] Error {
 public:
  Error() = default;
  Error(echoline_status code, std::string text) : code_(code), text_(std::move(text)) {}

  bool ok() const { return code_ == ECHOLINE_OK; }
  echoline_status code() const { return code_; }
  const std::string& text() const { return text_; }

 private:
  echoline_status code_ = ECHOLINE_OK;
  std::string text_;
};

// "what: strerror(number)" with the status that matches the errno number.
Error errno_error(int number, std::string_view what);

}  // namespace echoline::client
