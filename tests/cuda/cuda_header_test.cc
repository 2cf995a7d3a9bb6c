// Compares driver_api.h with NVIDIA's header, if a toolkit is installed. A difference does not
// compile.
#if __has_include(<cuda.h>)
#include <cuda.h>  // first: the handles' structures are then the same
#define ECHOLINE_CUDA_HEADER
#endif

#include <gtest/gtest.h>

#include <type_traits>

#include "cuda/driver_api.h"
#include "cuda/fake_driver/codes.h"
#include "cuda/more_driver_api.h"

namespace echoline::cuda_test {
namespace {

TEST(DriverApi, SaysWhatCudaHSays) {
#ifdef ECHOLINE_CUDA_HEADER
  SUCCEED() << "of version " << CUDA_VERSION;
#else
  GTEST_SKIP() << "no cuda.h here: install a CUDA toolkit to compare with it";
#endif
}

#ifdef ECHOLINE_CUDA_HEADER
using namespace client::cuda;  // NOLINT: the tables' parameters are written with its names

// Whether values of both types are passed in the same way: driver_api.h has integers where the
// header has enumerations.
template <typename Ours, typename Theirs>
struct Same : std::is_same<Ours, Theirs> {};
template <typename Ours, typename Theirs>
requires(std::is_enum_v<Theirs>&& std::is_integral_v<Ours>) struct Same<Ours, Theirs>
    : std::bool_constant<sizeof(Ours) == sizeof(Theirs)> {
};
template <typename Ours, typename Theirs>
struct Same<Ours*, Theirs*> : Same<Ours, Theirs> {};
template <typename... Ours, typename... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) struct Same<Code(Ours...), CUresult(Theirs...)>
    : std::conjunction<Same<Ours, Theirs>...> {
};

#define ECHOLINE_CUDA_COMPARE(member, symbol, parameters) \
  static_assert(Same<Code parameters, decltype(::symbol)>::value, #symbol);
ECHOLINE_CUDA_FUNCTIONS(ECHOLINE_CUDA_COMPARE)
ECHOLINE_CUDA_TEST_FUNCTIONS(ECHOLINE_CUDA_COMPARE)
#undef ECHOLINE_CUDA_COMPARE
static_assert(!Same<Code(int), CUresult(unsigned)>::value && !Same<Code(int), CUresult()>::value,
              "Same tells what differs");

constexpr bool equal(long ours, long theirs) { return ours == theirs; }
static_assert(equal(kSuccess, CUDA_SUCCESS));
static_assert(equal(kInvalidValue, CUDA_ERROR_INVALID_VALUE));
static_assert(equal(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(equal(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED));
static_assert(equal(kDeinitialized, CUDA_ERROR_DEINITIALIZED));
static_assert(equal(kNoDevice, CUDA_ERROR_NO_DEVICE));
static_assert(equal(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE));
static_assert(equal(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT));
static_assert(equal(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU));
static_assert(equal(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE));
static_assert(equal(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE));
static_assert(equal(kNotFound, CUDA_ERROR_NOT_FOUND));
static_assert(equal(kNotReady, CUDA_ERROR_NOT_READY));
static_assert(equal(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(equal(kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED));
static_assert(equal(kHostMemoryAlreadyRegistered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED));
static_assert(equal(kHostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
static_assert(equal(kNotPermitted, CUDA_ERROR_NOT_PERMITTED));
static_assert(equal(kNotSupported, CUDA_ERROR_NOT_SUPPORTED));
static_assert(equal(kStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
static_assert(equal(kStreamCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION));
static_assert(equal(kUnknown, CUDA_ERROR_UNKNOWN));

static_assert(equal(kStreamNonBlocking, CU_STREAM_NON_BLOCKING));
static_assert(equal(kEventBlockingSync, CU_EVENT_BLOCKING_SYNC));
static_assert(equal(kEventDisableTiming, CU_EVENT_DISABLE_TIMING));
static_assert(equal(kHostRegisterPortable, CU_MEMHOSTREGISTER_PORTABLE));
static_assert(equal(kHostRegisterReadOnly, CU_MEMHOSTREGISTER_READ_ONLY));
static_assert(equal(kHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE));
static_assert(equal(kAttributeReadOnlyHostRegister,
                    CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED));
static_assert(equal(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED));
static_assert(equal(kCaptureNone, CU_STREAM_CAPTURE_STATUS_NONE));
#endif

}  // namespace
}  // namespace echoline::cuda_test
