// Runtime errors as values: a code and a message with the contexts that it passed through. A
// programming error is not a Status: it aborts (check.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace echoline {

enum class Code : std::uint8_t {
  kOk,
  kInvalidArgument,     // a wrong argument; the same call will fail again
  kNotFound,            // no such file, object, bucket, stream
  kAlreadyExists,       // a name or an address is taken
  kPermissionDenied,    // credentials, modes, access lists
  kFailedPrecondition,  // valid, but not in this state: a changed shard, another fingerprint
  kResourceExhausted,   // memory, slots, descriptors
  kUnavailable,         // may succeed later: network, server, peer
  kDeadlineExceeded,
  kCancelled,
  kDataLoss,  // corrupt bytes
  kUnimplemented,
  kInternal,
};

std::string_view to_string(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // Prepends "context: ". Each level adds what it was doing; the innermost message is the error.
  Status with_context(std::string_view context) &&;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

// What this errno means, and for the limit of open files how to raise it.
std::string errno_text(int error);
// The status of a failed system call: "what: errno_text(error)", with the code for this errno.
Status errno_status(int error, std::string_view what);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}

  bool ok() const { return state_.index() == 0; }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Status status() const& { return ok() ? Status() : std::get<1>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace echoline

#define ECHOLINE_CONCAT_INNER(a, b) a##b
#define ECHOLINE_CONCAT(a, b) ECHOLINE_CONCAT_INNER(a, b)

// Returns the status of `expression` from the calling function unless it is ok.
#define ECHOLINE_TRY(expression)                                                           \
  do {                                                                                     \
    if (::echoline::Status try_status = (expression); !try_status.ok()) return try_status; \
  } while (false)

// ECHOLINE_ASSIGN(auto x, expression): x is the value of the Result, or its status is returned.
#define ECHOLINE_ASSIGN(declaration, expression)          \
  auto ECHOLINE_CONCAT(result_, __LINE__) = (expression); \
  if (!ECHOLINE_CONCAT(result_, __LINE__).ok())           \
    return ECHOLINE_CONCAT(result_, __LINE__).status();   \
  declaration = std::move(ECHOLINE_CONCAT(result_, __LINE__)).value()
