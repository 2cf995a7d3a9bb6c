// Checks each kind of address, so that a bad one fails with a hint before any request.
#include "source/core/address.h"

#include <fmt/core.h>

#include <algorithm>

#include "source/core/hub_address.h"

namespace echoline::source {
namespace {

Status bad_address(const std::string& url, std::string_view reason) {
  return Status(Code::kInvalidArgument, fmt::format("address \"{}\": {}", url, reason));
}

// A bucket name becomes part of a host name or path, so only characters that stores allow are
// accepted.
bool is_bucket_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  // 3 to 255: S3 allows 63 today, but old buckets have longer names.
  return name.size() >= 3 && name.size() <= 255 && std::all_of(name.begin(), name.end(), allowed) &&
         // ".." could leave the bucket where the name becomes a part of a path.
         name.front() != '.' && name.front() != '-' && name.find("..") == std::string_view::npos;
}

Result<Address> parse_file(const std::string& url, std::string_view rest) {
  Address address;
  // Kept as the user wrote it: messages and indexes repeat the address.
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

Result<Address> parse_bucket(const std::string& url, Scheme scheme, std::string_view rest) {
  // Without a slash the path is empty: the whole bucket.
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  Address address;
  address.scheme = scheme;
  address.bucket = rest.substr(0, slash);
  if (!is_bucket_name(address.bucket))
    return bad_address(
        url, fmt::format("that is no bucket name; write {}://bucket/key", to_string(scheme)));
  address.head = fmt::format("{}://{}/", to_string(scheme), address.bucket);
  if (slash < rest.size()) address.path = rest.substr(slash + 1);
  return address;
}

// Messages and indexes repeat addresses, so an address must not contain a query or a password.
Result<Address> parse_http(const std::string& url, std::string_view rest) {
  const std::size_t mark = rest.find_first_of("?#");
  const std::size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view host = rest.substr(0, slash);
  if (host.find('@') != std::string_view::npos)
    // The message leaves out the password.
    return bad_address(url.substr(0, url.size() - rest.size()) + "...@...",
                       "a user or a password can't be part of an address");
  if (mark != std::string_view::npos)
    return bad_address(url.substr(0, url.size() - rest.size() + mark),
                       "a query or a fragment can't be part of an address; a ? in a name is "
                       "written %3F, a # %23");
  if (!is_host(host)) return bad_address(url, "that is no host; write https://host/path");
  Address address;
  address.scheme = Scheme::kHttp;
  // The part up to the host takes the place of a bucket.
  address.bucket = url.substr(0, url.size() - rest.size() + slash);
  address.head = address.bucket + "/";
  if (slash < rest.size()) address.path = rest.substr(slash + 1);
  if (address.is_tree() || address.path.find_first_of("*[\\") != std::string::npos)
    return bad_address(url,
                       "a web server can't be asked which files it has; name each, or several in "
                       "a brace list as in train-{000..063}.tar (in a name, * is written %2A, "
                       "[ %5B and \\ %5C)");
  return address;
}

Result<Address> parse_hub(const std::string& url, std::string_view rest) {
  const auto split = split_hub_address(rest);
  if (!split.ok()) return bad_address(url, split.status().message());
  Address address;
  address.scheme = Scheme::kHub;
  // The repository with its revision takes the place of a bucket.
  address.bucket = split->repository;
  address.head = fmt::format("hf://{}/", address.bucket);
  address.path = split->path;
  return address;
}

}  // namespace

bool is_host(std::string_view text) {
  // Not a full check of host names: it keeps out what would change the meaning of a URL.
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
}

Result<Address> parse_address(const std::string& url) {
  const std::string_view text = url;
  if (text.empty()) return bad_address(url, "it is empty; give a path or s3://bucket/key");
  if (text.find('\0') != std::string_view::npos) return bad_address(url, "it holds a zero byte");
  const std::optional<Scheme> scheme = scheme_of(text);
  if (!scheme)
    return bad_address(url, fmt::format("\"{}:\" is unknown; addresses are plain paths, file:, "
                                        "s3://, gs://, hf://, http:// or https://",
                                        scheme_word(text)));
  // Behind "scheme://".
  const std::size_t start = scheme_word(text).size() + 3;
  if (*scheme == Scheme::kHttp) return parse_http(url, text.substr(start));
  if (*scheme == Scheme::kHub) return parse_hub(url, text.substr(start));
  if (*scheme != Scheme::kFile) return parse_bucket(url, *scheme, text.substr(start));
  if (text.starts_with("file:")) return parse_file(url, text.substr(5));
  // A plain path, also a relative one.
  Address address;
  address.path = url;
  return address;
}

}  // namespace echoline::source
