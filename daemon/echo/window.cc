#include "echo/window.h"

namespace echoline::echo {

Window::Touched Window::touch(std::uint32_t epoch, const plan::RowUse& use) {
  const bool last_use = use.use + 1 == use.uses;
  const Key key{epoch, use.record, use.first_draw};
  const auto found = items_.find(key);
  if (found != items_.end()) {
    Touched touched{found->second, false};
    if (last_use) items_.erase(found);
    return touched;
  }
  // A walk that starts in the middle of an item's uses has missed the earlier ones.
  auto item =
      std::make_shared<Item>(account_, epoch, use.record, use.uses - use.use, use.first_draw);
  // An item without a later use does not enter the window; the caller is its only owner.
  if (!last_use) items_.emplace(key, item);
  return {std::move(item), true};
}

void Window::leave_out(std::uint32_t epoch, const plan::RowUse& use) {
  if (use.use + 1 == use.uses) items_.erase({epoch, use.record, use.first_draw});
}

void Window::for_each(const std::function<void(Item&)>& visit) const {
  for (const auto& [key, item] : items_) visit(*item);
}

}  // namespace echoline::echo
