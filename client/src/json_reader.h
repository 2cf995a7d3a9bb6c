// The little of JSON that a state needs: objects, arrays, strings, unsigned integers. Reads left to
// right.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace echoline::client {

// After the first mistake every call returns false and position() says where it was.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // Skips white space and takes `c` if it is next.
  bool take(char c);
  bool string(std::string& value);
  bool number(std::uint64_t max, std::uint64_t& value);
  bool at_end();
  std::size_t position() const { return at_; }

 private:
  void skip_space();
  bool escape(std::string& value);
  bool hex4(std::uint32_t& value);

  std::string_view text_;
  std::size_t at_ = 0;
};

// With quotes; control characters and quotes escaped.
std::string json_quote(std::string_view text);

}  // namespace echoline::client
