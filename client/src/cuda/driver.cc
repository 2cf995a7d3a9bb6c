#include "cuda/driver.h"

#include <dlfcn.h>

#include <string>

namespace echoline::client::cuda {
namespace {

// The name since CUDA 1; libcuda.so without a version is only there for development.
constexpr char kLibrary[] = "libcuda.so.1";

struct Loaded {
  DriverTable table;
  Error error;
};

Error find_functions(DriverTable& table) {
  // Never closed: threads of the driver and the trainer's frameworks use it until the process ends.
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return {ECHOLINE_UNAVAILABLE,
            std::string("no CUDA driver on this machine: ") + (why != nullptr ? why : kLibrary) +
                "; install NVIDIA's driver, or start the container with its GPUs (--gpus all)"};
  }
#define ECHOLINE_CUDA_FIND(member, symbol, parameters)                                \
  table.member = reinterpret_cast<decltype(table.member)>(dlsym(library, #symbol));   \
  if (table.member == nullptr) {                                                      \
    return {ECHOLINE_UNAVAILABLE,                                                     \
            "the CUDA driver has no " #symbol "; install one of CUDA 11.1 or later"}; \
  }
  ECHOLINE_CUDA_FUNCTIONS(ECHOLINE_CUDA_FIND)
#undef ECHOLINE_CUDA_FIND
  return {};
}

// All calls return the result of the first attempt, also if it failed.
Loaded load() {
  Loaded loaded;
  loaded.error = find_functions(loaded.table);
  if (loaded.error.ok()) {
    loaded.error = driver_error(loaded.table, loaded.table.init(0), "can't use the CUDA driver");
  }
  return loaded;
}

// Errors about handles and captures are INVALID_ARGUMENT: of all arguments of the driver's
// functions, only the trainer's streams can be wrong in that way.
echoline_status status_of(Code code) {
  if (code >= kStreamCaptureUnsupported && code <= kStreamCaptureWrongThread) {
    return ECHOLINE_INVALID_ARGUMENT;
  }
  switch (code) {
    case kOutOfMemory:
      return ECHOLINE_RESOURCE_EXHAUSTED;
    case kNotInitialized:
    case kDeinitialized:
    case kNoDevice:
    case kInvalidDevice:
      return ECHOLINE_UNAVAILABLE;
    case kInvalidValue:
    case kInvalidHandle:
      return ECHOLINE_INVALID_ARGUMENT;
    case kNotSupported:
    case kNoBinaryForGpu:
      return ECHOLINE_UNIMPLEMENTED;
    case kNotPermitted:
      return ECHOLINE_PERMISSION_DENIED;
    default:
      return ECHOLINE_DATA_LOSS;
  }
}

}  // namespace

Error load_driver(const DriverTable*& driver) {
  static const Loaded loaded = load();
  driver = &loaded.table;
  return loaded.error;
}

Error driver_error(const DriverTable& driver, Code code, std::string_view what) {
  if (code == kSuccess) return {};
  const char* name = nullptr;  // both stay null for a code that the driver does not know
  const char* text = nullptr;
  driver.error_name(code, &name);
  driver.error_string(code, &text);
  std::string message(what);
  message += ": ";
  message += name != nullptr ? name : "CUDA error " + std::to_string(code);
  if (text != nullptr) message += std::string(" (") + text + ")";
  return {status_of(code), std::move(message)};
}

}  // namespace echoline::client::cuda
