// A ranged read of one object into the segments of a request.
#pragma once

#include "source/address.h"
#include "source/exchange.h"
#include "source/object_store.h"
#include "source/scatter.h"

namespace echoline::source {

// Bytes reach the segments only from a response whose version and range have been checked.
class ReadExchange : public Exchange {
 public:
  // The store must outlive it.
  ReadExchange(ObjectStore& store, Address address, ReadRequest request);

  Verdict ready(std::time_t now) override { return store_.ready(now); }
  HttpRequest request(std::time_t now) override;
  Verdict accept(const HttpResponse& response) override;
  bool consume(std::span<const std::byte> bytes) override;
  Verdict complete() override;
  Verdict refuse(const HttpResponse& response, std::string_view body) override;
  std::uint64_t progress() const override { return scatter_.position() - scatter_.begin(); }
  std::string what() const override { return object_.url; }

 private:
  Verdict accept_part(const HttpResponse& response);
  Verdict accept_whole(const HttpResponse& response);
  Verdict check_size(std::uint64_t total) const;

  ObjectStore& store_;
  const Address address_;
  const ObjectInfo object_;
  Scatter scatter_;
  std::uint64_t skip_ = 0;       // bytes of the body before the first wanted one
  std::uint64_t body_left_ = 0;  // bytes still to come
  bool body_too_long_ = false;
};

}  // namespace echoline::source
