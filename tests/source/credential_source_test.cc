// When credentials are fetched, renewed and given up, with a fake provider.
#include "source/credentials/credential_source.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "source/credential_wait.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A provider without a network.
struct Answers {
  std::atomic<int> started{0};
  std::time_t lifetime = 3600;
  Status failure;
};

class MadeUpProvider : public CredentialProvider {
 public:
  explicit MadeUpProvider(Answers& answers) : answers_(answers) {}

  Result<CredentialStep> start(std::time_t now) override {
    const std::string number = std::to_string(++answers_.started);
    if (!answers_.failure.ok()) return answers_.failure;
    const std::time_t expires = answers_.lifetime == 0 ? 0 : now + answers_.lifetime;
    return CredentialStep(Credentials{"key" + number, "hush" + number, "token" + number, expires});
  }
  std::string what() const override { return "the test"; }

 private:
  Answers& answers_;
};

class CredentialSourceTest : public testing::Test {
 protected:
  Verdict at(std::time_t seconds) { return source_.ready(now_ + seconds); }
  std::string key() const { return source_.current().access_key; }

  Answers answers_;
  CredentialSource source_{std::make_unique<MadeUpProvider>(answers_), ""};
  const Status refusal_{Code::kPermissionDenied, "the store answered 403"};
  const std::time_t now_ = 1'700'000'000;
};

TEST_F(CredentialSourceTest, TheyAreFetchedOnceAndRenewedFiveMinutesBeforeTheirEnd) {
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(at(3299).status.ok());
  EXPECT_EQ(key(), "key1");
  EXPECT_TRUE(at(3300).status.ok());
  EXPECT_EQ(key(), "key2");
  EXPECT_TRUE(at(3301).status.ok());
  EXPECT_EQ(answers_.started, 2);
}

TEST_F(CredentialSourceTest, ShortLivesAreRenewedAfterThreeQuarters) {
  answers_.lifetime = 100;
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(at(74).status.ok());
  EXPECT_EQ(answers_.started, 1);
  EXPECT_TRUE(at(75).status.ok());
  EXPECT_EQ(answers_.started, 2);
}

TEST_F(CredentialSourceTest, WithoutAnEndTheyAreKept) {
  answers_.lifetime = 0;
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(at(1'000'000'000).status.ok());
  EXPECT_EQ(answers_.started, 1);
}

TEST_F(CredentialSourceTest, AFailedRenewalIsNotNoticedUntilTheirEndAndPasses) {
  EXPECT_TRUE(at(0).status.ok());
  answers_.failure = Status(Code::kPermissionDenied, "no, hush1");
  EXPECT_TRUE(at(3400).status.ok());
  EXPECT_EQ(answers_.started, 2);
  const Verdict expired = at(3600);
  EXPECT_TRUE(expired.retry);
  EXPECT_THAT(expired.status.message(),
              AllOf(HasSubstr("credentials from the test: no"), Not(HasSubstr("hush"))));
  answers_.failure = {};
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(at(3600).status.ok());
}

TEST_F(CredentialSourceTest, FailuresAreNotRepeatedInALoop) {
  EXPECT_TRUE(at(0).status.ok());
  answers_.failure = Status(Code::kUnavailable, "busy");
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(at(3600).status.ok());
  EXPECT_LE(answers_.started, 3);
}

TEST_F(CredentialSourceTest, WhatIsRefusedAtTheStartIsFinal) {
  answers_.failure = Status(Code::kPermissionDenied, "no such account");
  const Verdict refused = at(0);
  EXPECT_FALSE(refused.retry);
  EXPECT_EQ(refused.status.code(), Code::kPermissionDenied);
}

TEST_F(CredentialSourceTest, WhatMayPassAtTheStartIsTriedThreeTimes) {
  answers_.failure = Status(Code::kUnavailable, "busy");
  EXPECT_TRUE(at(0).retry);
  const Status status = wait_ready(source_);
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(answers_.started, 3);
}

TEST_F(CredentialSourceTest, AKeyThatNoStoreHasAcceptedIsReadAgainOnce) {
  answers_.lifetime = 0;
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(source_.reject(refusal_).retry);
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_EQ(key(), "key2");
  const Verdict second = source_.reject(refusal_);
  EXPECT_FALSE(second.retry);
  EXPECT_EQ(second.status.code(), Code::kPermissionDenied);
  EXPECT_EQ(second.status.message(), refusal_.message());
}

TEST_F(CredentialSourceTest, AKeyThatWasAcceptedIsReadAgainWithPausesAndRequestsWait) {
  answers_.lifetime = 0;
  EXPECT_TRUE(at(0).status.ok());
  source_.note_accepted();
  for (int i = 0; i < 100; ++i) {
    const Verdict verdict = source_.reject(refusal_);
    EXPECT_TRUE(verdict.retry);
    EXPECT_EQ(verdict.status.code(), Code::kUnavailable);
    EXPECT_EQ(verdict.status.message(), refusal_.message());
    EXPECT_TRUE(at(0).status.ok());
  }
  EXPECT_EQ(answers_.started, 2);
}

TEST_F(CredentialSourceTest, WhenTheyCannotBeReadAgainThePresentOnesStay) {
  answers_.lifetime = 0;
  EXPECT_TRUE(at(0).status.ok());
  source_.note_accepted();
  answers_.failure = Status(Code::kPermissionDenied, "half a file");
  EXPECT_TRUE(source_.reject(refusal_).retry);
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_EQ(key(), "key1");
}

TEST(KeyRefusals, AKeyThatWasAcceptedIsReadAfterEachPause) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  KeyRefusals refusals;
  refusals.accept(100 * kSecond);
  std::vector<std::uint64_t> read;
  for (std::uint64_t now = 1000 * kSecond; now < 1032 * kSecond; now += kSecond / 4) {
    const KeyRefusals::Answer answer = refusals.refuse(now);
    EXPECT_TRUE(answer.retry);
    EXPECT_EQ(answer.is_first, now == 1000 * kSecond);
    if (answer.read_again) read.push_back(now / kSecond - 1000);
  }
  EXPECT_THAT(read, testing::ElementsAre(0, 1, 3, 7, 15, 23, 31));
  EXPECT_FALSE(refusals.accept(1033 * kSecond));
  EXPECT_TRUE(refusals.accept(1043 * kSecond));
  EXPECT_FALSE(refusals.accept(1044 * kSecond));
}

TEST(KeyRefusals, AStoreThatAcceptsTheKeyForOthersRefusesOnlyThisRequest) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  KeyRefusals refusals;
  refusals.accept(1000 * kSecond);
  EXPECT_FALSE(refusals.refuse(1001 * kSecond).is_only_this);
  // An answer to a request that was sent before the key was replaced.
  refusals.accept(1003 * kSecond);
  EXPECT_FALSE(refusals.refuse(1003 * kSecond).is_only_this);
  refusals.accept(1005 * kSecond);
  const KeyRefusals::Answer answer = refusals.refuse(1006 * kSecond);
  EXPECT_TRUE(answer.is_only_this);
  EXPECT_FALSE(answer.read_again);
}

TEST_F(CredentialSourceTest, ManyThreadsShareOneFetch) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this] {
      for (int j = 0; j < 1000; ++j) {
        EXPECT_TRUE(at(0).status.ok());
        EXPECT_EQ(source_.current().access_key, "key1");
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(source_.fetched_count(), 1U);
}

TEST_F(CredentialSourceTest, NothingOfTheCurrentOrTheLastOnesIsLeftInAText) {
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(at(3500).status.ok());
  EXPECT_EQ(source_.scrubbed("key1 hush1 token1 key2 hush2 token2 x"), "... ... ... ... ... ... x");
}

TEST(FixedCredentials, TheyAreAlwaysReadyAndNoRejectionChangesThat) {
  CredentialSource fixed(Credentials{"a", "b", "", 0});
  EXPECT_TRUE(fixed.ready(0).status.ok());
  const Verdict verdict = fixed.reject(Status(Code::kPermissionDenied, "no"));
  EXPECT_FALSE(verdict.retry);
  EXPECT_EQ(verdict.status.code(), Code::kPermissionDenied);
  EXPECT_FALSE(fixed.is_anonymous());
  EXPECT_TRUE(CredentialSource(Credentials()).is_anonymous());
}

TEST(SharedCredentials, OneKeyIsOneSourceForAsLongAsItIsHeld) {
  const auto make = [] { return std::make_shared<CredentialSource>(Credentials()); };
  auto first = shared_credentials("test a", make);
  EXPECT_EQ(shared_credentials("test a", make), first);
  EXPECT_NE(shared_credentials("test b", make), first);
  const std::weak_ptr<CredentialSource> watch = first;
  first.reset();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace echoline::source
