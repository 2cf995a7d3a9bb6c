#include "plugin_runner/process.h"

#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "echoline/shm/worker_messages.h"

namespace echoline::plugin_runner {
namespace {

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kFramesMax = 48;
constexpr std::size_t kStackBytes = 64 << 10;

void write_text(const char* text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// Only calls that are allowed in a signal handler; SA_RESETHAND has set the default action again.
void report(int signal) {
  void* frames[kFramesMax];
  write_text("the plugin crashed; its stack:\n");
  ::backtrace_symbols_fd(frames, ::backtrace(frames, kFramesMax), STDERR_FILENO);
  ::raise(signal);
}

}  // namespace

void end_with_daemon() {
  // A pipe, not the death signal of a parent, which belongs to the thread that started the process.
  // The group: the library may start processes.
  ::fcntl(shm::kWorkerLife, F_SETOWN, -::getpgrp());
  ::fcntl(shm::kWorkerLife, F_SETSIG, SIGKILL);
  ::fcntl(shm::kWorkerLife, F_SETFL, ::fcntl(shm::kWorkerLife, F_GETFL) | O_ASYNC);
  // It may have ended before.
  pollfd file{shm::kWorkerLife, POLLIN, 0};
  if (::poll(&file, 1, 0) != 0) ::_exit(1);
}

void limit_memory(std::uint64_t bytes) {
  const rlimit memory{bytes, bytes};
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_DATA, &memory);
  ::setrlimit(RLIMIT_CORE, &no_core);
}

void keep_descriptors() {
  for (int file = shm::kWorkerSocket; file <= shm::kWorkerSettings; ++file)
    ::fcntl(file, F_SETFD, FD_CLOEXEC);
}

void report_crashes() {
  // A text that the plugin prints is in the log before it crashes.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  // The first call loads a library, which a handler must not do.
  void* frame = nullptr;
  ::backtrace(&frame, 1);
  // A stack that has overflowed cannot hold the handler's frames.
  static char stack[kStackBytes];
  const stack_t other{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = report;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
  for (const int signal : kCrashes) ::sigaction(signal, &action, nullptr);
}

}  // namespace echoline::plugin_runner
