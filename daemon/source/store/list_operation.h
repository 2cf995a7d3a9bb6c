// Operations that ask which objects exist: one page of a listing, the size and version of one
// object, and the commit that a branch means now.
#pragma once

#include <optional>
#include <string>

#include "source/core/address.h"
#include "source/store/store_operation.h"

namespace echoline::source {

class PageOperation : public StoreOperation {
 public:
  // The store must outlive it.
  PageOperation(ObjectStore& store, ListQuery query)
      : StoreOperation(store), query_(std::move(query)) {}

  HttpRequest request(std::time_t now) override;
  bool consume(std::span<const std::byte> bytes) override;
  Verdict complete() override;
  Verdict refuse(const HttpResponse& response, std::string_view body) override;
  std::uint64_t progress() const override { return 0; }
  std::string what() const override;

  // After it has ended with success.
  ListPage take_page() { return std::move(page_); }

 private:
  Verdict take_head(const HttpResponse& response) override;

  ListQuery query_;
  HttpResponse response_;
  std::string body_;
  bool too_long_ = false;
  ListPage page_;
};

class StatOperation : public StoreOperation {
 public:
  // The store must outlive it.
  StatOperation(ObjectStore& store, Address address)
      : StoreOperation(store), address_(std::move(address)) {}

  HttpRequest request(std::time_t now) override;
  bool consume(std::span<const std::byte> bytes) override;
  Verdict complete() override;
  Verdict refuse(const HttpResponse& response, std::string_view body) override;
  std::uint64_t progress() const override { return 0; }
  // "There is no such object" is what some callers want to know.
  bool is_answer(const Status& status) const override {
    return status.ok() || status.code() == Code::kNotFound;
  }
  std::string what() const override { return address_.url(); }

  // After it has ended with success.
  ObjectInfo take_info() { return std::move(info_); }

 private:
  Verdict take_head(const HttpResponse& response) override;

  const Address address_;
  StatMethod method_ = StatMethod::kPreferred;
  HttpResponse response_;
  std::string body_;
  ObjectInfo info_;
};

// Has no result: the store remembers the commit.
class PinOperation : public StoreOperation {
 public:
  // The store must outlive it.
  PinOperation(ObjectStore& store, const Address& address)
      : StoreOperation(store), bucket_(address.bucket), head_(address.head) {}

  HttpRequest request(std::time_t now) override;
  bool consume(std::span<const std::byte> bytes) override;
  Verdict complete() override;
  Verdict refuse(const HttpResponse& response, std::string_view body) override;
  std::uint64_t progress() const override { return 0; }
  std::string what() const override { return head_; }

 private:
  const std::string bucket_, head_;
  std::string body_;
};

}  // namespace echoline::source
