#include <gtest/gtest.h>

#include <cstring>

#include "serve/door/door_codec.h"
#include "test_trainer.h"

namespace echoline::serve {
namespace {

Result<shm::AttachRequest> parse(const shm::AttachRequest& request) {
  return parse_request(std::as_bytes(std::span(&request, 1)));
}

// The refusal of a good request after one change to it.
template <typename Change>
Status refusal(Change change) {
  shm::AttachRequest request = good_request();
  change(request);
  return parse(request).status();
}

void expect_invalid(const Status& status, const std::string& part) {
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(DoorMessage, AGoodRequestPasses) { EXPECT_TRUE(parse(good_request()).ok()); }

TEST(DoorMessage, AnotherVersionIsRefusedWithBothVersionsAndWhatToDo) {
  for (const Status& status :
       {refusal([](auto& r) { r.door_major = 9; }), refusal([](auto& r) { r.layout_major = 9; })}) {
    EXPECT_EQ(status.code(), Code::kFailedPrecondition);
    EXPECT_NE(status.message().find("9."), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("this daemon door 1."), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("install"), std::string::npos);
  }
}

TEST(DoorMessage, AnotherVersionOfAnotherLengthIsRefusedForItsVersion) {
  shm::AttachRequest request = good_request();
  request.door_major = 2;
  const auto bytes = std::as_bytes(std::span(&request, 1));
  EXPECT_EQ(parse_request(bytes.first(100)).status().code(), Code::kFailedPrecondition);
}

TEST(DoorMessage, AHigherMinorIsServed) {
  EXPECT_TRUE(refusal([](auto& r) { r.door_minor = 5; }).ok());
  EXPECT_TRUE(refusal([](auto& r) { r.layout_minor = 5; }).ok());
}

TEST(DoorMessage, EveryLengthButThoseWithAndWithoutWeightsIsRefused) {
  shm::AttachRequest request = good_request();
  request.weight_count = 3;
  std::vector<std::byte> bytes(sizeof request + 16);
  std::memcpy(bytes.data(), &request, sizeof request);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto parsed = parse_request(std::span(bytes).first(length));
    const bool is_short = length == shm::kRequestBytesWithoutWeights;
    ASSERT_EQ(parsed.ok(), is_short || length == sizeof request) << length;
    if (parsed.ok()) {
      EXPECT_EQ(parsed->weight_count, is_short ? 0U : 3U);
    }
  }
}

TEST(DoorMessage, ImpossibleValuesAreRefusedByName) {
  expect_invalid(refusal([](auto& r) { r.magic = 0; }), "not a message");
  expect_invalid(refusal([](auto& r) { std::memset(r.stream, 'x', sizeof r.stream); }),
                 "stream's name is not zero");
  expect_invalid(refusal([](auto& r) { std::memset(r.job, 'x', sizeof r.job); }),
                 "job's name is not zero");
  expect_invalid(refusal([](auto& r) { r.stream[0] = 0; }), "stream's name is empty");
  expect_invalid(refusal([](auto& r) { r.job[0] = '\n'; }), "control characters");
  expect_invalid(refusal([](auto& r) { r.job[0] = '\xff'; }), "job's name is not UTF-8");
  expect_invalid(refusal([](auto& r) { r.world_size = 0; }), "world size 0");
  expect_invalid(refusal([](auto& r) { r.rank = 1; }), "rank 1 of world size 1");
  expect_invalid(refusal([](auto& r) { r.join = 5; }), "join 5");
  expect_invalid(refusal([](auto& r) { r.change_count = 65; }), "65 changes");
  expect_invalid(refusal([](auto& r) { r.weight_count = 17; }), "17 changes of the weights");
  expect_invalid(refusal([](auto& r) { r.reattaching = 2; }), "flag");
  expect_invalid(refusal([](auto& r) { r.has_fingerprint = 3; }), "flag");
  expect_invalid(refusal([](auto& r) { r.local_ranks = r.world_size + 1; }), "on this host");
  expect_invalid(refusal([](auto& r) {
                   r.change_count = 2;
                   r.changes[0].ahead = 1;
                 }),
                 "order of their epochs");
}

TEST(DoorMessage, AReasonThatIsTooLongIsCutAndEnded) {
  const shm::AttachReply reply = make_reply(Status(Code::kInternal, std::string(5000, 'x')));
  EXPECT_EQ(std::strlen(reply.message), shm::kTextBytes - 1);
  const shm::Notice notice =
      make_notice(shm::kNoticeFailed, Status(Code::kDataLoss, std::string(5000, 'y')));
  EXPECT_EQ(std::strlen(notice.message), shm::kTextBytes - 1);
  EXPECT_EQ(notice.code, static_cast<std::uint32_t>(Code::kDataLoss));
}

}  // namespace
}  // namespace echoline::serve
