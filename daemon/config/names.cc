// Edit distance with swaps (optimal string alignment); keeps three rows of the table.
#include "config/names.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace echoline::config {
namespace {

// Longer names are not compared: no known name is that long.
constexpr std::size_t kNameMax = 64;

// Such names are part of metrics, paths and addresses, which have limits.
constexpr std::size_t kPlainNameMax = 64;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows are enough: a swap looks two rows back.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  // From an empty text: as many inserts as letters.
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      // Two adjacent letters exchanged count as one edit.
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

bool is_plain_name(std::string_view name) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  // Not '.' first: no hidden files, and no "..".
  return !name.empty() && name.size() <= kPlainNameMax && std::ranges::all_of(name, fits) &&
         std::isalnum(static_cast<unsigned char>(name[0])) != 0;
}

std::string nearest_name(std::string_view written, const std::vector<std::string>& known) {
  std::string best;
  if (written.size() > kNameMax) return best;
  // One edit, or a third of the letters: more would be a guess.
  std::size_t best_edits = std::max<std::size_t>(1, written.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t edits = edit_distance(written, name);
    // Fewer edits than letters: else any short name would match.
    if (edits < best_edits && edits < name.size()) {
      best = name;
      best_edits = edits;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view written, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(written, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> parts;
  while (!names.empty()) {
    const std::size_t bar = std::min(names.find('|'), names.size());
    parts.emplace_back(names.substr(0, bar));
    names.remove_prefix(std::min(bar + 1, names.size()));
  }
  return parts;
}

}  // namespace echoline::config
