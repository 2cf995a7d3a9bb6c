// What a forked child of a trainer must not keep: the door's socket, which would hold a dead
// parent's slots, and the mappings. Each such thing is a ForkSensitive; a child lets go of all.
#pragma once

#include <cstdint>

namespace echoline::client {

// Registered from construction to destruction. Any thread; the list has a lock that fork() takes,
// so a child never sees it half changed.
class ForkSensitive {
 public:
  ForkSensitive(const ForkSensitive&) = delete;
  ForkSensitive& operator=(const ForkSensitive&) = delete;

 protected:
  ForkSensitive();
  ~ForkSensitive();

 private:
  friend struct ForkGuard;
  // Runs in the child, between fork and its return: async-signal-safe calls only.
  virtual void abandon_in_child() noexcept = 0;

  ForkSensitive* next_ = nullptr;
  ForkSensitive* previous_ = nullptr;
};

// Differs between a process and its forked children; what was made under another number belongs to
// the parent.
std::uint32_t fork_generation();

}  // namespace echoline::client
