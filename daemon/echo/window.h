// The items of a pass between their first and last planned use, and those that were taken back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "echo/item.h"
#include "plan/plan_spec.h"

namespace echoline::echo {

// Gets the rows in plan order, starting at any row; before it goes back to an earlier row, all rows
// since are taken back. One thread. The plan limits how many items it holds.
class Window {
 public:
  explicit Window(std::shared_ptr<Account> account) : account_(std::move(account)) {}

  struct Touched {
    std::shared_ptr<Item> item;
    bool is_first = false;  // of its planned uses
    bool is_new = false;    // its bytes are not requested yet
  };
  // Returns the item of this use. The window drops it after its last planned use.
  Touched touch(std::uint32_t epoch, const plan::RowUse& use);
  // Another host has this use. If it is the last one, nothing else would drop the item.
  void leave_out(std::uint32_t epoch, const plan::RowUse& use);

  // Takes the latest touch() that is left back: its row is planned again, maybe with another number
  // of uses. An item without an earlier use is kept until it is touched again, if its bytes are
  // requested.
  void take_back(std::shared_ptr<Item> item, bool is_first, bool is_requested);
  // Items that were taken back and not touched again since. They are not in the size.
  bool has_taken_back() const { return !taken_back_.empty(); }
  void drop_taken_back() { taken_back_.clear(); }
  void drop_taken_back_before(std::uint32_t epoch) {
    std::erase_if(taken_back_, [epoch](const auto& entry) { return entry.first.epoch < epoch; });
  }

  std::size_t size() const { return items_.size(); }
  void for_each(const std::function<void(Item&)>& visit) const;
  void clear() {
    items_.clear();
    taken_back_.clear();
  }

 private:
  struct Key {
    std::uint32_t epoch;
    std::uint64_t record;
    std::uint32_t first_draw;  // differs where an epoch has a record more than once
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return (key.record ^ static_cast<std::uint64_t>(key.epoch) << 48 ^
              static_cast<std::uint64_t>(key.first_draw) << 32) *
             0x9E3779B97F4A7C15;
    }
  };

  using Items = std::unordered_map<Key, std::shared_ptr<Item>, KeyHash>;
  static Key key_of(const Item& item) { return {item.epoch, item.planned_record, item.first_draw}; }
  std::pair<std::shared_ptr<Item>, bool> take_or_make(const Key& key, std::uint32_t uses);

  const std::shared_ptr<Account> account_;
  Items items_;
  Items taken_back_;
};

}  // namespace echoline::echo
