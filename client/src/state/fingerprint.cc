#include "state/fingerprint.h"

#include <algorithm>
#include <iterator>

namespace echoline::client {
namespace {

// Both cases; -1 for any other character.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Fingerprint fingerprint_of(const shm::RingHeader& header) {
  Fingerprint fingerprint;
  std::copy(std::begin(header.fingerprint), std::end(header.fingerprint), fingerprint.begin());
  return fingerprint;
}

std::string to_hex(const Fingerprint& fingerprint) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : fingerprint) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool from_hex(std::string_view text, Fingerprint& fingerprint) {
  // Exactly this length: a part of a fingerprint proves nothing.
  if (text.size() != 2 * fingerprint.size()) return false;
  for (std::size_t i = 0; i < fingerprint.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    fingerprint[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

}  // namespace echoline::client
