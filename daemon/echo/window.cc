#include "echo/window.h"

namespace echoline::echo {

Window::Touched Window::touch(std::uint32_t epoch, const plan::RowUse& use) {
  const bool last_use = use.use + 1 == use.uses;
  const Key key{epoch, use.record, use.first_draw};
  const auto found = items_.find(key);
  if (found != items_.end()) {
    Touched touched{.item = found->second};
    if (last_use) items_.erase(found);
    return touched;
  }
  // A walk that starts in the middle of an item's uses has missed the earlier ones.
  auto [item, is_new] = take_or_make(key, use.uses - use.use);
  // An item without a later use does not enter the window; the caller is its only owner.
  if (!last_use) items_.emplace(key, item);
  return {.item = std::move(item), .is_first = true, .is_new = is_new};
}

std::pair<std::shared_ptr<Item>, bool> Window::take_or_make(const Key& key, std::uint32_t uses) {
  const auto found = taken_back_.find(key);
  if (found == taken_back_.end()) {
    return {std::make_shared<Item>(account_, key.epoch, key.record, uses, key.first_draw), true};
  }
  std::shared_ptr<Item> item = std::move(found->second);
  taken_back_.erase(found);
  item->set_uses(uses);
  return {std::move(item), false};
}

void Window::take_back(std::shared_ptr<Item> item, bool is_first, bool is_requested) {
  const Key key = key_of(*item);
  if (!is_first) {
    items_.insert_or_assign(key, std::move(item));
    return;
  }
  items_.erase(key);
  if (is_requested) taken_back_.emplace(key, std::move(item));
}

void Window::leave_out(std::uint32_t epoch, const plan::RowUse& use) {
  if (use.use + 1 == use.uses) items_.erase({epoch, use.record, use.first_draw});
}

void Window::for_each(const std::function<void(Item&)>& visit) const {
  for (const auto& [key, item] : items_) visit(*item);
}

}  // namespace echoline::echo
