#include "fork_guard.h"

#include <pthread.h>

#include <atomic>
#include <new>

namespace echoline::client {

// A pthread mutex rather than std::mutex: the child may unlock what the forking thread locked.
struct ForkGuard {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  ForkSensitive* first = nullptr;
  std::atomic<std::uint32_t> generation{1};

  ForkGuard() { pthread_atfork(&ForkGuard::before, &ForkGuard::after, &ForkGuard::in_child); }
  // Never destroyed: handlers and finalizers may still run at the process's end.
  static ForkGuard& instance() {
    alignas(ForkGuard) static unsigned char place[sizeof(ForkGuard)];
    static ForkGuard* guard = new (place) ForkGuard;
    return *guard;
  }

  static void before() { pthread_mutex_lock(&instance().mutex); }
  static void after() { pthread_mutex_unlock(&instance().mutex); }
  static void in_child() {
    ForkGuard& guard = instance();
    guard.generation.fetch_add(1, std::memory_order_relaxed);
    for (ForkSensitive* each = guard.first; each != nullptr; each = each->next_) {
      each->abandon_in_child();
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

void ForkSensitive::enlist() { ForkGuard::instance().add(this); }
void ForkSensitive::delist() { ForkGuard::instance().remove(this); }

NoFork::NoFork() { ForkGuard::before(); }
NoFork::~NoFork() { ForkGuard::after(); }

std::uint32_t fork_generation() {
  return ForkGuard::instance().generation.load(std::memory_order_relaxed);
}

}  // namespace echoline::client
