#include "user_code/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace echoline::user_code {
namespace {

using testing::HasSubstr;

// The words of a reply, as a worker writes them.
struct Words {
  std::uint32_t kind = 1;
  std::uint32_t count = 1;
  std::uint64_t sequence = 4;
  std::uint32_t dtype = shm::kUint8;
  std::uint32_t rank = 1;
  std::uint32_t sizes[6] = {8};
  std::uint64_t offset = 64;
};

std::vector<std::byte> bytes_of(const Words& words) {
  std::vector<std::byte> bytes(sizeof words);
  std::memcpy(bytes.data(), &words, sizeof words);
  return bytes;
}

std::vector<std::byte> text_reply(std::uint32_t kind, std::string_view text) {
  const Words head{.kind = kind, .count = 0};
  std::vector<std::byte> bytes = bytes_of(head);
  bytes.resize(16);
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

const decode::FieldType kEight{.name = "x", .fixed = true, .shape = {{8}, 1}};

TEST(Replies, AResultSaysWhereItsArraysAre) {
  const Result<Reply> reply = decode_reply(bytes_of({}));
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  EXPECT_EQ(reply->sequence, 4U);
  ASSERT_EQ(reply->arrays.size(), 1U);
  EXPECT_EQ(reply->arrays[0].offset, 64U);
  EXPECT_TRUE(check_array(reply->arrays[0], kEight, 72).ok());
}

TEST(Replies, AnArrayOutsideTheSharedMemoryIsRefused) {
  Words words;
  for (const std::uint64_t offset : {std::uint64_t{65}, ~std::uint64_t{0}, ~std::uint64_t{0} - 7}) {
    words.offset = offset;
    const Result<Reply> reply = decode_reply(bytes_of(words));
    ASSERT_TRUE(reply.ok());
    EXPECT_THAT(check_array(reply->arrays[0], kEight, 72).message(), HasSubstr("not within"));
  }
}

TEST(Replies, SizesWhoseProductOverflowsAreRefused) {
  Words words{.rank = 3, .sizes = {1U << 31, 1U << 31, 4}};
  EXPECT_FALSE(decode_reply(bytes_of(words)).ok());
  words = {.rank = 7};
  EXPECT_FALSE(decode_reply(bytes_of(words)).ok());
  // Zero elements, whatever the other sizes are.
  words = {.rank = 3, .sizes = {0, 1U << 31, 1U << 31}};
  const Result<Reply> reply = decode_reply(bytes_of(words));
  EXPECT_TRUE(!reply.ok() || !check_array(reply->arrays[0], kEight, 72).ok());
}

TEST(Replies, MessagesOfAWrongLengthOrKindAreRefused) {
  std::vector<std::byte> bytes = bytes_of({});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode_reply(std::span(bytes).first(length)).ok()) << length;
  }
  EXPECT_FALSE(decode_reply(bytes_of({.kind = 9})).ok());
  EXPECT_FALSE(decode_reply(bytes_of({.count = ~0U})).ok());
}

TEST(Replies, AnErrorHasItsGroupOneLineAndATraceback) {
  const Result<Reply> reply =
      decode_reply(text_reply(2, std::string_view("group\0line\0many\nlines\xff", 22)));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->kind, ReplyKind::kRaised);
  EXPECT_EQ(reply->group, "group");
  EXPECT_EQ(reply->summary, "line");
  EXPECT_EQ(reply->details, "many\nlines\xEF\xBF\xBD");
  const Result<Reply> cut = decode_reply(text_reply(4, "only"));
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->details, "");
  EXPECT_EQ(cut->length, 4U) << "of the first message: the length of a data set";
  EXPECT_EQ(reply->length, 0U);
}

TEST(Replies, TypesAndShapesOtherThanTheDeclaredOnesAreRefused) {
  const decode::FieldType picture{.name = "p", .image = true, .shape = {{0, 0, 3}, 3}};
  const decode::FieldType ragged{.name = "r", .ragged = true, .shape = {{5}, 1}};
  EXPECT_TRUE(check_type(shm::kUint8, {{4, 6, 3}, 3}, picture).ok());
  EXPECT_FALSE(check_type(shm::kUint8, {{4, 6, 1}, 3}, picture).ok());
  EXPECT_FALSE(check_type(shm::kUint8, {{4, 0, 3}, 3}, picture).ok());
  EXPECT_FALSE(check_type(shm::kUint8, {{4, 6}, 2}, picture).ok());
  EXPECT_TRUE(check_type(shm::kUint8, {{0}, 1}, ragged).ok());
  EXPECT_TRUE(check_type(shm::kUint8, {{5}, 1}, ragged).ok());
  EXPECT_FALSE(check_type(shm::kUint8, {{6}, 1}, ragged).ok());
  EXPECT_FALSE(check_type(shm::kUint8, {}, ragged).ok());
  const decode::FieldType boxes{.name = "b", .ragged = true, .shape = {{5, 4}, 2}};
  EXPECT_TRUE(check_type(shm::kUint8, {{3, 4}, 2}, boxes).ok());
  EXPECT_FALSE(check_type(shm::kUint8, {{3, 5}, 2}, boxes).ok());
  EXPECT_FALSE(check_type(shm::kUint8, {{6, 4}, 2}, boxes).ok());
  const decode::FieldType normalized{.name = "n", .shape = {{0, 0, 3}, 3}};
  EXPECT_TRUE(check_type(shm::kUint8, {{3, 4, 6}, 3}, normalized).ok());
  EXPECT_FALSE(check_type(shm::kUint8, {{3, 4}, 2}, normalized).ok());
  EXPECT_THAT(check_type(shm::kInt8, {{8}, 1}, kEight).message(), HasSubstr("int8"));
}

// Samples of two inputs of `bytes` each.
struct Samples {
  Samples(std::size_t count, std::uint32_t bytes) {
    tensor.shape = {{bytes}, 1};
    tensor.bytes.resize(bytes);
    calls.resize(count);
    for (SampleCall& call : calls) call.arguments = arguments;
  }

  decode::Tensor tensor;
  const decode::Tensor* arguments[2] = {&tensor, &tensor};
  std::vector<SampleCall> calls;
  std::vector<decode::FieldType> inputs{kEight, {.name = "r", .ragged = true, .shape = {{8}, 1}}};
};

TEST(Calls, ASampleThatIsLargerThanItsMemoryIsRefused) {
  const Samples one(1, 100);
  const Status refused = lay_out(one.calls, one.inputs, false, 255).status();
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("a sample of 256 bytes"));
  const auto layout = lay_out(one.calls, one.inputs, false, 256);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->bytes, 256U);
  EXPECT_EQ(layout->places[1].offset, 128U);
}

TEST(Calls, OnlyFieldsOfAFixedShapeAreOneArrayOfAllSamples) {
  const Samples three(3, 8);
  const auto offsets = [&](bool stacked) {
    std::vector<std::uint64_t> found;
    const Result<Layout> layout = lay_out(three.calls, three.inputs, stacked, 1024);
    for (const ArrayPlace& place : layout.value().places) found.push_back(place.offset);
    return found;
  };
  // By sample and input.
  EXPECT_THAT(offsets(true), testing::ElementsAre(0, 64, 8, 128, 16, 192));
  EXPECT_THAT(offsets(false), testing::ElementsAre(0, 192, 64, 256, 128, 320));
}

TEST(Calls, AsManySamplesAsFitIntoAMessageAreOneCall) {
  EXPECT_EQ(samples_in_message(1, 1), kSamplesMax);
  for (const std::size_t fields : {1UL, 30UL, kFieldsMax}) {
    const Samples some(samples_in_message(fields, 1), 0);
    const std::vector<ArrayPlace> places(some.calls.size() * fields);
    EXPECT_LE(encode_call(1, 2, some.calls, places).size(), kMessageBytesMax);
    EXPECT_GE(some.calls.size(), 6U);
  }
}

}  // namespace
}  // namespace echoline::user_code
