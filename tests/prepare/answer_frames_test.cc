#include "engine/remote/answer_frames.h"

#include <gtest/gtest.h>

#include "sample_answers.h"

namespace echoline::engine {
namespace {

using prepare::answer_of;
using prepare::joined;
using prepare::sample_fields;

std::vector<std::byte> frame_of(std::uint64_t record) {
  decode::Sample sample = prepare::sample_of(static_cast<std::uint8_t>(record));
  return joined(prepare::make_frame({record, 0}, sample, nullptr));
}

Code code_of(std::span<const std::byte> answer, const std::vector<std::uint64_t>& records) {
  return frames_of({answer}, records, sample_fields()).status().code();
}

TEST(AnswerFrames, AreTheSameHoweverTheBytesWereCut) {
  const std::vector<std::byte> answer = answer_of({frame_of(3), frame_of(9)});
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, answer.size()}) {
    AnswerPieces pieces;
    for (std::size_t at = 0; at < answer.size(); at += step) {
      pieces.push_back(std::span(answer).subspan(at, std::min(step, answer.size() - at)));
      pieces.push_back({});
    }
    const auto frames = frames_of(pieces, {3, 9}, sample_fields());
    ASSERT_TRUE(frames.ok()) << frames.status().message();
    ASSERT_EQ(frames->size(), 2U);
    const std::vector<std::byte> expected = frame_of(9);
    const auto found = (*frames)[1]->span();
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
  }
}

TEST(AnswerFrames, MayBeFewerThanTheRecords) {
  const auto frames = frames_of({answer_of({frame_of(3)})}, {3, 9}, sample_fields());
  ASSERT_TRUE(frames.ok());
  EXPECT_EQ(frames->size(), 1U);
}

TEST(AnswerFrames, OfWrongAnswersAreRefused) {
  const std::vector<std::byte> answer = answer_of({frame_of(3), frame_of(9)});
  EXPECT_EQ(code_of(answer, {3, 10}), Code::kDataLoss);
  EXPECT_EQ(code_of(answer, {9, 3}), Code::kDataLoss);
  EXPECT_EQ(code_of(answer, {3}), Code::kDataLoss);
  EXPECT_EQ(code_of({}, {3}), Code::kDataLoss);
  for (std::size_t bytes = 1; bytes < answer.size(); ++bytes) {
    // Cut between the frames it is a shorter answer.
    const bool between = bytes == answer_of({frame_of(3)}).size();
    EXPECT_EQ(code_of(std::span(answer).first(bytes), {3, 9}),
              between ? Code::kOk : Code::kDataLoss);
  }
  std::vector<std::byte> flipped = answer;
  flipped.back() ^= std::byte{1};
  EXPECT_EQ(code_of(flipped, {3, 9}), Code::kDataLoss);
}

TEST(AnswerFrames, WithAHugeLengthTakeNoMemory) {
  // A frame of almost 2^35 bytes, of which none follow.
  const std::vector<std::byte> answer{std::byte{0x0a}, std::byte{0xff}, std::byte{0xff},
                                      std::byte{0xff}, std::byte{0xff}, std::byte{0x7f}};
  EXPECT_EQ(code_of(answer, {3}), Code::kDataLoss);
}

}  // namespace
}  // namespace echoline::engine
