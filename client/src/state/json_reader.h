// Reads the subset of JSON that a state uses: objects, arrays, strings and unsigned integers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace echoline::client {

// A cursor over `text`, which must outlive the reader; left to right, one thread. Every call
// returns false if the text does not have what was asked for; the caller then stops, and position()
// is the byte at which reading ended.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // Skips white space and consumes `c` if it is the next character.
  bool take(char c);
  // Consumes a quoted string and decodes its escapes to UTF-8.
  bool string(std::string& value);
  // Consumes an unsigned integer of at most `max`; no sign, fraction, exponent or leading zero.
  bool number(std::uint64_t max, std::uint64_t& value);
  // Whether only white space is left.
  bool at_end();
  std::size_t position() const { return at_; }

 private:
  void skip_space();
  // Decodes the escape sequence after a backslash.
  bool escape(std::string& value);
  // Reads four hexadecimal digits.
  bool hex4(std::uint32_t& value);

  std::string_view text_;
  std::size_t at_ = 0;
};

// A JSON string literal: with quotes; control characters, quotes and backslashes escaped.
std::string json_quote(std::string_view text);

}  // namespace echoline::client
