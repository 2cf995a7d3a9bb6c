// One matcher for files and stores, so that a pattern means the same everywhere.
#include "source/core/glob.h"

#include <fmt/core.h>

#include <optional>

namespace echoline::source {
namespace {

// The index after a class's ']', or nothing if the class is not closed. A ']' that comes first is a
// member.
std::optional<std::size_t> class_end(std::string_view pattern, std::size_t open) {
  std::size_t at = open + 1;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
  // The first character is a member, also if it is ']'.
  for (bool first = true; at < pattern.size() && pattern[at] != '/'; first = false) {
    if (pattern[at] == ']' && !first) return at + 1;
    // An escaped character cannot close the class.
    at += pattern[at] == '\\' ? 2 : 1;
  }
  return std::nullopt;
}

// Whether c is in the class whose text, without brackets, is `members`.
bool class_holds(std::string_view members, char c) {
  const bool negated = !members.empty() && (members[0] == '!' || members[0] == '^');
  if (negated) members.remove_prefix(1);
  bool found = false;
  // The next member, without its backslash.
  const auto take = [&members] {
    if (members[0] == '\\' && members.size() > 1) members.remove_prefix(1);
    const auto taken = static_cast<unsigned char>(members[0]);
    members.remove_prefix(1);
    return taken;
  };
  while (!members.empty()) {
    const unsigned char low = take();
    unsigned char high = low;
    // A '-' between two members; at the end it is a member itself.
    if (members.size() > 1 && members[0] == '-') {
      members.remove_prefix(1);
      high = take();
    }
    found |= low <= static_cast<unsigned char>(c) && static_cast<unsigned char>(c) <= high;
  }
  return found != negated;
}

// Whether the pattern's item at `at` (anything except '*') matches c; `next` is the index after it.
bool item_matches(std::string_view pattern, std::size_t at, char c, std::size_t& next) {
  next = at + 1;
  if (pattern[at] == '?') return true;
  if (pattern[at] == '[') {
    // An unclosed class is the character '[' (check_glob refuses it before).
    if (const auto end = class_end(pattern, at)) {
      next = *end;
      return class_holds(pattern.substr(at + 1, *end - at - 2), c);
    }
  }
  if (pattern[at] == '\\' && at + 1 < pattern.size()) {
    next = at + 2;
    return pattern[at + 1] == c;
  }
  return pattern[at] == c;
}

// Removes the first segment, and the slash after it, from `rest`.
std::string_view take_segment(std::string_view& rest) {
  const std::size_t slash = rest.find('/');
  const std::string_view segment = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  return segment;
}

}  // namespace

bool has_glob(std::string_view pattern) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\')
      ++at;
    else if (pattern[at] == '*' || pattern[at] == '?' || pattern[at] == '[')
      return true;
  }
  return false;
}

Status check_glob(std::string_view pattern) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\') {
      ++at;
    } else if (pattern[at] == '[') {
      const auto end = class_end(pattern, at);
      if (!end)
        return Status(
            Code::kInvalidArgument,
            fmt::format("\"{}\": '[' without ']'; write \\[ for the character itself", pattern));
      // To the end of the class: '[' within it has no meaning.
      at = *end - 1;
    }
  }
  return {};
}

std::string unescape_glob(std::string_view pattern) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    text += pattern[at];
  }
  return text;
}

std::string glob_prefix(std::string_view pattern) {
  std::size_t end = 0;
  while (end < pattern.size() && !has_glob(pattern.substr(end, 1)))
    // Up to the first special character; an escaped one belongs to the literal text.
    end += pattern[end] == '\\' ? 2 : 1;
  return unescape_glob(pattern.substr(0, end));
}

bool glob_matches_segment(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t read = 0;
  // Greedy match with one fallback: on a mismatch the last star takes one more character. Earlier
  // stars never need to, so the time is O(pattern * name).
  std::size_t behind_star = std::string_view::npos;
  // Where the last star began to match, and how much it has taken.
  std::size_t star_read = 0;
  while (read < name.size()) {
    std::size_t next = 0;
    if (at < pattern.size() && pattern[at] == '*') {
      behind_star = ++at;
      star_read = read;
    } else if (at < pattern.size() && item_matches(pattern, at, name[read], next)) {
      at = next;
      ++read;
      // Let the last star take one more character, and try again from there.
    } else if (behind_star != std::string_view::npos) {
      at = behind_star;
      read = ++star_read;
    } else {
      return false;
    }
  }
  // Stars at the end match nothing.
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool glob_matches(std::string_view pattern, std::string_view name) {
  // A tree pattern is everything below; the empty pattern is a whole bucket.
  const bool tree = pattern.empty() || pattern.back() == '/';
  if (!pattern.empty() && tree)
    pattern.remove_suffix(1);
  else if (tree)
    return !name.empty();
  // Segment by segment; a tree pattern needs at least one more segment in the name.
  std::string_view names = name;
  for (bool more = true; more;) {
    // The name and the pattern need equally many segments, except below a tree.
    more = pattern.find('/') != std::string_view::npos;
    const bool name_goes_on = names.find('/') != std::string_view::npos;
    if (!glob_matches_segment(take_segment(pattern), take_segment(names))) return false;
    if (more && !name_goes_on) return false;
    if (!more) return tree ? name_goes_on && !names.empty() : !name_goes_on;
  }
  return false;
}

}  // namespace echoline::source
