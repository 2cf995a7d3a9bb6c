// Where results are copied to.
#include "user_code/results.h"

#include <gtest/gtest.h>

#include <array>

namespace echoline::user_code {
namespace {

constexpr std::size_t kBytes = 8;

// A function whose result is one array of eight bytes, and a worker's memory with such an array.
class ResultsTest : public testing::Test {
 protected:
  ResultsTest() {
    function_.outputs = {{.name = "x", .fixed = true, .shape = {{kBytes}, 1}}};
    reply_.arrays = {{.dtype = shm::kUint8, .shape = {{kBytes}, 1}, .offset = 64}};
    for (std::size_t i = 0; i < kBytes; ++i) area_[64 + i] = static_cast<std::byte>(i + 1);
  }

  // Takes the result into `tensor_`, and changes the worker's memory, as a worker may.
  void take() {
    const std::array<decode::Tensor*, 1> results = {&tensor_};
    const SampleCall sample{.arguments = {}, .key = {}, .results = results};
    const Result<std::size_t> taken = Results(function_).take(reply_, area_, {&sample, 1});
    ASSERT_TRUE(taken.ok()) << taken.status().message();
    area_.fill(std::byte{99});
  }
  void expect_result() const {
    ASSERT_EQ(tensor_.content().size(), kBytes);
    for (std::size_t i = 0; i < kBytes; ++i)
      EXPECT_EQ(tensor_.content()[i], static_cast<std::byte>(i + 1)) << i;
  }

  Function function_;
  Reply reply_;
  std::array<std::byte, 128> area_{};
  std::array<std::byte, 2 * kBytes> row_{};
  decode::Tensor tensor_;
};

TEST_F(ResultsTest, AResultIsCopiedIntoItsRowOfTheBatch) {
  tensor_.destination = std::span(row_).first(kBytes);
  take();
  expect_result();
  EXPECT_EQ(tensor_.content().data(), row_.data());
  EXPECT_EQ(row_[kBytes], std::byte{0});
}

TEST_F(ResultsTest, OneOfAnotherSizeThanTheRowIsKept) {
  tensor_.destination = row_;
  take();
  expect_result();
  EXPECT_NE(tensor_.content().data(), row_.data());
  EXPECT_EQ(row_[0], std::byte{0});
}

}  // namespace
}  // namespace echoline::user_code
