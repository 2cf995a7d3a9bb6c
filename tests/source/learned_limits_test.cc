// What the search for the number of requests found, from one limit of an endpoint to the next.
#include "source/http/learned_limits.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "serve/scratch_folder.h"
#include "source/http/endpoint_limit.h"

namespace echoline::source {
namespace {

class LearnedLimitsTest : public testing::Test {
 protected:
  serve::ScratchFolder folder_;
  const std::string path_ = folder_.file("endpoints");
};

TEST_F(LearnedLimitsTest, ASecondProcessKnowsWhatTheFirstNoted) {
  LearnedLimits first;
  first.keep_in(path_);
  EXPECT_EQ(first.find("http://a:80").requests, 0U);
  first.note("http://a:80", {64, 1});
  first.note("https://b c", {8, 5});
  first.note("http://a:80", {32, 700});
  LearnedLimits second;
  second.keep_in(path_);
  EXPECT_EQ(second.find("http://a:80").requests, 32U);
  EXPECT_EQ(second.find("http://a:80").bytes_per_second, 700U);
  EXPECT_EQ(second.find("https://b c").requests, 8U);
}

TEST_F(LearnedLimitsTest, OnlyTheNewestAreKept) {
  LearnedLimits limits;
  for (std::size_t i = 1; i <= LearnedLimits::kEndpointsMax; ++i) {
    limits.note("http://" + std::to_string(i), {i, 0});
  }
  limits.note("http://1", {5, 0});
  limits.keep_in(path_);
  limits.note("http://new", {7, 0});
  LearnedLimits next;
  next.keep_in(path_);
  EXPECT_EQ(next.find("http://1").requests, 5U);
  EXPECT_EQ(next.find("http://2").requests, 0U);
  EXPECT_EQ(next.find("http://new").requests, 7U);
}

TEST_F(LearnedLimitsTest, LinesThatAreWrongAreIgnored) {
  std::ofstream(path_)
      << "\n0 1 http://a\n-4 1 http://a\n12 1http://a\n99999999999999999999 1 http://a\n 5 1 "
         "http://a\n7\n7 \n7 1 \n16 9999999999999999 http://a\n200000 1 http://a\n5 http://a\n9 1 http://b";
  LearnedLimits limits;
  limits.keep_in(path_);
  EXPECT_EQ(limits.find("http://a").requests, 0U);
  EXPECT_EQ(limits.find("http://b").requests, 9U);
}

TEST_F(LearnedLimitsTest, AnEndpointBeginsWithWhatItsLastStreamFound) {
  const std::string endpoint = "http://learned.test";
  const auto join = [&] { return EndpointLimit::Member(EndpointLimit::of(endpoint), 128, [] {}); };
  {
    EndpointLimit::Member member = join();
    EXPECT_EQ(member.limit(), 16U);
    // A store whose rate grows with the requests: each takes 100 ms.
    std::uint64_t now_ns = 1;
    for (int i = 0; i < 20'000 && member.limit() < 64; ++i) {
      while (member.begin()) {
      }
      now_ns += 100'000'000 / member.limit();
      member.end(AttemptEnd::kGood, 1 << 20, now_ns);
    }
    EXPECT_GE(member.limit(), 64U);
  }
  EndpointLimit::Member next = join();
  EXPECT_GE(next.limit(), 32U);
  // 32 or 64 requests at a time, of 1 MiB in 100 ms each.
  EXPECT_GT(next.shared().rate_before(), 300'000'000U);
  EXPECT_LT(next.shared().rate_before(), 800'000'000U);
}

}  // namespace
}  // namespace echoline::source
