#include "state/json_reader.h"

namespace echoline::client {
namespace {

// As UTF-8, one to four bytes.
void append_utf8(std::uint32_t code, std::string& text) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

}  // namespace

void JsonReader::skip_space() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
}

bool JsonReader::take(char c) {
  skip_space();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonReader::at_end() {
  skip_space();
  return at_ == text_.size();
}

bool JsonReader::string(std::string& value) {
  value.clear();
  if (!take('"')) return false;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') return ++at_, true;
    // JSON requires an escape for control characters.
    if (static_cast<unsigned char>(c) < 0x20) return false;
    ++at_;
    if (c != '\\') {
      value += c;
    } else if (!escape(value)) {
      return false;
    }
  }
  return false;
}

bool JsonReader::escape(std::string& value) {
  if (at_ >= text_.size()) return false;
  const char c = text_[at_++];
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  // Escapes of one character.
  if (const std::size_t i = kNames.find(c); i != kNames.npos) return value += kValues[i], true;
  std::uint32_t code = 0;
  if (c != 'u' || !hex4(code)) return false;
  // A code point above 0xFFFF is two \u escapes: a high surrogate, then a low one. A surrogate
  // without its partner is an error.
  if (code >= 0xDC00 && code < 0xE000) return false;
  if (code >= 0xD800 && code < 0xDC00) {
    std::uint32_t low = 0;
    if (text_.substr(at_, 2) != "\\u") return false;
    at_ += 2;
    if (!hex4(low) || low < 0xDC00 || low > 0xDFFF) return false;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  append_utf8(code, value);
  return true;
}

bool JsonReader::hex4(std::uint32_t& value) {
  value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ >= text_.size()) return false;
    // Digits of both cases; the value is the place modulo 16.
    const std::size_t digit = std::string_view("0123456789abcdef0123456789ABCDEF").find(text_[at_]);
    if (digit == std::string_view::npos) return false;
    value = value * 16 + static_cast<std::uint32_t>(digit % 16);
  }
  return true;
}

bool JsonReader::number(std::uint64_t max, std::uint64_t& value) {
  skip_space();
  const std::size_t begin = at_;
  value = 0;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
    const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
    // Checked before the multiplication: it must not overflow.
    if (digit > max || value > (max - digit) / 10) return false;
    value = value * 10 + digit;
    ++at_;
  }
  // No digit, or a leading zero.
  if (at_ == begin || (at_ - begin > 1 && text_[begin] == '0')) return false;
  // A fraction or an exponent makes it no integer.
  return at_ == text_.size() || std::string_view(".eE").find(text_[at_]) == std::string_view::npos;
}

std::string json_quote(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // Only what JSON requires: other bytes stay as they are.
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20) {
      quoted += "\\u00";
      quoted += kDigits[byte >> 4];
      quoted += kDigits[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted += '"';
}

}  // namespace echoline::client
