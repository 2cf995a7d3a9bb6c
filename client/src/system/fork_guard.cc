#include "system/fork_guard.h"

#include <pthread.h>

#include <atomic>
#include <new>

namespace echoline::client {

// The list of all ForkSensitive objects, its lock, and the handlers that run around fork().
// A pthread mutex instead of a std::mutex: the child may unlock what the forking thread locked.
struct ForkGuard {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  ForkSensitive* first = nullptr;
  std::atomic<std::uint32_t> generation{1};

  ForkGuard() { pthread_atfork(&ForkGuard::before, &ForkGuard::after, &ForkGuard::in_child); }
  // Never destroyed: fork handlers and finalizers may still run while the process exits.
  static ForkGuard& instance() {
    alignas(ForkGuard) static unsigned char storage[sizeof(ForkGuard)];
    static ForkGuard* guard = new (storage) ForkGuard;
    return *guard;
  }

  // before() and after() run in the parent around fork(): no thread changes the list meanwhile.
  static void before() { pthread_mutex_lock(&instance().mutex); }
  static void after() { pthread_mutex_unlock(&instance().mutex); }
  // The child has one thread, the one that forked, and it holds the lock: nothing else changes the
  // list meanwhile.
  static void in_child() {
    ForkGuard& guard = instance();
    // From now on handles of the parent can be recognised.
    guard.generation.fetch_add(1, std::memory_order_relaxed);
    for (ForkSensitive* item = guard.first; item != nullptr; item = item->next_) {
      item->abandon_in_child();
    }
    pthread_mutex_unlock(&guard.mutex);
  }

  void add(ForkSensitive* item) {
    pthread_mutex_lock(&mutex);
    item->next_ = first;
    if (first != nullptr) first->previous_ = item;
    first = item;
    pthread_mutex_unlock(&mutex);
  }

  void remove(ForkSensitive* item) {
    pthread_mutex_lock(&mutex);
    (item->previous_ != nullptr ? item->previous_->next_ : first) = item->next_;
    if (item->next_ != nullptr) item->next_->previous_ = item->previous_;
    pthread_mutex_unlock(&mutex);
  }
};

void ForkSensitive::add_to_list() { ForkGuard::instance().add(this); }
void ForkSensitive::remove_from_list() { ForkGuard::instance().remove(this); }

NoFork::NoFork() { ForkGuard::before(); }
NoFork::~NoFork() { ForkGuard::after(); }

std::uint32_t fork_generation() {
  return ForkGuard::instance().generation.load(std::memory_order_relaxed);
}

}  // namespace echoline::client
