// What the functions of the C ABI say when they are called wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

#include "client/server_process.h"
#include "echoline/echoline.h"

namespace echoline::test {
namespace {

using testing::HasSubstr;
using testing::StrEq;

class CAbi : public testing::Test {
 protected:
  void SetUp() override {
    echoline_attach_options options = this->options();
    ASSERT_EQ(echoline_attach(&options, &loader_), ECHOLINE_OK) << echoline_last_error();
    ASSERT_EQ(echoline_next(loader_, 20'000, &batch_), ECHOLINE_OK) << echoline_last_error();
  }
  void TearDown() override {
    echoline_batch_release(batch_);
    echoline_detach(loader_);
  }
  echoline_attach_options options() const {
    echoline_attach_options options;
    echoline_attach_options_init(&options, sizeof options);
    options.stream = "train";
    options.runtime_dir = server_.dir().c_str();
    return options;
  }
  // The text of an attach that must be refused.
  std::string refusal(const echoline_attach_options& options) {
    echoline_loader* loader = loader_;
    EXPECT_EQ(echoline_attach(&options, &loader), ECHOLINE_INVALID_ARGUMENT);
    EXPECT_EQ(loader, nullptr);
    return echoline_last_error();
  }
  template <typename Structure>
  static Structure sized() {
    Structure made{};
    made.size = sizeof made;
    return made;
  }

  ServerProcess server_;
  echoline_loader* loader_ = nullptr;
  echoline_batch* batch_ = nullptr;
};

constexpr const char* kNoPointer = "a pointer that is needed is NULL";
constexpr const char* kNoSize = "a batch or a structure with a size is missing";

TEST_F(CAbi, MissingPointersAreNamed) {
  auto info = sized<echoline_batch_info>();
  auto unsized = info;
  unsized.size = 0;
  const echoline_attach_options good = options();
  const struct {
    int status;
    const char* text;
  } calls[] = {
      {echoline_attach(&good, nullptr), kNoPointer},
      {echoline_next(nullptr, 0, &batch_), kNoPointer},
      {echoline_next(loader_, 0, nullptr), kNoPointer},
      {echoline_steps_per_epoch(loader_, nullptr), kNoPointer},
      {echoline_loader_get_info(loader_, nullptr), kNoPointer},
      {echoline_report(loader_, nullptr, nullptr, 1, nullptr), kNoPointer},
      {echoline_take_news(loader_, nullptr, 0), kNoPointer},
      {echoline_batch_get_info(nullptr, &info), kNoSize},
      {echoline_batch_get_info(batch_, nullptr), kNoSize},
      {echoline_batch_get_info(batch_, &unsized), kNoSize},
  };
  for (const auto& call : calls) EXPECT_EQ(call.status, ECHOLINE_INVALID_ARGUMENT) << call.text;
  // The text is that of the last error of this thread.
  EXPECT_STREQ(echoline_last_error(), kNoSize);
  EXPECT_EQ(echoline_next(loader_, 0, nullptr), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_STREQ(echoline_last_error(), kNoPointer);
  std::thread([] { EXPECT_STREQ(echoline_last_error(), ""); }).join();
}

TEST_F(CAbi, OptionsThatCannotBeAreNamed) {
  echoline_attach_options wrong = options();
  wrong.size = 0;
  EXPECT_THAT(refusal(wrong), StrEq("options without a size"));
  wrong = options();
  wrong.join = 9;
  EXPECT_THAT(refusal(wrong), StrEq("join must be start, current or next_epoch"));
  wrong = options();
  wrong.expect = "abc";
  EXPECT_THAT(refusal(wrong), HasSubstr("a fingerprint of 32 hexadecimal digits"));
  wrong = options();
  wrong.state = "{";
  EXPECT_THAT(refusal(wrong), HasSubstr("byte"));
}

TEST_F(CAbi, FieldsThatTheStreamLacksLeaveTheStructureAsItWas) {
  auto tensor = sized<echoline_tensor>();
  tensor.rank = 77;
  EXPECT_EQ(echoline_batch_get_tensor(batch_, 2, &tensor), ECHOLINE_NOT_FOUND);
  EXPECT_STREQ(echoline_last_error(), "the stream has 2 fields, no number 2");
  EXPECT_EQ(echoline_batch_find_tensor(batch_, "picture", &tensor), ECHOLINE_NOT_FOUND);
  EXPECT_STREQ(echoline_last_error(), "the stream has no field 'picture', but: image label");
  EXPECT_EQ(echoline_batch_find_tensor(batch_, nullptr, &tensor), ECHOLINE_NOT_FOUND);
  EXPECT_EQ(tensor.rank, 77U);
  auto field = sized<echoline_field>();
  EXPECT_EQ(echoline_loader_get_field(loader_, 2, &field), ECHOLINE_NOT_FOUND);
  EXPECT_STREQ(echoline_last_error(), "the stream has 2 fields, no number 2");
}

TEST_F(CAbi, AStructureOfAnOlderCallerIsNotWrittenBehindItsSize) {
  auto info = sized<echoline_batch_info>();
  std::memset(&info, 0x5A, sizeof info);
  info.size = offsetof(echoline_batch_info, rows);
  ASSERT_EQ(echoline_batch_get_info(batch_, &info), ECHOLINE_OK);
  EXPECT_EQ(info.size, offsetof(echoline_batch_info, rows));
  EXPECT_EQ(info.row, 0U);
  EXPECT_EQ(info.rows, 0x5A5A5A5AU);
}

TEST_F(CAbi, ABufferThatIsTooSmallForAStateIsToldTheLength) {
  char small[8] = "";
  std::size_t length = 0;
  EXPECT_EQ(echoline_state(loader_, small, sizeof small, &length), ECHOLINE_RESOURCE_EXHAUSTED);
  EXPECT_EQ(echoline_last_error(),
            "the state has " + std::to_string(length) + " bytes and a terminating zero");
  std::string fitting(length + 1, '?');
  EXPECT_EQ(echoline_state(loader_, fitting.data(), length, nullptr), ECHOLINE_RESOURCE_EXHAUSTED);
  ASSERT_EQ(echoline_state(loader_, fitting.data(), length + 1, nullptr), ECHOLINE_OK);
  EXPECT_EQ(std::strlen(fitting.c_str()), length);
}

TEST(CAbiTexts, EveryStatusHasOneAndLaterOnesAreUnknown) {
  EXPECT_STREQ(echoline_status_text(ECHOLINE_LEASE_HELD), "lease held");
  EXPECT_STREQ(echoline_status_text(ECHOLINE_FORKED), "forked");
  for (int status = 0; status <= ECHOLINE_INTERNAL; ++status) {
    EXPECT_STRNE(echoline_status_text(status), "") << status;
  }
  EXPECT_STREQ(echoline_status_text(9'999), "unknown status");
}

}  // namespace
}  // namespace echoline::test
