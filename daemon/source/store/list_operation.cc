// A page is bounded in bytes, so that a broken store cannot fill the memory.
#include "source/store/list_operation.h"

#include <algorithm>

namespace echoline::source {
namespace {

constexpr std::size_t kPageBytesMax = 32 << 20;
constexpr std::size_t kStatBytesMax = 64 << 10;

}  // namespace

HttpRequest PageOperation::request(std::time_t now) {
  // A retry begins with an empty page.
  body_.clear();
  too_long_ = false;
  return store_.list(query_, now);
}

Verdict PageOperation::take_head(const HttpResponse& response) {
  response_ = response;
  return {};
}

bool PageOperation::consume(std::span<const std::byte> bytes) {
  // Compared without a sum, which could overflow.
  too_long_ = bytes.size() > kPageBytesMax - body_.size();
  if (!too_long_) body_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return !too_long_;
}

Verdict PageOperation::complete() {
  if (too_long_) return {Status(Code::kDataLoss, "a page of the listing is unreasonably long")};
  Result<ListPage> page = store_.parse_list(query_, response_, body_);
  if (!page.ok())
    // Worth a retry: the page may have been cut or changed on its way.
    return {std::move(page).status().with_context("the listing can't be understood"), true};
  page_ = std::move(page).value();
  return {};
}

Verdict PageOperation::refuse(const HttpResponse& response, std::string_view body) {
  return store_.refuse(response, body, Access::kRead);
}

std::string PageOperation::what() const { return query_.url; }

HttpRequest StatOperation::request(std::time_t now) {
  // A hedge may call this a second time, but only before any answer was accepted.
  body_.clear();
  return store_.stat(address_, method_, now);
}

Verdict StatOperation::take_head(const HttpResponse& response) {
  response_ = response;
  return {};
}

// An answer that is too long is an error page or the object itself; only its start is needed.
bool StatOperation::consume(std::span<const std::byte> bytes) {
  const std::size_t count = std::min(bytes.size(), kStatBytesMax - body_.size());
  body_.append(reinterpret_cast<const char*>(bytes.data()), count);
  // False ends the transfer; complete() is called all the same.
  return count == bytes.size();
}

Verdict StatOperation::complete() {
  Result<ListEntry> entry = store_.parse_stat(response_, body_);
  // Only kDataLoss is worth a retry (ObjectStore::parse_stat).
  if (!entry.ok()) return {entry.status(), entry.status().code() == Code::kDataLoss};
  info_ = {address_.url(), entry->bytes, std::move(entry->version)};
  return {};
}

Verdict StatOperation::refuse(const HttpResponse& response, std::string_view body) {
  Verdict verdict = store_.refuse(response, body, Access::kRead);
  // HEAD answers have no error text, and some stores refuse the method: ask the other way once.
  if (!verdict.retry && method_ == StatMethod::kPreferred) {
    method_ = StatMethod::kFallback;
    verdict.retry = true;
  }
  return verdict;
}

HttpRequest PinOperation::request(std::time_t) {
  body_.clear();
  return store_.pin(bucket_);
}

bool PinOperation::consume(std::span<const std::byte> bytes) {
  if (bytes.size() > kPageBytesMax - body_.size()) return false;
  body_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return true;
}

Verdict PinOperation::complete() {
  Status status = store_.take_pin(bucket_, body_);
  const bool may_pass = status.code() == Code::kDataLoss;
  return {std::move(status), may_pass};
}

Verdict PinOperation::refuse(const HttpResponse& response, std::string_view body) {
  return store_.refuse(response, body, Access::kRead);
}

}  // namespace echoline::source
