// Schemes are told apart here and nowhere else.
#include "source/address.h"

#include <fmt/core.h>

#include <algorithm>

namespace echoline::source {
namespace {

Status bad_address(const std::string& url, std::string_view reason) {
  return Status(Code::kInvalidArgument, fmt::format("address \"{}\": {}", url, reason));
}

// A bucket name becomes part of a host name or path, so it is held to what stores allow.
bool is_bucket_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  return name.size() >= 3 && name.size() <= 255 && std::all_of(name.begin(), name.end(), allowed) &&
         name.front() != '.' && name.front() != '-' && name.find("..") == std::string_view::npos;
}

Result<Address> parse_file(const std::string& url, std::string_view rest) {
  Address address;
  address.head = "file:";
  if (rest.starts_with("//")) {
    address.head = "file://";
    rest.remove_prefix(2);
    if (rest.starts_with("localhost/")) {
      address.head += "localhost";
      rest.remove_prefix(9);
    }
    if (!rest.starts_with('/'))
      return bad_address(url, "after file:// comes an absolute path, as in file:///data/train.tar");
  }
  if (rest.empty()) return bad_address(url, "the path is missing");
  address.path = rest;
  return address;
}

Result<Address> parse_s3(const std::string& url, std::string_view rest) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  Address address;
  address.scheme = Scheme::kS3;
  address.bucket = rest.substr(0, slash);
  if (!is_bucket_name(address.bucket))
    return bad_address(url, "that is no bucket name; write s3://bucket/key");
  address.head = "s3://" + address.bucket + "/";
  if (slash < rest.size()) address.path = rest.substr(slash + 1);
  return address;
}

// The letters before "://"; empty for a plain path.
std::string_view scheme_of(std::string_view url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string_view::npos || colon > url.find('/')) return {};
  return url.substr(0, colon);
}

}  // namespace

std::string_view to_string(Scheme scheme) { return scheme == Scheme::kS3 ? "s3" : "file"; }

Result<Address> parse_address(const std::string& url) {
  const std::string_view text = url;
  if (text.empty()) return bad_address(url, "it is empty; give a path or s3://bucket/key");
  if (text.find('\0') != std::string_view::npos) return bad_address(url, "it holds a zero byte");
  if (text.starts_with("s3://")) return parse_s3(url, text.substr(5));
  if (text.starts_with("file:")) return parse_file(url, text.substr(5));
  if (const std::string_view scheme = scheme_of(text); !scheme.empty())
    return bad_address(url, fmt::format("\"{}:\" can't be read by this version; it reads plain "
                                        "paths, file: and s3:",
                                        scheme));
  Address address;
  address.path = url;
  return address;
}

}  // namespace echoline::source
