// What an operation knows of its attempts: which of two replaces the other, and what waiting costs.
#include "source/http/operation_state.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace echoline::source {
namespace {

class EndlessBody : public HttpOperation {
 public:
  HttpRequest request(std::time_t) override { return {}; }
  Verdict accept(const HttpResponse&) override { return {}; }
  bool consume(std::span<const std::byte>) override { return true; }
  Verdict complete() override { return {}; }
  Verdict refuse(const HttpResponse&, std::string_view) override { return {}; }
  std::uint64_t progress() const override { return 0; }
  std::string what() const override { return "endless"; }
};

class Operation : public testing::Test {
 protected:
  void pass_time() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }
  void answer(AttemptSlot slot) {
    HttpResponse response;
    response.status = 200;
    state_.attempt(slot)->on_response(response);
  }

  SharedCounters counters_;
  OperationState state_{1, std::make_unique<EndlessBody>()};
};

TEST_F(Operation, AReplacementThatIsReplacedGoesOnUntilTheNextAnswer) {
  state_.begin(counters_);
  answer(0);
  pass_time();
  state_.begin_second(AttemptRole::kReplacement, counters_);
  EXPECT_FALSE(state_.is_replaced());
  answer(1);
  EXPECT_TRUE(state_.is_replaced());
  state_.attempt(0).reset();
  // The replacement is slow, too, and its own one has no answer yet.
  pass_time();
  state_.begin_second(AttemptRole::kReplacement, counters_);
  EXPECT_FALSE(state_.is_replaced());
  answer(0);
  EXPECT_TRUE(state_.is_replaced());
}

TEST_F(Operation, WaitingInTheQueueMovesItsDeadline) {
  const std::uint64_t give_up_ns = state_.give_up_ns(1000);
  pass_time();
  state_.note_queued(counters_);
  const std::uint64_t moved_ns = state_.give_up_ns(1000) - give_up_ns;
  EXPECT_GE(moved_ns, 2'000'000U);
  const Counters seen = counters_.snapshot();
  EXPECT_EQ(seen.wait_ns[static_cast<std::size_t>(WaitReason::kLimit)], moved_ns);
}

}  // namespace
}  // namespace echoline::source
