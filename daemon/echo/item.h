// One record in the daemon, in the cheapest form that its remaining uses need: encoded bytes, a
// decoded sample, or finished rows. It exists until its last planned use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/mutex.h"
#include "decode/sample.h"

namespace echoline::echo {

// A task that can't continue before the item's bytes have arrived.
class Waiter {
 public:
  virtual ~Waiter() = default;
  // Called once per registration, on the thread that delivers the bytes, without the item's lock.
  virtual void item_ready() = 0;
};

// Counts the bytes of all items, so that their sum can be limited and shown. Any thread.
class Account {
 public:
  virtual ~Account() = default;
  // Bytes in flight, or arrived and not used yet. Negative: no longer.
  virtual void add_ahead(std::int64_t bytes) = 0;
  // The time between the request for an item's bytes and their arrival.
  virtual void note_arrival(std::uint64_t delay_ns) = 0;
  // Reserves `bytes` for decoded or finished data. False: there is no room, keep the encoded form.
  virtual bool try_keep(std::uint64_t bytes) = 0;
  virtual void release_kept(std::uint64_t bytes) = 0;
  // The item holds this many more encoded bytes; negative: fewer.
  virtual void add_encoded(std::int64_t bytes) = 0;
};

// What the bytes of an item are.
enum class Form : std::uint8_t {
  kEncoded,   // the record's, as they are stored
  kPrepared,  // a frame with the decoded sample (prepare/frame.h)
};

// Shared by the pass, the fetcher and the workers. Lock order: `mutex` before the locks that decide
// about bad records. Waiters are called without it.
class Item : public std::enable_shared_from_this<Item> {
 public:
  Item(std::shared_ptr<Account> account, std::uint32_t planned_epoch, std::uint64_t planned,
       std::uint32_t uses = 1, std::uint32_t number_of_first_draw = 0)
      : account_(std::move(account)),
        epoch(planned_epoch),
        planned_record(planned),
        first_draw(number_of_first_draw),
        record(planned),
        uses_left(uses) {}
  ~Item();
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;

  // Of its pass. Only to be compared.
  const Account* account() const { return account_.get(); }
  // Its rows are planned again, with so many uses. No use was made or cancelled yet.
  void set_uses(std::uint32_t uses) ECHOLINE_EXCLUDES(mutex);
  // Call it before fetching the bytes: they count as read ahead until their first use, or until the
  // item is destroyed. `now_ns` is monotonic_ns.
  void count_ahead(std::uint64_t bytes, std::uint64_t now_ns) ECHOLINE_EXCLUDES(mutex);
  // Stores the bytes, which may be shared with caches, and notifies the waiters.
  void arrive(std::shared_ptr<const Buffer> bytes, Form form = Form::kEncoded)
      ECHOLINE_EXCLUDES(mutex);
  // Registers `waiter` and returns true if the bytes are still missing; false if they are there.
  // The item does not own its waiters: one that has been destroyed is not called.
  bool wait(const std::shared_ptr<Waiter>& waiter) ECHOLINE_EXCLUDES(mutex);

  // Counts one use as done, or as cancelled. The last one frees the encoded bytes.
  void used() ECHOLINE_REQUIRES(mutex);
  // Replaces a bad record by another one, whose bytes are not there yet.
  void replace_by(std::uint64_t substitute) ECHOLINE_REQUIRES(mutex);
  // Replaces the encoded bytes by the decoded sample (or the finished rows) if the account has
  // room. Returns whether it did. Afterwards the kept form never changes. A sample that was opened
  // from the item's frame keeps borrowing its bytes.
  bool keep_sample(decode::Sample& decoded) ECHOLINE_REQUIRES(mutex);
  bool keep_rows(std::vector<Buffer> finished, std::vector<std::uint64_t> lengths)
      ECHOLINE_REQUIRES(mutex);

  std::uint64_t ahead_bytes() const ECHOLINE_REQUIRES(mutex) { return ahead_bytes_; }
  bool ready() const ECHOLINE_REQUIRES(mutex) { return has_encoded_ || has_sample_ || has_rows_; }
  bool has_encoded() const ECHOLINE_REQUIRES(mutex) { return has_encoded_; }
  // `encoded` is a frame.
  bool is_prepared() const ECHOLINE_REQUIRES(mutex) { return form_ == Form::kPrepared; }
  bool has_sample() const ECHOLINE_REQUIRES(mutex) { return has_sample_; }
  bool has_rows() const ECHOLINE_REQUIRES(mutex) { return has_rows_; }
  std::span<const std::byte> encoded() const ECHOLINE_REQUIRES(mutex) { return encoded_->span(); }
  std::shared_ptr<const Buffer> shared_encoded() const ECHOLINE_REQUIRES(mutex) { return encoded_; }
  // A worker makes a row from the encoded bytes, in part without the lock (Claim).
  bool is_claimed() const ECHOLINE_REQUIRES(mutex) { return is_claimed_; }
  // Waits until that row is made. `lock` is of `mutex`. The caller has no claims of its own.
  void await_unclaimed(MutexLock& lock) ECHOLINE_REQUIRES(mutex) {
    while (is_claimed_) unclaimed_.wait(lock);
  }

  // The kept form. It never changes, so that it is read without the lock, and not checked.
  const decode::Sample& sample() const ECHOLINE_NO_THREAD_SAFETY_ANALYSIS { return sample_; }
  const std::vector<Buffer>& rows() const ECHOLINE_NO_THREAD_SAFETY_ANALYSIS { return rows_; }
  const std::vector<std::uint64_t>& row_lengths() const ECHOLINE_NO_THREAD_SAFETY_ANALYSIS {
    return lengths_;
  }

 private:
  friend class Claim;
  void leave_ahead() ECHOLINE_REQUIRES(mutex);
  void drop_encoded() ECHOLINE_REQUIRES(mutex);
  bool keep(std::uint64_t bytes) ECHOLINE_REQUIRES(mutex);

  const std::shared_ptr<Account> account_;

 public:
  const std::uint32_t epoch;
  const std::uint64_t planned_record;
  const std::uint32_t first_draw;  // as RowUse has it
  Mutex mutex;
  std::uint64_t record ECHOLINE_GUARDED_BY(mutex);       // the planned one, or its substitute
  std::uint32_t attempt ECHOLINE_GUARDED_BY(mutex) = 0;  // the number of replacements
  std::uint32_t uses_left ECHOLINE_GUARDED_BY(mutex);
  bool is_counted_bad ECHOLINE_GUARDED_BY(mutex) = false;  // for one of its uses

 private:
  CondVar unclaimed_;
  bool is_claimed_ ECHOLINE_GUARDED_BY(mutex) = false;
  bool has_encoded_ ECHOLINE_GUARDED_BY(mutex) = false;
  bool has_sample_ ECHOLINE_GUARDED_BY(mutex) = false;
  bool has_rows_ ECHOLINE_GUARDED_BY(mutex) = false;
  std::shared_ptr<const Buffer> encoded_ ECHOLINE_GUARDED_BY(mutex);
  Form form_ ECHOLINE_GUARDED_BY(mutex) = Form::kEncoded;
  std::shared_ptr<const Buffer> kept_frame_ ECHOLINE_GUARDED_BY(mutex);  // sample_ borrows it
  std::uint64_t ahead_bytes_ ECHOLINE_GUARDED_BY(mutex) = 0;
  std::uint64_t requested_ns_ ECHOLINE_GUARDED_BY(mutex) = 0;
  decode::Sample sample_ ECHOLINE_GUARDED_BY(mutex);
  std::vector<Buffer> rows_ ECHOLINE_GUARDED_BY(mutex);
  std::vector<std::uint64_t> lengths_ ECHOLINE_GUARDED_BY(mutex);
  std::uint64_t kept_bytes_ ECHOLINE_GUARDED_BY(mutex) = 0;
  std::vector<std::weak_ptr<Waiter>> waiters_ ECHOLINE_GUARDED_BY(mutex);
};

// One worker's right to make a row from the encoded bytes of an item, while it does not hold the
// item's lock: two uses of a record in flight must not decode it twice. It keeps the bytes. A
// worker with claims waits for no other claim, so claims cannot wait for each other in a circle.
class Claim {
 public:
  // Of an item that is not claimed and has encoded bytes.
  explicit Claim(Item& item) ECHOLINE_REQUIRES(item.mutex)
      : item_(item.shared_from_this()), bytes_(item.encoded_) {
    item.is_claimed_ = true;
  }
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

 private:
  const std::shared_ptr<Item> item_;
  const std::shared_ptr<const Buffer> bytes_;
};

}  // namespace echoline::echo
