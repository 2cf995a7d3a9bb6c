// Operations that ask which objects exist: one page of a listing, and the size and version of one
// object.
#pragma once

#include <optional>
#include <string>

#include "source/core/address.h"
#include "source/http/http_operation.h"
#include "source/store/object_store.h"

namespace echoline::source {

class PageOperation : public HttpOperation {
 public:
  // The store must outlive it.
  PageOperation(ObjectStore& store, ListQuery query) : store_(store), query_(std::move(query)) {}

  Verdict ready(std::time_t now) override { return store_.ready(now); }
  HttpRequest request(std::time_t now) override;
  Verdict accept(const HttpResponse&) override {
    store_.note_accepted();
    return {};
  }
  bool consume(std::span<const std::byte> bytes) override;
  Verdict complete() override;
  Verdict refuse(const HttpResponse& response, std::string_view body) override;
  std::uint64_t progress() const override { return 0; }
  std::string what() const override;

  // After it has ended with success.
  ListPage take_page() { return std::move(page_); }

 private:
  ObjectStore& store_;
  ListQuery query_;
  std::string body_;
  bool too_long_ = false;
  ListPage page_;
};

class StatOperation : public HttpOperation {
 public:
  // The store must outlive it.
  StatOperation(ObjectStore& store, Address address)
      : store_(store), address_(std::move(address)) {}

  Verdict ready(std::time_t now) override { return store_.ready(now); }
  HttpRequest request(std::time_t now) override;
  Verdict accept(const HttpResponse& response) override;
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
  ObjectStore& store_;
  const Address address_;
  StatMethod method_ = StatMethod::kPreferred;
  HttpResponse response_;
  std::string body_;
  ObjectInfo info_;
};

}  // namespace echoline::source
