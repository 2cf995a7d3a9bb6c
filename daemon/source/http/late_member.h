// A stream's share of the limit of an endpoint that is known only from its first request on.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "source/http/endpoint_limit.h"

namespace echoline::source {

// One thread, except rates(), which any thread may call.
class LateMember {
 public:
  // Joins the limit of this address's endpoint, as EndpointLimit::Member does. At most once.
  void join(const std::string& url, std::size_t cap, std::function<void()> wake);
  explicit operator bool() const { return member_.has_value(); }
  // Only after join().
  EndpointLimit::Member* operator->() { return &*member_; }
  const EndpointLimit::Member* operator->() const { return &*member_; }

  // As EndpointLimit has them; nothing before join().
  std::vector<EndpointRates> rates() const;

 private:
  std::optional<EndpointLimit::Member> member_;
  std::atomic<const EndpointLimit*> limit_{nullptr};  // that of member_
};

}  // namespace echoline::source
