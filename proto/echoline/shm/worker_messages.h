// The messages between the daemon and a worker process of users' code, one packet of a Unix socket
// each, as plain words: both sides are processes of one host, so numbers have its byte order.
// daemon/user_code/worker.py has the same for Python.
#pragma once

#include <cstddef>
#include <cstdint>

namespace echoline::shm {

// The numbers of a worker's descriptors.
enum WorkerFile {
  kWorkerText = 1,
  kWorkerErrors = 2,
  kWorkerSocket = 3,
  kWorkerInput = 4,
  kWorkerOutput = 5,
  kWorkerCode = 6,  // worker.py, or the library of a plugin
  kWorkerLife = 7,  // readable when the daemon has ended
  kWorkerSettings = 8,
  kWorkerMoreChannels = 9  // socket, input and output of each further thread follow
};
inline constexpr int kWorkerChannelFiles = 3;

inline constexpr std::uint32_t kWorkerAxesMax = 6;
inline constexpr std::uint64_t kWorkerAlignment = 64;            // of arrays in the shared memory
inline constexpr std::size_t kWorkerMessageBytesMax = 64 << 10;  // in each direction

enum class ReplyKind : std::uint32_t {
  kResult = 1,
  kRaised = 2,   // the function raised an exception
  kRefused = 3,  // what it returned is not what the step declares
  kReady = 4,    // the function is loaded; texts: none, the versions, the outputs of a plugin
  kNotLoaded = 5,
};

struct CallHead {
  std::uint32_t kind = 1;
  std::uint32_t samples = 0;
  std::uint64_t sequence = 0;
  std::uint64_t seed = 0;
  std::uint32_t inputs = 0;
  std::uint32_t zero = 0;
};

// What the draws of one sample depend on.
struct KeyWords {
  std::uint64_t sample = 0;
  std::uint32_t epoch = 0;
  std::uint32_t use = 0;
  std::uint64_t drawn = 0;  // seeds the generators of Python's modules, and those of plugins
};

struct ReplyHead {
  std::uint32_t kind = 0;
  std::uint32_t count = 0;     // of arrays; of kReady: threads that answer calls, 0 for one
  std::uint64_t sequence = 0;  // of kReady: the length of the data set
};

struct ArrayWords {
  std::uint32_t dtype = 0;  // 0 in a reply: the argument of the same name
  std::uint32_t rank = 0;
  std::uint32_t sizes[kWorkerAxesMax] = {};
  std::uint64_t offset = 0;
};
static_assert(sizeof(CallHead) == 32 && sizeof(KeyWords) == 24);
static_assert(sizeof(ReplyHead) == 16 && sizeof(ArrayWords) == 40);

}  // namespace echoline::shm
