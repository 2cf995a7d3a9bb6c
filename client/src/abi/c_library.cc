// C ABI: versions, texts of errors, types, and the runtime folder.
#include <cstdio>
#include <string>
#include <string_view>

#include "abi/guarded_call.h"
#include "attach/runtime_dir.h"
#include "echoline/shm/dtype.h"
#include "echoline/shm/ring_layout.h"

namespace echoline::client {
namespace {

// An array of fixed size: it needs no allocation, and no destructor when the thread ends.
thread_local char last_error[2048] = "";

}  // namespace

int set_last_error(int status, std::string_view text) noexcept {
  // The buffer is fixed, so a long text is cut.
  const std::size_t length = std::min(text.size(), sizeof(last_error) - 1);
  std::memcpy(last_error, text.data(), length);
  last_error[length] = '\0';
  return status;
}

}  // namespace echoline::client

using namespace echoline::client;

// Two steps, so that the macro's value and not its name becomes the text.
#define ECHOLINE_STRING_(x) #x
#define ECHOLINE_STRING(x) ECHOLINE_STRING_(x)

extern "C" {

const char* echoline_version(void) {
  return ECHOLINE_STRING(ECHOLINE_VERSION_MAJOR) "." ECHOLINE_STRING(
      ECHOLINE_VERSION_MINOR) "." ECHOLINE_STRING(ECHOLINE_VERSION_PATCH);
}

void echoline_layout_version(uint32_t* major, uint32_t* minor) {
  if (major != nullptr) *major = echoline::shm::kLayoutMajor;
  if (minor != nullptr) *minor = echoline::shm::kLayoutMinor;
}

const char* echoline_status_text(int status) {
  switch (status) {
    case ECHOLINE_OK:
      return "ok";
    case ECHOLINE_INVALID_ARGUMENT:
      return "invalid argument";
    case ECHOLINE_NOT_FOUND:
      return "not found";
    case ECHOLINE_ALREADY_EXISTS:
      return "already exists";
    case ECHOLINE_PERMISSION_DENIED:
      return "permission denied";
    case ECHOLINE_FAILED_PRECONDITION:
      return "failed precondition";
    case ECHOLINE_RESOURCE_EXHAUSTED:
      return "resource exhausted";
    case ECHOLINE_UNAVAILABLE:
      return "unavailable";
    case ECHOLINE_DEADLINE_EXCEEDED:
      return "deadline exceeded";
    case ECHOLINE_CANCELLED:
      return "cancelled";
    case ECHOLINE_DATA_LOSS:
      return "data loss";
    case ECHOLINE_UNIMPLEMENTED:
      return "unimplemented";
    case ECHOLINE_INTERNAL:
      return "internal";
    case ECHOLINE_END_OF_EPOCH:
      return "end of epoch";
    case ECHOLINE_TIMEOUT:
      return "timeout";
    case ECHOLINE_LEASE_HELD:
      return "lease held";
    case ECHOLINE_DAEMON_GONE:
      return "daemon gone";
    case ECHOLINE_DETACHED:
      return "detached";
    case ECHOLINE_FORKED:
      return "forked";
    case ECHOLINE_VERSION_MISMATCH:
      return "version mismatch";
    // A number of a later version.
    default:
      return "unknown status";
  }
}

const char* echoline_last_error(void) { return last_error; }

// The names are literals, so they end with a zero.
const char* echoline_dtype_name(uint32_t dtype) { return echoline::shm::dtype_name(dtype).data(); }

size_t echoline_dtype_bytes(uint32_t dtype) { return echoline::shm::dtype_bytes(dtype); }

size_t echoline_runtime_dir(char* buffer, size_t capacity) {
  try {
    const std::string dir = find_runtime_dir("");
    if (buffer != nullptr && capacity > 0) {
      // Cut to the buffer; the return value says how much is needed.
      const size_t length = std::min(dir.size(), capacity - 1);
      std::memcpy(buffer, dir.data(), length);
      buffer[length] = '\0';
    }
    return dir.size();
  } catch (...) {
    // No exception crosses the C ABI.
    return 0;
  }
}

}  // extern "C"
