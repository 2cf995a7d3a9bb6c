// The items of a pass between their first and last planned use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "echo/item.h"
#include "plan/plan_spec.h"

namespace echoline::echo {

// Gets the rows in plan order, starting at any row. One thread. The plan limits how many items it
// holds.
class Window {
 public:
  explicit Window(std::shared_ptr<Account> account) : account_(std::move(account)) {}

  struct Touched {
    std::shared_ptr<Item> item;
    bool is_new = false;  // its bytes are not requested yet
  };
  // Returns the item of this use. The window drops it after its last planned use.
  Touched touch(std::uint32_t epoch, const plan::RowUse& use);
  // Another host has this use. If it is the last one, nothing else would drop the item.
  void leave_out(std::uint32_t epoch, const plan::RowUse& use);

  std::size_t size() const { return items_.size(); }
  void for_each(const std::function<void(Item&)>& visit) const;
  void clear() { items_.clear(); }

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

  const std::shared_ptr<Account> account_;
  std::unordered_map<Key, std::shared_ptr<Item>, KeyHash> items_;
};

}  // namespace echoline::echo
