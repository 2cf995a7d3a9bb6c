// What a forked child of a trainer must not keep: the door's socket, which would hold a dead
// parent's slots, and the mappings. Each such thing is a ForkSensitive; a child lets go of all.
#pragma once

#include <cstdint>

namespace echoline::client {

// Any thread; the list has a lock that fork() takes, so a child never sees it half changed.
class ForkSensitive {
 public:
  ForkSensitive(const ForkSensitive&) = delete;
  ForkSensitive& operator=(const ForkSensitive&) = delete;

 protected:
  ForkSensitive() = default;
  ~ForkSensitive() = default;
  // Last in the constructor of the class that says what to abandon, and last in the body of its
  // destructor: a child may be made at any moment in between.
  void enlist();
  void delist();

 private:
  friend struct ForkGuard;
  // Runs in the child, between fork and its return: async-signal-safe calls only.
  virtual void abandon_in_child() noexcept = 0;

  ForkSensitive* next_ = nullptr;
  ForkSensitive* previous_ = nullptr;
};

// While it lives no thread forks: for descriptors that are made and put where a child closes them.
// Not around what enlists or delists.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

// Differs between a process and its forked children; what was made under another number belongs to
// the parent.
std::uint32_t fork_generation();

}  // namespace echoline::client
