// A source that adds something to another one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "source/core/source.h"

namespace echoline::source {

// Owns the inner source and passes every call on; derived classes override what they change.
// Threads as Source says.
class ForwardingSource : public Source {
 public:
  explicit ForwardingSource(std::unique_ptr<Source> inner) : inner_(std::move(inner)) {}

  Result<std::vector<ObjectInfo>> list(const std::string& url) override {
    return inner_->list(url);
  }
  Result<std::vector<ObjectInfo>> list_all(const std::vector<std::string>& urls) override {
    return inner_->list_all(urls);
  }
  Status put(const std::string& url, const std::string& bytes) override {
    return inner_->put(url, bytes);
  }
  void submit(ReadRequest request) override { inner_->submit(std::move(request)); }
  std::size_t slots_free() const override { return inner_->slots_free(); }
  void poll(std::uint64_t deadline_ns, std::vector<ReadResult>& done) override {
    inner_->poll(deadline_ns, done);
  }
  std::uint32_t answers_needed() const override { return inner_->answers_needed(); }
  void forget(const ObjectInfo& object) override { inner_->forget(object); }
  void count_damaged() override { inner_->count_damaged(); }
  void wake() override { inner_->wake(); }
  Counters counters() const override { return inner_->counters(); }
  std::vector<EndpointRates> rates() const override { return inner_->rates(); }

 protected:
  std::unique_ptr<Source> inner_;
};

}  // namespace echoline::source
