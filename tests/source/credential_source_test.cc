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
  Result<CredentialStep> answer(const HttpResponse&, std::string_view, std::time_t) override {
    return Status(Code::kInternal, "nothing was asked");
  }
  Status refuse(int, std::string_view) const override { return {}; }
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
  const std::time_t now_ = 1'700'000'000;
};

TEST_F(CredentialSourceTest, they_are_fetched_once_and_renewed_five_minutes_before_their_end) {
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(at(3299).status.ok());
  EXPECT_EQ(key(), "key1");
  EXPECT_TRUE(at(3300).status.ok());
  EXPECT_EQ(key(), "key2");
  EXPECT_TRUE(at(3301).status.ok());
  EXPECT_EQ(answers_.started, 2);
}

TEST_F(CredentialSourceTest, short_lives_are_renewed_after_three_quarters) {
  answers_.lifetime = 100;
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(at(74).status.ok());
  EXPECT_EQ(answers_.started, 1);
  EXPECT_TRUE(at(75).status.ok());
  EXPECT_EQ(answers_.started, 2);
}

TEST_F(CredentialSourceTest, without_an_end_they_are_kept) {
  answers_.lifetime = 0;
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(at(1'000'000'000).status.ok());
  EXPECT_EQ(answers_.started, 1);
}

TEST_F(CredentialSourceTest, a_failed_renewal_is_not_noticed_until_their_end_and_passes) {
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

TEST_F(CredentialSourceTest, failures_are_not_repeated_in_a_loop) {
  EXPECT_TRUE(at(0).status.ok());
  answers_.failure = Status(Code::kUnavailable, "busy");
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(at(3600).status.ok());
  EXPECT_LE(answers_.started, 3);
}

TEST_F(CredentialSourceTest, what_is_refused_at_the_start_is_final) {
  answers_.failure = Status(Code::kPermissionDenied, "no such account");
  const Verdict refused = at(0);
  EXPECT_FALSE(refused.retry);
  EXPECT_EQ(refused.status.code(), Code::kPermissionDenied);
}

TEST_F(CredentialSourceTest, what_may_pass_at_the_start_is_tried_three_times) {
  answers_.failure = Status(Code::kUnavailable, "busy");
  EXPECT_TRUE(at(0).retry);
  const Status status = wait_ready(source_);
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(answers_.started, 3);
}

TEST_F(CredentialSourceTest, rejected_ones_are_fetched_anew_but_not_for_ever) {
  answers_.lifetime = 0;
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(source_.reject());
  EXPECT_TRUE(at(0).status.ok());
  const std::string renewed = key();
  for (int i = 0; i < 100; ++i) {
    source_.reject();
    EXPECT_TRUE(at(0).status.ok());
  }
  EXPECT_EQ(key(), renewed);
  std::this_thread::sleep_for(std::chrono::milliseconds(3100));
  EXPECT_FALSE(source_.reject());
}

TEST_F(CredentialSourceTest, many_threads_share_one_fetch) {
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

TEST_F(CredentialSourceTest, nothing_of_the_current_or_the_last_ones_is_left_in_a_text) {
  EXPECT_TRUE(at(0).status.ok());
  EXPECT_TRUE(at(3500).status.ok());
  EXPECT_EQ(source_.scrubbed("key1 hush1 token1 key2 hush2 token2 x"), "... ... ... ... ... ... x");
}

TEST(FixedCredentials, they_are_always_ready_and_no_rejection_changes_that) {
  CredentialSource fixed(Credentials{"a", "b", "", 0});
  EXPECT_TRUE(fixed.ready(0).status.ok());
  EXPECT_FALSE(fixed.reject());
  EXPECT_FALSE(fixed.is_anonymous());
  EXPECT_TRUE(CredentialSource(Credentials()).is_anonymous());
}

TEST(SharedCredentials, one_key_is_one_source_for_as_long_as_it_is_held) {
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
