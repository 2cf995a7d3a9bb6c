// Parses addresses of stored objects. Names in buckets are written as they are, not
// percent-encoded; addresses of web servers are written as in a browser.
#pragma once

#include <string>
#include <string_view>

#include "base/scheme.h"
#include "base/status.h"

namespace echoline::source {

// head + path is the whole address: "s3://bucket/" and "key", "https://host/" and "folder/name",
// "file://" and "/folder/name", "" and "folder/name". The path may contain glob characters, except
// on web servers, which cannot list.
struct Address {
  Scheme scheme = Scheme::kFile;
  std::string head;
  std::string bucket;  // "https://host:port" for web servers; empty for files
  std::string path;

  std::string url() const { return head + path; }
  std::string url_of(std::string_view other_path) const { return head + std::string(other_path); }

  // An address of everything below it: a path that ends in '/', or a whole bucket.
  bool is_tree() const { return path.empty() || path.back() == '/'; }
};

// Whether the text has only letters, digits and the other characters of host[:port].
bool is_host(std::string_view text);

Result<Address> parse_address(const std::string& url);

}  // namespace echoline::source
