// Brace lists: one address expands to many, in the order written. "\{", "\}" and "\," are the
// characters themselves.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "source/core/source.h"

namespace echoline::source {
namespace {

// Bounds the memory: a short text can describe any number of addresses.
constexpr std::size_t kAddressesMax = 4'000'000;
// As many digits as always fit into 64 bits.
constexpr std::size_t kDigitsMax = 18;
// Bounds the recursion.
constexpr int kDepthMax = 16;

using Words = std::vector<std::string>;

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= kDigitsMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t number(std::string_view digits) {
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

struct Range {
  // `first` may be larger than `last`: the range then counts down.
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t step = 1;
  std::size_t width = 0;  // zero-padded to this many digits

  std::uint64_t count() const {
    return static_cast<std::uint64_t>((last > first ? last - first : first - last) / step) + 1;
  }
};

// "first..last" or "first..last..step"; a leading zero pads every number to the longer of the two.
std::optional<Range> parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::string_view first = text.substr(0, dots);
  std::string_view last = text.substr(dots + 2);
  std::string_view step = "1";
  if (const std::size_t more = last.find(".."); more != std::string_view::npos) {
    step = last.substr(more + 2);
    last = last.substr(0, more);
  }
  if (!all_digits(first) || !all_digits(last) || !all_digits(step) || number(step) == 0)
    return std::nullopt;
  const bool padded = (first.size() > 1 && first[0] == '0') || (last.size() > 1 && last[0] == '0');
  return Range{number(first), number(last), number(step),
               padded ? std::max(first.size(), last.size()) : 0};
}

Words words_of(const Range& range) {
  Words words;
  for (std::uint64_t i = 0; i < range.count(); ++i) {
    const auto offset = static_cast<std::int64_t>(i) * range.step;
    const std::int64_t value =
        range.last >= range.first ? range.first + offset : range.first - offset;
    words.push_back(fmt::format("{:0{}}", value, range.width));
  }
  return words;
}

// Every word of `left` followed by every word of `right`.
bool append_product(Words& left, const Words& right) {
  // By division: the product of the sizes could overflow.
  if (right.size() > kAddressesMax / left.size()) return false;
  // Text between two lists: no copies of all words.
  if (right.size() == 1) {
    for (std::string& word : left) word += right[0];
    return true;
  }
  Words product;
  product.reserve(left.size() * right.size());
  for (const std::string& word : left)
    for (const std::string& tail : right) product.push_back(word + tail);
  left = std::move(product);
  return true;
}

// Recursive descent over the address; each call leaves `at_` after what it has read.
class Expander {
 public:
  explicit Expander(const std::string& url) : url_(url) {}

  Result<Words> run() { return sequence(0); }

 private:
  Status error(std::string_view reason) const {
    return Status(Code::kInvalidArgument,
                  fmt::format("address \"{}\": {} at character {}", url_, reason, at_ + 1));
  }

  bool at_escape() const {
    return url_[at_] == '\\' && at_ + 1 < url_.size() &&
           (url_[at_ + 1] == '{' || url_[at_ + 1] == '}' || url_[at_ + 1] == ',');
  }

  // Text and lists up to the end, or within a list up to its next ',' or '}'.
  Result<Words> sequence(int depth) {
    Words words(1);
    std::string text;
    while (at_ < url_.size()) {
      const char c = url_[at_];
      // The caller decides what ends the list.
      if (depth > 0 && (c == ',' || c == '}')) break;
      if (c == '}') return error("'}' without '{'; write \\} for the character itself");
      if (c != '{') {
        if (at_escape()) ++at_;
        text += url_[at_++];
        continue;
      }
      append_product(words, {std::exchange(text, {})});
      ECHOLINE_ASSIGN(const Words list, alternatives(depth + 1));
      if (!append_product(words, list)) return too_many();
    }
    append_product(words, {text});
    return words;
  }

  Result<Words> alternatives(int depth) {
    if (depth > kDepthMax) return error("braces nested too deeply");
    const std::size_t open = at_++;
    // A range has no braces or commas in it, so the next '}' would be its end.
    if (const std::size_t close = url_.find('}', at_); close != std::string::npos) {
      if (const auto range = parse_range(std::string_view(url_).substr(at_, close - at_))) {
        if (range->count() > kAddressesMax) return too_many();
        at_ = close + 1;
        return words_of(*range);
      }
    }
    Words words;
    bool more = true;
    bool has_comma = false;
    while (more) {
      ECHOLINE_ASSIGN(Words item, sequence(depth));
      if (words.size() + item.size() > kAddressesMax) return too_many();
      words.insert(words.end(), std::make_move_iterator(item.begin()),
                   std::make_move_iterator(item.end()));
      // Back to the brace, so that the message names its place.
      if (at_ == url_.size()) {
        at_ = open;
        return error("'{' without '}'; write \\{ for the character itself");
      }
      more = url_[at_++] == ',';
      has_comma |= more;
    }
    // {a} is no list in shells either; it is probably a mistake.
    if (!has_comma) {
      at_ = open;
      return error("a brace list is {a,b} or {000..004}");
    }
    return words;
  }

  Status too_many() const {
    return error(fmt::format("more than {} addresses; use * or several urls", kAddressesMax));
  }

  const std::string& url_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<std::string>> expand_braces(const std::string& url) {
  return Expander(url).run();
}

}  // namespace echoline::source
