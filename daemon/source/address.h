// Addresses of stored objects, taken apart and put together again. Names are written as they are:
// nothing in an address is percent-encoded.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::source {

enum class Scheme { kFile, kS3 };

std::string_view to_string(Scheme scheme);

// head + path is the address again: "s3://bucket/" and "key", "file://" and "/folder/name", "" and
// "folder/name". The path may hold glob characters.
struct Address {
  Scheme scheme = Scheme::kFile;
  std::string head;
  std::string bucket;  // empty for files
  std::string path;

  std::string url() const { return head + path; }
  std::string url_of(std::string_view other_path) const { return head + std::string(other_path); }

  // "everything below": a path that ends in '/', or a whole bucket.
  bool is_tree() const { return path.empty() || path.back() == '/'; }
};

Result<Address> parse_address(const std::string& url);

}  // namespace echoline::source
