// One record on its way through the daemon, in the cheapest form that its remaining uses need:
// encoded bytes, a decoded sample, or finished rows. It lives until its last planned use.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "decode/sample.h"

namespace echoline::echo {

// Somebody who cannot go on before the item's bytes are there.
class Waiter {
 public:
  virtual ~Waiter() = default;
  // Called once per registration, by the thread that brought the bytes.
  virtual void item_ready() = 0;
};

// Where the forms of items are counted, so that their sum can be bounded and shown.
class Account {
 public:
  virtual ~Account() = default;
  // Bytes that are under way, or here and not yet used for the first time (or, negative, no more).
  virtual void add_ahead(std::int64_t bytes) = 0;
  // An item's bytes came so long after they were wanted.
  virtual void note_arrival(std::uint64_t delay_ns) = 0;
  // Makes room for `bytes` of decoded or finished data; false: keep the encoded form.
  virtual bool try_keep(std::uint64_t bytes) = 0;
  virtual void release_kept(std::uint64_t bytes) = 0;
  // The item holds this many encoded bytes more (or, negative, fewer).
  virtual void add_encoded(std::int64_t bytes) = 0;
};

// `mutex` guards everything below it. Lock order: it comes before the locks of the judgement of bad
// records; waiters are called without it.
class Item : public std::enable_shared_from_this<Item> {
 public:
  Item(std::shared_ptr<Account> account, std::uint32_t planned_epoch, std::uint64_t planned)
      : account_(std::move(account)),
        epoch(planned_epoch),
        planned_record(planned),
        record(planned) {}
  ~Item();
  Item(const Item&) = delete;
  Item& operator=(const Item&) = delete;

  // Its bytes are about to be fetched: they count as read ahead until their first use, or until
  // nobody holds the item any more. `now_ns` as monotonic_ns.
  void count_ahead(std::uint64_t bytes, std::uint64_t now_ns);
  // The bytes have come: whoever waited is told. Caches may hold them, too.
  void arrive(std::shared_ptr<const Buffer> bytes);
  // Registers `waiter` and returns true if the bytes are still missing; false if they are there.
  // The item does not own its waiters: one that has been destroyed is not called.
  bool wait(const std::shared_ptr<Waiter>& waiter);

  // With `mutex` held: ----------------------------------------------------------------------------

  // A row was made from the encoded bytes, or never will be; they go with the last one.
  void used();
  // Another record takes this one's place; its bytes are to come.
  void replace_by(std::uint64_t substitute);
  // Puts the decoded sample (or the finished rows) in the place of the encoded bytes if the account
  // has room; says whether it did. What is kept never changes again.
  bool keep_sample(decode::Sample& decoded);
  bool keep_rows(std::vector<Buffer> finished, std::vector<std::uint64_t> lengths);

  std::uint64_t ahead_bytes() const { return ahead_bytes_; }
  bool ready() const { return has_encoded_ || has_sample_ || has_rows_; }
  bool has_encoded() const { return has_encoded_; }
  bool has_sample() const { return has_sample_; }
  bool has_rows() const { return has_rows_; }
  std::span<const std::byte> encoded() const { return encoded_->span(); }
  const decode::Sample& sample() const { return sample_; }
  const std::vector<Buffer>& rows() const { return rows_; }
  const std::vector<std::uint64_t>& row_lengths() const { return lengths_; }

 private:
  void leave_ahead();
  void drop_encoded();
  bool keep(std::uint64_t bytes);

  const std::shared_ptr<Account> account_;

 public:
  const std::uint32_t epoch;
  const std::uint64_t planned_record;
  std::mutex mutex;
  std::uint64_t record;       // the planned one, or its substitute
  std::uint32_t attempt = 0;  // how often it was replaced
  std::uint32_t uses_left = 1;

 private:
  bool has_encoded_ = false;
  bool has_sample_ = false;
  bool has_rows_ = false;
  std::shared_ptr<const Buffer> encoded_;
  std::uint64_t ahead_bytes_ = 0;
  std::uint64_t ordered_ns_ = 0;
  decode::Sample sample_;
  std::vector<Buffer> rows_;
  std::vector<std::uint64_t> lengths_;
  std::uint64_t kept_bytes_ = 0;
  std::vector<std::weak_ptr<Waiter>> waiters_;
};

}  // namespace echoline::echo
