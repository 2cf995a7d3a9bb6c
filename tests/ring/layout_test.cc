#include "ring/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "small_ring.h"

namespace echoline::ring {
namespace {

std::vector<shm::Section> sections_of(const Layout& layout, std::uint64_t page_bytes) {
  std::vector<shm::Section> sections{{0, page_bytes},
                                     layout.header.fields,
                                     layout.header.descriptors,
                                     layout.header.writer,
                                     layout.header.factor_log};
  if (layout.header.weight_log.bytes != 0) sections.push_back(layout.header.weight_log);
  for (const shm::FieldEntry& entry : layout.fields) {
    sections.push_back(entry.arena);
    if (entry.offsets.bytes != 0) sections.push_back(entry.offsets);
  }
  return sections;
}

TEST(Layout, SectionsAreAdjacentWholePagesForAnySpec) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  for (int round = 0; round < 500; ++round) {
    RingSpec spec = small_spec(1 + below(20), 1 + below(40));
    spec.fields.push_back(field("odd", shm::kFloat32, {1 + below(300), 1 + below(3)}));
    if (below(2) == 0)
      spec.fields.push_back(ragged_field("tokens", shm::kUint16, {1 + below(5000)}));
    if (below(2) == 0)
      spec.fields.push_back(ragged_field("boxes", shm::kFloat32, {1 + below(99), 4}));
    spec.has_weights = below(2) == 0;
    const std::uint64_t page_bytes = shm::kPageBytes << 2 * below(3);  // as aarch64 has them
    const Result<Layout> layout = compute_layout(spec, page_bytes);
    ASSERT_TRUE(layout.ok()) << layout.status().message();
    std::uint64_t end = 0;
    for (const shm::Section& section : sections_of(layout.value(), page_bytes)) {
      ASSERT_EQ(section.offset, end);
      ASSERT_EQ(section.bytes % page_bytes, 0U);
      ASSERT_GT(section.bytes, 0U);
      end = section.offset + section.bytes;
    }
    ASSERT_EQ(layout.value().header.total_bytes, end);
    if (page_bytes == system_page_bytes()) {
      ASSERT_EQ(ring_bytes(spec), end);
    }
  }
}

TEST(Layout, AnArenaHoldsAllSlotsAndWastesLessThanAPage) {
  // 299 x 299 x 3 is odd: an arena of whole rows and whole pages would need 1.1 GB.
  for (const std::uint32_t side : {1U, 28U, 105U, 299U}) {
    RingSpec spec = small_spec(4, 3);
    spec.fields = {field("image", shm::kUint8, {side, side, 3})};
    const Result<Layout> layout = compute_layout(spec);
    ASSERT_TRUE(layout.ok());
    const shm::FieldEntry& entry = layout.value().fields[0];
    const std::uint64_t needed = std::uint64_t{12} * side * side * 3;
    EXPECT_EQ(entry.arena_rows, 12U);
    EXPECT_GE(entry.arena.bytes, needed);
    EXPECT_LT(entry.arena.bytes, needed + system_page_bytes());
  }
}

TEST(Layout, TheWordsOfEachRowFollowTheStreamsOwnFields) {
  const Result<Layout> layout = compute_layout(small_spec());
  ASSERT_TRUE(layout.ok());
  const auto& fields = layout.value().fields;
  ASSERT_EQ(fields.size(), 5U);
  EXPECT_STREQ(fields[layout.value().sample_id_field()].name, shm::kSampleIdField);
  EXPECT_STREQ(fields[layout.value().use_field()].name, shm::kUseField);
  EXPECT_STREQ(fields[layout.value().flags_field()].name, shm::kRowFlagsField);
  EXPECT_EQ(fields[2].row_bytes, 8U);
  EXPECT_EQ(fields[3].row_bytes, 4U);
}

// The error for a valid spec after one change.
template <typename Change>
std::string refusal(Change change) {
  RingSpec spec = small_spec();
  change(spec);
  const Result<Layout> layout = compute_layout(spec);
  EXPECT_EQ(layout.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ring_bytes(spec), std::numeric_limits<std::uint64_t>::max());
  return layout.status().message();
}

TEST(Layout, AnInvalidSpecIsRefusedWithTheNameOfTheMember) {
  const auto expect = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(refusal([](RingSpec& s) { s.fields[0].fixed = false; }), "'image' has no fixed shape");
  expect(refusal([](RingSpec& s) { s.fields[1].name = "image"; }), "two fields are named 'image'");
  expect(refusal([](RingSpec& s) { s.fields[1].name = "__use__"; }), "the ring's own");
  expect(refusal([](RingSpec& s) { s.fields[1].name = std::string(64, 'x'); }), "1 to 63 bytes");
  expect(refusal([](RingSpec& s) { s.fields[1].name.clear(); }), "1 to 63 bytes");
  expect(refusal([](RingSpec& s) { s.fields[0].shape.sizes[1] = 0; }), "no bytes");
  expect(refusal([](RingSpec& s) { s.fields[0].dtype = static_cast<shm::DType>(99); }),
         "element type");
  expect(refusal([](RingSpec& s) { s.fields[0].shape.rank = 7; }), "rank 7");
  expect(refusal([](RingSpec& s) { s.batch_rows = 0; }), "0 rows per batch");
  expect(refusal([](RingSpec& s) { s.slot_count = 0; }), "0 slots");
  expect(refusal([](RingSpec& s) { s.descriptors_live = 0; }), "0 live");
  expect(refusal([](RingSpec& s) { s.descriptors_live = s.slot_count + 1; }), "need as many slots");
}

TEST(Layout, SizesThatOverflowAreRefusedNotWrapped) {
  EXPECT_NE(refusal([](RingSpec& s) {
              s.fields[0].shape = field("x", shm::kUint8, {~0U, ~0U, ~0U, ~0U, ~0U, ~0U}).shape;
            }).find("too many bytes"),
            std::string::npos);
  EXPECT_NE(refusal([](RingSpec& s) {
              s.fields[0] = field("image", shm::kFloat64, {1U << 20, 1U << 19});
              s.batch_rows = 1U << 20;
              s.slot_count = 1U << 20;
            }).find("lower batch.size"),
            std::string::npos);
}

TEST(Layout, BatchEchoMayHaveMoreLiveBatchesThanSlots) {
  RingSpec spec = small_spec(3);
  spec.flags |= shm::kRingBatchEcho;
  spec.descriptors_live = 9;
  const Result<Layout> layout = compute_layout(spec);
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  EXPECT_EQ(layout.value().header.descriptor_count, 16U);
}

}  // namespace
}  // namespace echoline::ring
