#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace echoline {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080;

// What a lead byte requires: the number of bytes after it, and the range of the first of them.
struct Sequence {
  unsigned tail;
  unsigned least;
  unsigned greatest;
};

constexpr Sequence sequence_of(unsigned lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return {1, 0x80, 0xBF};
  if (lead == 0xE0) return {2, 0xA0, 0xBF};
  if (lead == 0xED) return {2, 0x80, 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {2, 0x80, 0xBF};
  if (lead == 0xF0) return {3, 0x90, 0xBF};
  if (lead >= 0xF1 && lead <= 0xF3) return {3, 0x80, 0xBF};
  if (lead == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

// The length of the sequence at the start of `text`; 0 if it is malformed.
std::size_t sequence_bytes(std::span<const std::byte> text) {
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(text[i]); };
  if (at(0) < 0x80) return 1;
  const Sequence sequence = sequence_of(at(0));
  if (sequence.tail == 0 || text.size() <= sequence.tail) return 0;
  if (at(1) < sequence.least || at(1) > sequence.greatest) return 0;
  for (std::size_t i = 2; i <= sequence.tail; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  return sequence.tail + 1;
}

}  // namespace

std::size_t valid_utf8_bytes(std::span<const std::byte> text) {
  std::size_t done = 0;
  while (done < text.size()) {
    std::uint64_t word = 0;
    while (text.size() - done >= sizeof word) {
      std::memcpy(&word, text.data() + done, sizeof word);
      if ((word & kHighBits) != 0) break;
      done += sizeof word;
    }
    if (done == text.size()) break;
    const std::size_t bytes = sequence_bytes(text.subspan(done));
    if (bytes == 0) break;
    done += bytes;
  }
  return done;
}

std::string to_utf8(std::string_view text) {
  std::string whole;
  while (true) {
    const std::size_t valid = valid_utf8_bytes(std::as_bytes(std::span(text)));
    whole += text.substr(0, valid);
    if (valid == text.size()) return whole;
    whole += "\xef\xbf\xbd";
    text.remove_prefix(valid + 1);
  }
}

}  // namespace echoline
