#include "prepare/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "decode/object_runs.h"
#include "sample_answers.h"

namespace echoline::prepare {
namespace {

constexpr SampleKey kKey{.record = 77, .epoch = 0};

std::vector<std::byte> good_frame() {
  decode::Sample sample = sample_of(1);
  return joined(make_frame(kKey, sample, nullptr));
}

Status opened(std::span<const std::byte> frame, Content& content) {
  return open_frame(frame, kKey, sample_fields(), content);
}

void expect_refused(std::span<const std::byte> frame, const char* what) {
  Content content;
  const Status status = opened(frame, content);
  EXPECT_EQ(status.code(), Code::kDataLoss) << what;
}

TEST(Frames, HaveTheTensorsOfTheirSample) {
  const std::vector<std::byte> frame = good_frame();
  Content content;
  ASSERT_TRUE(opened(frame, content).ok());
  EXPECT_TRUE(content.bad.ok());
  const decode::Sample expected = sample_of(1);
  ASSERT_EQ(content.sample.tensors.size(), expected.tensors.size());
  for (std::size_t i = 0; i < expected.tensors.size(); ++i) {
    const decode::Tensor& tensor = content.sample.tensors[i];
    EXPECT_EQ(tensor.dtype, expected.tensors[i].dtype);
    EXPECT_EQ(tensor.shape, expected.tensors[i].shape);
    const auto found = tensor.content();
    const auto wanted = expected.tensors[i].content();
    EXPECT_TRUE(std::equal(found.begin(), found.end(), wanted.begin(), wanted.end()));
    // Nothing is copied.
    EXPECT_TRUE(found.data() >= frame.data() && found.data() < frame.data() + frame.size());
  }
}

TEST(Frames, CarryTheReasonOfABadRecord) {
  const std::string reason = "field image: broken\n" + std::string(2 * kReasonBytesMax, 'x');
  Content content;
  ASSERT_TRUE(
      opened(joined(make_frame(kKey, Status(Code::kResourceExhausted, reason))), content).ok());
  EXPECT_EQ(content.bad.code(), Code::kResourceExhausted);
  EXPECT_EQ(content.bad.message().size(), kReasonBytesMax);
  // It appears in logs.
  EXPECT_TRUE(content.bad.message().starts_with("field image: broken?"));
}

TEST(Frames, KeepTheSourceOfLargeBorrowedTensorsAndCopyOthers) {
  const auto source = std::make_shared<Buffer>(200);
  std::ranges::fill(source->span(), std::byte{9});
  const std::vector<std::byte> elsewhere(7, std::byte{8});
  decode::Sample sample = sample_of(1);
  sample.tensors[0].borrowed = source->span().subspan(10, 60);
  sample.tensors[1].borrowed = source->span().subspan(90, 8);  // a small part
  sample.tensors[2].borrowed = elsewhere;
  const Frame frame = make_frame(kKey, sample, source);
  EXPECT_EQ(frame.parts[1].bytes.data(), source->data() + 10);
  EXPECT_EQ(frame.parts[1].owner, source);
  for (const std::size_t copied : {2, 3}) {
    EXPECT_EQ(frame.parts[copied].bytes.data(), frame.parts[copied].owner->data());
  }
  const std::vector<std::byte> bytes = joined(frame);
  EXPECT_TRUE(agrees(bytes, crc32c(0, std::span(bytes).subspan(kChecksummedFrom))));
  Content content;
  ASSERT_TRUE(opened(bytes, content).ok());
  for (const auto& [tensor, value] : {std::pair{0, 9}, {1, 9}, {2, 8}}) {
    EXPECT_EQ(content.sample.tensors[tensor].content().back(), std::byte(value)) << tensor;
  }
}

TEST(Frames, WithAnyBitFlippedDisagreeWithTheirChecksum) {
  std::vector<std::byte> frame = good_frame();
  const auto crc = [&] { return crc32c(0, std::span(frame).subspan(kChecksummedFrom)); };
  EXPECT_TRUE(agrees(frame, crc()));
  for (std::size_t at = 4; at < frame.size(); ++at) {
    frame[at] ^= std::byte{0x10};
    EXPECT_FALSE(agrees(frame, crc())) << at;
    frame[at] ^= std::byte{0x10};
  }
}

TEST(Frames, ThatAreCutOrTooLongAreRefused) {
  std::vector<std::byte> frame = good_frame();
  for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
    expect_refused(std::span(frame).first(bytes), "cut");
  }
  frame.push_back({});
  expect_refused(frame, "too long");
}

TEST(Frames, OfAnotherRecordOrEpochAreRefused) {
  Content content;
  const std::vector<std::byte> frame = good_frame();
  const auto fields = sample_fields();
  EXPECT_EQ(open_frame(frame, {78, 0}, fields, content).code(), Code::kDataLoss);
  EXPECT_EQ(open_frame(frame, {77, 1}, fields, content).code(), Code::kDataLoss);
}

TEST(Frames, OfOtherFieldsAreRefused) {
  const std::vector<std::byte> frame = good_frame();
  Content content;
  for (std::size_t field = 0; field < sample_fields().size(); ++field) {
    auto fields = sample_fields();
    fields[field].dtype = shm::kUint16;
    EXPECT_EQ(open_frame(frame, kKey, fields, content).code(), Code::kDataLoss) << field;
  }
  auto fields = sample_fields();
  fields.pop_back();
  EXPECT_EQ(open_frame(frame, kKey, fields, content).code(), Code::kDataLoss);
  fields = sample_fields();
  fields[2].shape.sizes[0] = 6;  // the text has 7
  EXPECT_EQ(open_frame(frame, kKey, fields, content).code(), Code::kDataLoss);
  fields = sample_fields();
  fields[0].shape.sizes[2] = 1;  // gray
  EXPECT_EQ(open_frame(frame, kKey, fields, content).code(), Code::kDataLoss);
  fields = sample_fields();
  fields[3].shape.sizes[0] = 3;
  EXPECT_EQ(open_frame(frame, kKey, fields, content).code(), Code::kDataLoss);
}

TEST(Frames, WithImpossibleMasksOfObjectsAreRefused) {
  const std::vector<decode::FieldType> fields = {decode::object_masks_type(2)};
  const auto opened_with = [&](std::uint32_t objects, const decode::ObjectRun& run) {
    decode::ObjectRuns masks;
    masks.start({4, 5}, objects);
    masks.runs = {run};
    decode::Sample sample;
    store(masks, sample.tensors.emplace_back());
    Content content;
    return open_frame(joined(make_frame(kKey, sample, nullptr)), kKey, fields, content).code();
  };
  EXPECT_EQ(opened_with(2, {1, 4, 0, 4}), Code::kOk);
  EXPECT_EQ(opened_with(3, {1, 4, 0, 4}), Code::kDataLoss);  // more objects than the field has
  EXPECT_EQ(opened_with(2, {2, 4, 0, 4}), Code::kDataLoss);
  EXPECT_EQ(opened_with(2, {1, 5, 0, 4}), Code::kDataLoss);
}

TEST(Frames, WithSizesThatOverflowAreRefused) {
  std::vector<std::byte> frame = good_frame();
  // The sizes of the first field begin after the frame's header and its type and rank.
  const std::uint32_t huge = 0xffffffff;
  std::memcpy(frame.data() + 32 + 8, &huge, sizeof huge);
  std::memcpy(frame.data() + 32 + 12, &huge, sizeof huge);
  expect_refused(frame, "overflow");
}

}  // namespace
}  // namespace echoline::prepare
