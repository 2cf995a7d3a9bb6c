// Bodies in pieces of any size reach exactly their segments.
#include "source/store/scatter.h"

#include <gtest/gtest.h>

#include <random>

#include "base/crc.h"

namespace echoline::source {
namespace {

std::byte expected(std::uint64_t offset) { return static_cast<std::byte>(offset * 31 + 7); }

TEST(Scatter, PiecesOfAnySizeFillSegmentsAndSkipGaps) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::byte> memory(4096);
    std::vector<Segment> segments;
    std::vector<bool> wanted(memory.size());
    std::uint64_t at = random() % 50;
    while (at < 3000 && segments.size() < 20) {
      const std::size_t bytes = random() % 200;
      segments.push_back({at, std::span(memory).subspan(at, bytes)});
      std::fill_n(wanted.begin() + static_cast<long>(at), bytes, true);
      at += bytes + (random() % 2 == 0 ? 0 : random() % 100);
    }
    Scatter scatter(segments, true);
    while (!scatter.done()) {
      if (random() % 4 == 0) scatter.skip_gap(scatter.next_needed());
      std::vector<std::byte> piece(1 + random() % 300);
      for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = expected(scatter.position() + i);
      scatter.write(piece);
      // A part of the body was wrong: everything comes again.
      if (random() % 40 == 0) scatter.rewind();
    }
    ASSERT_EQ(scatter.checksums().size(), segments.size());
    for (std::size_t i = 0; i < segments.size(); ++i)
      ASSERT_EQ(scatter.checksums()[i], crc32c(0, segments[i].destination)) << i;
    for (std::size_t i = 0; i < memory.size(); ++i)
      ASSERT_EQ(memory[i], wanted[i] ? expected(i) : std::byte{0}) << i;
  }
}

TEST(Scatter, NothingWantedIsDoneFromTheStart) {
  Scatter scatter({{5, {}}, {5, {}}});
  EXPECT_TRUE(scatter.empty());
  EXPECT_TRUE(scatter.done());
}

TEST(Scatter, BytesAfterTheLastSegmentAreLeftAlone) {
  std::vector<std::byte> memory(4);
  Scatter scatter({{0, std::span(memory).first(2)}});
  scatter.write(std::vector<std::byte>(4, std::byte{9}));
  EXPECT_EQ(memory[2], std::byte{0});
}

TEST(ScatterDeathTest, OverlappingSegmentsAreABugOfTheCaller) {
  std::vector<std::byte> memory(4);
  EXPECT_DEATH(Scatter({{0, std::span(memory).first(3)}, {2, std::span(memory).subspan(3)}}),
               "check failed");
}

}  // namespace
}  // namespace echoline::source
