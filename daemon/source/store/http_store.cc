// stat() reads a range of one byte, because the answer also shows whether the server supports
// ranges. HEAD is the fallback, for empty files.
#include "source/store/http_store.h"

#include <fmt/core.h>

#include "base/check.h"
#include "source/http/content_range.h"
#include "source/http/escape.h"
#include "source/http/store_answer.h"

namespace echoline::source {
namespace {

HttpRequest request_of(const Address& address) {
  HttpRequest request;
  request.url = address.head + wire_path(address.path);
  // Without compression: ranges and lengths are those of the file.
  request.headers = {{"accept-encoding", "identity"}};
  request.follows_redirects = true;
  return request;
}

void add_range(HttpRequest& request, std::uint64_t begin, std::uint64_t end) {
  request.headers.emplace_back("range", fmt::format("bytes={}-{}", begin, end - 1));
}

std::string_view hint(int status) {
  if (status == 401 || status == 403) return "web servers are read without credentials";
  if (status == 404 || status == 410) return "check the address";
  return hint_by_status(status);
}

}  // namespace

// If-Match never matches a weak ETag, so the ETag of the answer is compared instead.
HttpRequest HttpStore::get(const Address& address, const std::string& version, std::uint64_t begin,
                           std::uint64_t end, std::time_t) {
  HttpRequest request = request_of(address);
  add_range(request, begin, end);
  // A strong ETag begins with its quote.
  if (version.starts_with('"'))
    request.headers.emplace_back("if-match", version);
  else if (!version.empty() && !version.starts_with("W/"))
    request.headers.emplace_back("if-unmodified-since", version);
  return request;
}

HttpRequest HttpStore::stat(const Address& address, StatMethod method, std::time_t) {
  HttpRequest request = request_of(address);
  if (method == StatMethod::kPreferred)
    add_range(request, 0, 1);
  else
    request.method = "HEAD";
  return request;
}

Result<ListEntry> HttpStore::parse_stat(const HttpResponse& response, std::string_view) const {
  // 206: the whole length follows the slash of Content-Range. HEAD: Content-Length.
  const auto range = parse_content_range(response.header("content-range"));
  const auto bytes = response.status == 206 && range
                         ? range->total
                         : parse_length(response.header("content-length"));
  // 200 with a body means that the range was ignored.
  if (response.status == 200 && bytes != 0)
    return Status(Code::kInvalidArgument,
                  "this server sends whole files only, no ranges; serve the data set with one "
                  "that knows ranges (nginx, Apache, any object store)");
  ListEntry entry{{}, bytes.value_or(0), version_of(response)};
  if (!bytes || entry.version.empty())
    return Status(Code::kInvalidArgument,
                  "the answer has no length, or neither ETag nor Last-Modified, so that a change "
                  "of the file could go unnoticed");
  return entry;
}

// Never called: parse_address refuses patterns in web addresses.
HttpRequest HttpStore::list(const ListQuery&, std::time_t) {
  ECHOLINE_CHECK(false);
  return {};
}

// Never called: open_source refuses to write to web servers.
HttpRequest HttpStore::put(const Address&, const std::string&, std::time_t) {
  ECHOLINE_CHECK(false);
  return {};
}

Result<ListPage> HttpStore::parse_list(const ListQuery&, const HttpResponse&,
                                       std::string_view) const {
  return Status(Code::kUnimplemented, "web servers can't list");
}

std::string HttpStore::version_of(const HttpResponse& response) const {
  const std::string_view tag = response.header("etag");
  // The date is the fallback, because its unit is a second.
  return std::string(tag.empty() ? response.header("last-modified") : tag);
}

Verdict HttpStore::refuse(const HttpResponse& response, std::string_view, Access) const {
  const int status = response.status;
  std::string text = fmt::format("the server answered {}", status);
  if (retry_by_status(status)) return {Status(Code::kUnavailable, std::move(text)), true};
  if (const std::string_view advice = hint(status); !advice.empty())
    text += fmt::format(": {}", advice);
  return {Status(code_of_status(status), std::move(text))};
}

}  // namespace echoline::source
