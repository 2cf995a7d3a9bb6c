// Values one behind the other in a string, for files that only this program reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace echoline::record {

class PackedWriter {
 public:
  void put(std::uint64_t number) { append(&number, sizeof(number)); }
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    append(text.data(), text.size());
  }
  template <typename T>
  void put(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(std::uint64_t{values.size()});
    append(values.data(), values.size_bytes());
  }
  std::string take() { return std::move(out_); }

 private:
  void append(const void* bytes, std::size_t count) {
    out_.append(static_cast<const char*>(bytes), count);
  }

  std::string out_;
};

// Takes the values in the order in which they were put. After a value that is not there, all are
// empty, and ok() is false. Views point into the bytes.
class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }

  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(sizeof(value), 1);
    if (ok_) std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  std::string_view text() { return take(1, number()); }
  template <typename T>
  std::vector<T> values() {
    const std::string_view bytes = take(sizeof(T), number());
    std::vector<T> all(bytes.size() / sizeof(T));
    if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  }

 private:
  std::string_view take(std::size_t size, std::uint64_t count) {
    ok_ = ok_ && count <= bytes_.size() / size;
    if (!ok_) return {};
    const std::string_view taken = bytes_.substr(0, size * count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace echoline::record
