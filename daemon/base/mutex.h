// Locks of which clang checks the use at compile time: that a member with ECHOLINE_GUARDED_BY is
// used only with its lock held, that a function gets the locks that it needs, and that each lock is
// released. GCC ignores the annotations. See "Thread Safety Analysis" in clang's documentation.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define ECHOLINE_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define ECHOLINE_THREAD_SAFETY(attribute)
#endif

// Of a type: it is a lock, or it holds a lock while it lives.
#define ECHOLINE_CAPABILITY(name) ECHOLINE_THREAD_SAFETY(capability(name))
#define ECHOLINE_SCOPED_CAPABILITY ECHOLINE_THREAD_SAFETY(scoped_lockable)
// Of a variable: it (or what it points to) is used only with the lock held.
#define ECHOLINE_GUARDED_BY(...) ECHOLINE_THREAD_SAFETY(guarded_by(__VA_ARGS__))
#define ECHOLINE_PT_GUARDED_BY(...) ECHOLINE_THREAD_SAFETY(pt_guarded_by(__VA_ARGS__))
// Of a lock: a thread that takes both takes this one first.
#define ECHOLINE_ACQUIRED_BEFORE(...) ECHOLINE_THREAD_SAFETY(acquired_before(__VA_ARGS__))
// Of a function: the caller holds the lock, must not hold it, gets it, or gives it back.
#define ECHOLINE_REQUIRES(...) ECHOLINE_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define ECHOLINE_EXCLUDES(...) ECHOLINE_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
#define ECHOLINE_ACQUIRE(...) ECHOLINE_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define ECHOLINE_RELEASE(...) ECHOLINE_THREAD_SAFETY(release_capability(__VA_ARGS__))
// Of a function: clang does not look into it. A comment says why.
#define ECHOLINE_NO_THREAD_SAFETY_ANALYSIS ECHOLINE_THREAD_SAFETY(no_thread_safety_analysis)

namespace echoline {

class ECHOLINE_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ECHOLINE_ACQUIRE() { inner_.lock(); }
  void unlock() ECHOLINE_RELEASE() { inner_.unlock(); }

 private:
  friend class MutexLock;
  std::mutex inner_;
};

// Holds a mutex while it lives, except between unlock() and lock().
class ECHOLINE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ECHOLINE_ACQUIRE(mutex) : lock_(mutex.inner_) {}
  ~MutexLock() ECHOLINE_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() ECHOLINE_RELEASE() { lock_.unlock(); }
  void lock() ECHOLINE_ACQUIRE() { lock_.lock(); }

 private:
  friend class CondVar;
  std::unique_lock<std::mutex> lock_;
};

// Waits end for no reason, too, so the caller asks for its condition again:
//   while (queue_.empty()) changed_.wait(lock);
// There is no overload with a predicate: clang would check it as a function without the lock.
class CondVar {
 public:
  void wait(MutexLock& lock) { changed_.wait(lock.lock_); }
  // False: it is `until`.
  bool wait_until(MutexLock& lock, std::chrono::steady_clock::time_point until) {
    return changed_.wait_until(lock.lock_, until) == std::cv_status::no_timeout;
  }
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace echoline
