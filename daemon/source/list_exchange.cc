// Pages are bounded in bytes; a store that sends more than a page can be isn't one.
#include "source/list_exchange.h"

#include <fmt/core.h>

#include "source/content_range.h"

namespace echoline::source {
namespace {

constexpr std::size_t kPageBytesMax = 32 << 20;

}  // namespace

HttpRequest PageExchange::request(std::time_t now) {
  body_.clear();
  too_long_ = false;
  return store_.list(query_, now);
}

bool PageExchange::consume(std::span<const std::byte> bytes) {
  too_long_ = bytes.size() > kPageBytesMax - body_.size();
  if (!too_long_) body_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return !too_long_;
}

Verdict PageExchange::complete() {
  if (too_long_) return {Status(Code::kDataLoss, "a page of the listing is unreasonably long")};
  Result<ListPage> page = store_.parse_list(body_);
  if (!page.ok())
    return {std::move(page).status().with_context("the listing can't be understood"), true};
  page_ = std::move(page).value();
  return {};
}

Verdict PageExchange::refuse(const HttpResponse& response, std::string_view body) {
  return store_.refuse(response, body);
}

std::string PageExchange::what() const {
  return fmt::format("listing s3://{}/{}", query_.bucket, query_.prefix);
}

HttpRequest StatExchange::request(std::time_t now) {
  return ask_for_words_ ? store_.get(address_, "", 0, 1, now) : store_.head(address_, now);
}

Verdict StatExchange::accept(const HttpResponse& response) {
  const auto range = parse_content_range(response.header("content-range"));
  const auto bytes = range ? range->total : parse_length(response.header("content-length"));
  info_ = {address_.url(), bytes.value_or(0), store_.version_of(response)};
  if (!bytes || info_.version.empty())
    return {Status(Code::kDataLoss,
                   "the answer has no length or no version (ETag); is this an "
                   "object store?"),
            true};
  return {};
}

Verdict StatExchange::refuse(const HttpResponse& response, std::string_view body) {
  Verdict verdict = store_.refuse(response, body);
  if (!verdict.retry && !ask_for_words_) verdict.retry = ask_for_words_ = true;
  return verdict;
}

}  // namespace echoline::source
