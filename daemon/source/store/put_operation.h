// Writes one object. A failed attempt starts over; stores replace the object only when all of it
// has arrived.
#pragma once

#include <string>

#include "source/core/address.h"
#include "source/store/store_operation.h"

namespace echoline::source {

class PutOperation : public StoreOperation {
 public:
  // The store and the bytes must outlive it.
  PutOperation(ObjectStore& store, Address address, const std::string& bytes)
      : StoreOperation(store), address_(std::move(address)), bytes_(bytes) {}

  HttpRequest request(std::time_t now) override { return store_.put(address_, bytes_, now); }
  bool consume(std::span<const std::byte>) override { return true; }
  Verdict complete() override { return {}; }
  Verdict refuse(const HttpResponse& response, std::string_view body) override {
    return store_.refuse(response, body, Access::kWrite);
  }
  std::uint64_t progress() const override { return 0; }
  bool may_be_hedged() const override {
    return false;
  }  // the first one is still sending: a second would share its bandwidth
  std::string what() const override { return "writing " + address_.url(); }

 private:
  const Address address_;
  const std::string& bytes_;
};

}  // namespace echoline::source
