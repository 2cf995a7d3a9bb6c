#include "source/http/late_member.h"

#include <utility>

#include "source/http/endpoint.h"

namespace echoline::source {

void LateMember::join(const std::string& url, std::size_t cap, std::function<void()> wake) {
  const Result<Endpoint> endpoint = endpoint_of_url(url);
  member_.emplace(EndpointLimit::of(endpoint.ok() ? endpoint->url() : url), cap, std::move(wake));
  limit_.store(&member_->shared(), std::memory_order_release);
}

std::vector<EndpointRates> LateMember::rates() const {
  const EndpointLimit* limit = limit_.load(std::memory_order_acquire);
  return limit == nullptr ? std::vector<EndpointRates>() : limit->rates();
}

}  // namespace echoline::source
