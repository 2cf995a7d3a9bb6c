// Closes in a forked child what only the parent may own: the attach socket, which would keep the
// slots of a dead parent occupied, and the mappings of the ring.
#pragma once

#include <cstdint>

namespace echoline::client {

// Base class of such resources. Each object is in one process-wide list; fork() calls
// abandon_in_child() on every entry in the child. Any thread. fork() holds the lock of the list, so
// a child never sees a half-changed list.
class ForkSensitive {
 public:
  ForkSensitive(const ForkSensitive&) = delete;
  ForkSensitive& operator=(const ForkSensitive&) = delete;

 protected:
  ForkSensitive() = default;
  ~ForkSensitive() = default;
  // The class that implements abandon_in_child() calls add_to_list() last in its constructor and
  // remove_from_list() last in its destructor: a fork may happen at any moment in between.
  void add_to_list();
  void remove_from_list();

 private:
  friend struct ForkGuard;
  // Runs in the child before fork() returns there: async-signal-safe calls only.
  virtual void abandon_in_child() noexcept = 0;

  ForkSensitive* next_ = nullptr;
  ForkSensitive* previous_ = nullptr;
};

// Blocks fork() in all threads while it exists. Hold one from the creation of a file descriptor
// until the descriptor is stored in a ForkSensitive. Never hold one around add_to_list() or
// remove_from_list(): they take the same lock.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

// A number that differs between a process and its forked children. A handle that was created under
// another number belongs to the parent.
std::uint32_t fork_generation();

}  // namespace echoline::client
