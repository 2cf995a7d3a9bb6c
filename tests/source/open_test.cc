// Configurations that open_source refuses, and the messages.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "source/open/open_source.h"
#include "source/reading.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OpenTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION"})
      ::unsetenv(name);
    ::setenv("AWS_ACCESS_KEY_ID", "open-access-key", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "open-secret-key", 1);
    read_.add_url("s3://bucket/*");
    read_.set_endpoint("http://127.0.0.1:1");
  }

  Status status() { return open_source(read_).status(); }

  v1::Read read_;
};

TEST_F(OpenTest, AnUnreachableEndpointFailsSoonAndInOneLine) {
  const std::uint64_t start = monotonic_ns();
  const Status refused = status();
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("s3://bucket/"), HasSubstr("check the endpoint"),
                                       Not(HasSubstr("\n"))));
  EXPECT_LT(monotonic_ns() - start, 10 * kSecondNs);
}

TEST_F(OpenTest, AnUnknownHostIsNamed) {
  read_.set_endpoint("http://no-such-host.invalid:9000");
  EXPECT_THAT(status().message(), HasSubstr("no-such-host.invalid"));
}

TEST_F(OpenTest, MissingKeysSayWhichVariableToSet) {
  ::unsetenv("AWS_ACCESS_KEY_ID");
  EXPECT_EQ(status().code(), Code::kPermissionDenied);
  EXPECT_THAT(status().message(),
              AllOf(HasSubstr("set AWS_ACCESS_KEY_ID"), HasSubstr("anonymous")));
}

TEST_F(OpenTest, SchemesCannotBeMixed) {
  read_.add_url("/data/x.tar");
  EXPECT_THAT(status().message(), HasSubstr("different schemes"));
}

TEST_F(OpenTest, NoUrlIsRefused) {
  read_.clear_url();
  EXPECT_THAT(status().message(), HasSubstr("read.url is missing"));
}

TEST_F(OpenTest, EndpointsAndRegionsThatCannotBeAreRefusedWithoutTheirPasswords) {
  for (const char* endpoint :
       {"127.0.0.1:9000", "ftp://host", "http://", "http://user:password@host", "http://host/path",
        "http://ho st", "http://host?x"}) {
    read_.set_endpoint(endpoint);
    EXPECT_EQ(status().code(), Code::kInvalidArgument) << endpoint;
    EXPECT_THAT(status().message(), Not(HasSubstr("password")));
  }
  read_.set_endpoint("http://127.0.0.1:1");
  read_.set_region("us east");
  EXPECT_THAT(status().message(), HasSubstr("region \"us east\""));
}

TEST_F(OpenTest, TheEndpointMayComeFromTheEnvironment) {
  read_.clear_endpoint();
  ::setenv("AWS_ENDPOINT_URL", "http://from-environment.invalid", 1);
  EXPECT_THAT(status().message(), HasSubstr("from-environment.invalid"));
  ::unsetenv("AWS_ENDPOINT_URL");
}

TEST_F(OpenTest, TheEndpointMayComeFromTheProfile) {
  char name[] = "/tmp/echoline-profile-XXXXXX";
  ::close(::mkstemp(name));
  std::ofstream(name) << "[photos]\naws_access_key_id=a\naws_secret_access_key=b\n"
                         "endpoint_url = http://from-profile.invalid\n";
  read_.clear_endpoint();
  read_.set_credentials_file(name);
  read_.set_profile("photos");
  EXPECT_THAT(status().message(), HasSubstr("from-profile.invalid"));
  ::unlink(name);
}

// An index is found by the endpoint in use, wherever that is configured.
TEST_F(OpenTest, TheEndpointInUseIsKnownBeforeOpening) {
  EXPECT_EQ(with_endpoint(read_).endpoint(), "http://127.0.0.1:1");
  read_.clear_endpoint();
  EXPECT_EQ(with_endpoint(read_).endpoint(), "");
  ::setenv("AWS_ENDPOINT_URL", "http://all.invalid", 1);
  EXPECT_EQ(with_endpoint(read_).endpoint(), "http://all.invalid");
  ::setenv("AWS_ENDPOINT_URL_S3", "http://s3.invalid", 1);
  EXPECT_EQ(with_endpoint(read_).endpoint(), "http://s3.invalid");
  v1::Read local;
  local.add_url("/data/x.tar");
  EXPECT_EQ(with_endpoint(local).endpoint(), "");
  ::setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1", 1);
  v1::Read google;
  google.add_url("gs://bucket/*");
  EXPECT_EQ(with_endpoint(google).endpoint(), "http://127.0.0.1:1");
  for (const char* name : {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "STORAGE_EMULATOR_HOST"}) {
    ::unsetenv(name);
  }
}

TEST_F(OpenTest, AnEmulatorIsShownTheKeyFileThatIsNamed) {
  ::setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1", 1);
  v1::Read read;
  read.add_url("gs://bucket/*");
  read.set_credentials_file("/no/such/key.json");
  EXPECT_THAT(open_source(read).status().message(), HasSubstr("/no/such/key.json"));
  ::unsetenv("STORAGE_EMULATOR_HOST");
}

TEST_F(OpenTest, AThrottleSlowsLocalFiles) {
  char name[] = "/tmp/echoline-open-XXXXXX";
  const int file = ::mkstemp(name);
  ASSERT_EQ(::ftruncate(file, 100'000), 0);
  v1::Read read;
  read.add_url(name);
  read.mutable_throttle()->set_rate(1'000'000);
  auto source = open_source(read);
  ASSERT_TRUE(source.ok());
  const ObjectInfo info = (*source)->list(name)->at(0);
  const std::uint64_t start = monotonic_ns();
  EXPECT_TRUE(read_range(**source, info, 0, 100'000).ok());
  EXPECT_GE(monotonic_ns() - start, kSecondNs / 10);
  ::close(file);
  ::unlink(name);
}

}  // namespace
}  // namespace echoline::source
