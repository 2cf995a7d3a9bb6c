// The handler uses only static memory and functions that signal handlers may call.
#include "fault_report.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

namespace echoline::python {
namespace {

struct Range {
  std::atomic<std::uintptr_t> begin = 0;  // 0: the range is free
  std::uintptr_t end = 0;
  std::uint64_t epoch = 0, step = 0;
  std::array<char, 64> field = {};
};

// More views than a trainer holds at a time; others are not watched.
std::array<Range, 512> ranges;
struct sigaction before;
// The process that called explain_faults(); 0: none did.
pid_t owner = 0;

class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t size = std::min(text.size(), text_.size() - size_);
    std::memcpy(text_.data() + size_, text.data(), size);
    size_ += size;
    return *this;
  }
  Line& operator<<(std::uint64_t number) {
    size_ = static_cast<std::size_t>(
        std::to_chars(text_.data() + size_, text_.data() + text_.size(), number).ptr -
        text_.data());
    return *this;
  }
  void print() const {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  std::array<char, 512> text_;
  std::size_t size_ = 0;
};

void report(const Range& range) {
  const bool forked = ::getpid() != owner;  // a fork inherits handler and ranges
  Line line;
  line << "echoline: this fault is " << (forked ? "an access of a forked child to" : "a write to")
       << " field '" << range.field.data() << "' of the batch at epoch " << range.epoch << ", step "
       << range.step
       << (forked ? ", which belongs to the parent process: create a loader in the child\n"
                  : ", which is read-only shared memory: write to its clone(), or use Loader(..., "
                    "writable=True); python -X faulthandler shows the line\n");
  line.print();
}

void on_fault(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool sent = info->si_code <= 0;  // by kill()
  for (const Range& range : ranges) {
    const std::uintptr_t begin = range.begin.load(std::memory_order_acquire);
    if (!sent && begin != 0 && address >= begin && address < range.end) {
      report(range);
      break;
    }
  }
  // The instruction faults again after the return, now into the handler of before.
  ::sigaction(signal, &before, nullptr);
  if (sent) ::raise(signal);
  errno = saved;
}

}  // namespace

void explain_faults() {
  if (owner != 0) return;
  owner = ::getpid();
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(SIGSEGV, &action, &before) != 0) owner = 0;
}

bool faults_are_explained() { return owner != 0; }

WatchedMemory::WatchedMemory(const void* data, std::size_t bytes, const MemoryName& name) {
  // The next range is usually free: views end in the order in which they were made.
  static std::size_t next = 0;
  for (std::size_t tries = 0; tries < ranges.size(); ++tries) {
    Range& range = ranges[next];
    next = (next + 1) % ranges.size();
    if (range.begin.load(std::memory_order_relaxed) != 0) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    range.end = begin + bytes;
    range.epoch = name.epoch;
    range.step = name.step;
    std::strncpy(range.field.data(), name.field, range.field.size() - 1);
    range.begin.store(begin, std::memory_order_release);
    place_ = static_cast<std::size_t>(&range - ranges.data()) + 1;
    return;
  }
}

WatchedMemory::WatchedMemory(WatchedMemory&& other) noexcept
    : place_(std::exchange(other.place_, 0)) {}

WatchedMemory& WatchedMemory::operator=(WatchedMemory&& other) noexcept {
  std::swap(place_, other.place_);
  return *this;
}

WatchedMemory::~WatchedMemory() {
  if (place_ != 0) ranges[place_ - 1].begin.store(0, std::memory_order_release);
}

}  // namespace echoline::python
