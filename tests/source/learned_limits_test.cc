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
  EXPECT_EQ(first.find("http://a:80"), LearnedLimit());
  first.note("http://a:80", {64, 7});
  first.note("https://b c", {8, 0});
  first.note("https://b", {4, 1});
  first.note("http://a:80", {32, 5'000'000});
  LearnedLimits second;
  second.keep_in(path_);
  EXPECT_EQ(second.find("http://a:80"), (LearnedLimit{32, 5'000'000}));
  EXPECT_EQ(second.find("https://b c"), (LearnedLimit{8, 0}));
  EXPECT_EQ(second.find("https://b"), (LearnedLimit{4, 1}));
}

TEST_F(LearnedLimitsTest, OnlyTheNewestAreKept) {
  LearnedLimits limits;
  for (std::size_t i = 1; i <= LearnedLimits::kEndpointsMax; ++i) {
    limits.note("http://" + std::to_string(i), {.limit = i});
  }
  limits.note("http://1", {.limit = 5});
  limits.keep_in(path_);
  limits.note("http://new", {.limit = 7});
  LearnedLimits next;
  next.keep_in(path_);
  EXPECT_EQ(next.find("http://1").limit, 5U);
  EXPECT_EQ(next.find("http://2").limit, 0U);
  EXPECT_EQ(next.find("http://new").limit, 7U);
}

TEST_F(LearnedLimitsTest, LinesThatAreWrongAreIgnored) {
  std::ofstream(path_)
      << "\n0 http://a\n-4 http://a\n12http://a\n99999999999999999999 http://a\n 5 "
         "http://a\n7\n7 \n200000 http://a\n12x http://a 5\n9 http://b\n"
         "3 http://c 12x\n4 http://d 12";
  LearnedLimits limits;
  limits.keep_in(path_);
  EXPECT_EQ(limits.find("http://a"), LearnedLimit());
  EXPECT_EQ(limits.find(""), LearnedLimit());
  // That of an older version.
  EXPECT_EQ(limits.find("http://b"), (LearnedLimit{9, 0}));
  EXPECT_EQ(limits.find("http://c"), LearnedLimit());
  EXPECT_EQ(limits.find("http://d"), (LearnedLimit{4, 12}));
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
      member.end(AttemptEnd::kGood, {.bytes = 1 << 20}, now_ns);
    }
    EXPECT_GE(member.limit(), 64U);
  }
  EXPECT_GE(join().limit(), 32U);
}

}  // namespace
}  // namespace echoline::source
