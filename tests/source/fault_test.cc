// A store that fails in many ways: never a wrong byte, never a hang, the documented error.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "servers/server_process.h"
#include "source/fault_object.h"
#include "source/open/open_source.h"
#include "source/reading.h"
#include "source/store/object_listing.h"
#include "source/store/s3_store.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FaultTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = std::make_unique<ServerProcess>("fault_server.py"); }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    ASSERT_TRUE(server_->ready()) << "tests/servers/fault_server.py did not start";
    ::setenv("AWS_ACCESS_KEY_ID", "fault-access-key", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "fault-secret-key", 1);
    open(2'000'000'000);
  }

  void open(std::uint64_t timeout_ns, std::uint32_t concurrency = 128) {
    v1::Read read;
    read.add_url("s3://bucket/ok");
    read.set_endpoint(server_->fact("endpoint"));
    read.set_timeout(timeout_ns);
    read.set_concurrency(concurrency);
    auto opened = open_source(read);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    source_ = std::move(opened).value();
  }

  // Reads two segments of an object with this behaviour; checks the bytes if the read succeeds.
  Status read(const std::string& behaviour) {
    static const std::string content = object_content();
    std::string first(300'000, 0);
    std::string second(400'000, 0);
    const ObjectInfo object = {"s3://bucket/" + behaviour + "-" + std::to_string(++reads_),
                               kObjectBytes, "v1"};
    source_->submit({1, object, {{1000, bytes_of(first)}, {500'000, bytes_of(second)}}});
    Status status = wait_for(*source_, 1)[1];
    if (status.ok()) {
      EXPECT_TRUE(first == content.substr(1000, first.size())) << behaviour;
      EXPECT_TRUE(second == content.substr(500'000, second.size())) << behaviour;
    }
    return status;
  }

  std::uint64_t retried() const { return source_->counters().requests_retried; }

  std::unique_ptr<Source> source_;
  int reads_ = 0;
  static std::unique_ptr<ServerProcess> server_;
};

std::unique_ptr<ServerProcess> FaultTest::server_;

TEST_F(FaultTest, FailuresThatPassAreRetriedUntilTheBytesAreThere) {
  for (const char* behaviour : {"slow503-3", "error500-1", "short-2", "reset-2", "contradict-1",
                                "shifted-1", "garbage-1", "endless-1"}) {
    const std::uint64_t before = retried();
    const Status status = read(behaviour);
    EXPECT_TRUE(status.ok()) << behaviour << ": " << status.message();
    EXPECT_GT(retried(), before) << behaviour;
  }
  EXPECT_EQ(source_->counters().arriving, 0U);
}

TEST_F(FaultTest, BytesCountAsArrivingUntilTheirAnswerEnds) {
  std::string bytes(kObjectBytes, 0);
  source_->submit(
      {1, {"s3://bucket/stall-1-arriving", kObjectBytes, "v1"}, {{0, bytes_of(bytes)}}});
  std::vector<ReadResult> done;
  std::uint64_t most = 0;
  const std::uint64_t deadline = monotonic_ns() + 60 * kSecondNs;
  while (done.empty() && monotonic_ns() < deadline) {
    source_->poll(monotonic_ns() + kSecondNs / 100, done);
    most = std::max(most, source_->counters().arriving);
  }
  ASSERT_EQ(done.size(), 1U);
  EXPECT_TRUE(done.front().status.ok()) << done.front().status.message();
  EXPECT_GT(most, 0U);
  EXPECT_LE(most, kObjectBytes);
  EXPECT_EQ(source_->counters().arriving, 0U);
}

TEST_F(FaultTest, AStallAndASilenceAreGivenUpAndTriedAgain) {
  EXPECT_TRUE(read("stall-1").ok());
  EXPECT_TRUE(read("silent-1").ok());
  EXPECT_EQ(retried(), 2U);
}

TEST_F(FaultTest, AStoreThatSaysWhenToComeBackIsObeyed) {
  const std::uint64_t start = monotonic_ns();
  EXPECT_TRUE(read("busy429-1").ok());
  EXPECT_GE(monotonic_ns() - start, kSecondNs);
}

TEST_F(FaultTest, AWriteThatFailsIsMadeAgainFromItsStart) {
  const std::string content = pattern_bytes(3 << 20);
  for (const char* name : {"slow503-2-put", "reset-1-put"}) {
    const std::uint64_t before = retried();
    const Status status = source_->put(std::string("s3://bucket/") + name, content);
    EXPECT_TRUE(status.ok()) << name << ": " << status.message();
    EXPECT_GT(retried(), before) << name;
  }
}

TEST_F(FaultTest, ALongWriteIsNoStallWhileBytesGoOut) {
  open(8 * kSecondNs);  // the stall limit is a quarter of that
  const std::uint64_t start = monotonic_ns();
  const Status status = source_->put("s3://bucket/sip-9-put", pattern_bytes(16 << 20));
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_GT(monotonic_ns() - start, 2 * kSecondNs);
  EXPECT_EQ(retried(), 0U);
}

TEST_F(FaultTest, OddButRightAnswersAreUnderstood) {
  for (const char* behaviour : {"whole-9", "chunked-9"}) {
    const Status status = read(behaviour);
    EXPECT_TRUE(status.ok()) << behaviour << ": " << status.message();
  }
  EXPECT_EQ(retried(), 0U);
}

TEST_F(FaultTest, WhatNeverPassesEndsWithinTheTimeOutWithItsReason) {
  open(2 * kSecondNs);
  const std::pair<const char*, const char*> cases[] = {
      {"slow503-999", "503 SlowDown (Please reduce your request rate.)"},
      {"error500-999", "answered 500"},
      {"silent-999", "the server stalled"},
      {"drip-999", "given up after attempt"},
      {"shifted-999", "the answer is for"},
      {"longline-999", "the header of the answer does not end within 64 KiB"},
      {"longhead-999", "the header of the answer does not end within 64 KiB"},
      {"garbage-999", "the transfer broke"}};
  for (const auto& [behaviour, text] : cases) {
    const std::uint64_t start = monotonic_ns();
    const Status status = read(behaviour);
    EXPECT_FALSE(status.ok()) << behaviour;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(text), HasSubstr(behaviour)));
    EXPECT_LT(monotonic_ns() - start, 8 * kSecondNs) << behaviour;
  }
}

TEST_F(FaultTest, AListingThatFailsKeepsNoPartOfTheLimit) {
  open(2 * kSecondNs, 4);
  EXPECT_FALSE(source_->list("s3://bucket/nothing/*.txt").ok());
  EXPECT_TRUE(read("ok-0").ok());
  EXPECT_EQ(source_->counters().limit, 4U) << "a member that was left would add to it";
}

TEST_F(FaultTest, WithoutAFreeDescriptorTheErrorSaysSo) {
  open(2 * kSecondNs);
  const int next_free = ::dup(0);
  ::close(next_free);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none_left{static_cast<rlim_t>(next_free), limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  const Status status = read("ok-0");
  ::setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_THAT(status.message(), HasSubstr("Too many open files; raise the limit of open files"));
}

TEST_F(FaultTest, AnObjectThatIsNotThereIsAnAnswerAndNoFailure) {
  EXPECT_EQ(source_->list("s3://bucket/absent-9-x").status().code(), Code::kNotFound);
  EXPECT_EQ(source_->counters().requests_failed, 0U);
}

TEST_F(FaultTest, WhatCannotPassIsFinalAtOnce) {
  EXPECT_EQ(read("denied-999").code(), Code::kPermissionDenied);
  EXPECT_EQ(read("changed-999").code(), Code::kFailedPrecondition);
  EXPECT_EQ(read("grown-999").code(), Code::kFailedPrecondition);
  const Status moved = read("moved-999");
  EXPECT_EQ(moved.code(), Code::kInvalidArgument);
  EXPECT_THAT(moved.message(), HasSubstr("set `region: eu-west-1`"));
  EXPECT_EQ(retried(), 0U);
}

TEST_F(FaultTest, AStoreThatRepeatsOurKeysDoesNotGetThemIntoMessages) {
  EXPECT_THAT(read("denied-999").message(),
              AllOf(HasSubstr("AccessDenied"), Not(HasSubstr("fault-access-key")),
                    Not(HasSubstr("fault-secret-key"))));
}

TEST_F(FaultTest, AnEndlessListingIsNoticed) {
  EXPECT_THAT(source_->list("s3://loop-bucket/*").status().message(), HasSubstr("repeats a page"));
}

TEST_F(FaultTest, AListingIsBoundedInPagesObjectsAndBytes) {
  S3Options s3{.endpoint = server_->fact("endpoint"), .region = "us-east-1", .credentials = {}};
  s3.credentials = std::make_shared<CredentialSource>(Credentials{"key", "secret", "", 0}, "here");
  const auto store = S3Store::open(std::move(s3)).value();
  SharedCounters counters;
  HttpOperations operations(OperationLimits{}, counters);
  const auto refusal = [&](const std::string& url) {
    ObjectListing listing(*store, operations, {.empty_pages_max = 5, .objects_max = 35}, counters);
    return listing.list({url}).status();
  };
  const Status empty = refusal("s3://empty-bucket/*");
  EXPECT_EQ(empty.code(), Code::kResourceExhausted);
  EXPECT_THAT(empty.message(), HasSubstr("has only empty pages after 0 objects"));
  EXPECT_EQ(counters.snapshot().requests_ok, 6U);
  const Status endless = refusal("s3://endless-bucket/*");
  EXPECT_EQ(endless.code(), Code::kResourceExhausted);
  EXPECT_THAT(endless.message(), HasSubstr("has no end after 40 objects; name fewer objects"));
  EXPECT_THAT(refusal("s3://long-bucket/*").message(), HasSubstr("is unreasonably long"));
}

TEST_F(FaultTest, AListingThatIsNoneIsAnError) {
  open(2'000'000'000);
  EXPECT_THAT(source_->list("s3://html-bucket/*").status().message(),
              HasSubstr("can't be understood"));
}

TEST_F(FaultTest, GoodReadsGoOnBesideFailingOnes) {
  static const std::string content = object_content();
  const ObjectInfo good = {"s3://bucket/fine", kObjectBytes, "v1"};
  const ObjectInfo bad = {"s3://bucket/silent-999-beside", kObjectBytes, "v1"};
  std::string lost(1000, 0);
  source_->submit({0, bad, {{0, bytes_of(lost)}}});
  for (std::uint64_t i = 1; i <= 50; ++i) {
    std::string bytes(1000, 0);
    source_->submit({i, good, {{i * 1000, bytes_of(bytes)}}});
    EXPECT_TRUE(wait_for(*source_, 1)[i].ok());
    EXPECT_EQ(bytes, content.substr(i * 1000, 1000));
  }
  EXPECT_EQ(source_->counters().in_flight, 1U);
  EXPECT_FALSE(wait_for(*source_, 1)[0].ok());
}

TEST_F(FaultTest, ASourceCanBeDestroyedInMidTransfer) {
  std::string bytes(1000, 0);
  const ObjectInfo object = {"s3://bucket/silent-999-left", kObjectBytes, "v1"};
  source_->submit({0, object, {{0, bytes_of(bytes)}}});
  std::vector<ReadResult> done;
  source_->poll(monotonic_ns() + kSecondNs / 20, done);
  source_.reset();
}

// It is still sending: a hedge would share its bandwidth.
TEST_F(FaultTest, AWriteThatTakesLongIsNotMadeASecondTime) {
  open(20 * kSecondNs);
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(source_->put("s3://bucket/quick-" + std::to_string(i), "bytes").ok());
  }
  EXPECT_TRUE(source_->put("s3://bucket/sip-9-alone", pattern_bytes(4 << 20)).ok());
  EXPECT_EQ(source_->counters().hedges_won + source_->counters().hedges_lost, 0U);
}

TEST_F(FaultTest, WakeEndsAPollAtOnceOrTheNextOne) {
  std::vector<ReadResult> done;
  const std::uint64_t start = monotonic_ns();
  source_->wake();
  source_->poll(start + 60 * kSecondNs, done);
  std::thread waker([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    source_->wake();
  });
  source_->poll(start + 60 * kSecondNs, done);
  EXPECT_LT(monotonic_ns() - start, 5 * kSecondNs);
  waker.join();
}

TEST(TlsTest, ACertificateIsTrustedOnlyIfItsAuthorityIsNamed) {
  const ServerProcess server("fault_server.py", {"--tls"});
  if (server.missing()) GTEST_SKIP() << "no openssl to make a certificate with";
  ASSERT_TRUE(server.ready());
  ::setenv("AWS_ACCESS_KEY_ID", "fault-access-key", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "fault-secret-key", 1);
  v1::Read read;
  read.add_url("s3://bucket/ok");
  read.set_endpoint(server.fact("endpoint"));
  const Status refused = open_source(read).status();
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  EXPECT_THAT(refused.message(), HasSubstr("AWS_CA_BUNDLE"));
  ::setenv("AWS_CA_BUNDLE", server.fact("ca_file").c_str(), 1);
  auto source = open_source(read);
  ::unsetenv("AWS_CA_BUNDLE");
  ASSERT_TRUE(source.ok()) << source.status().message();
  const ObjectInfo info = (*source)->list("s3://bucket/ok")->at(0);
  EXPECT_EQ(read_range(**source, info, 0, kObjectBytes).value().size(), kObjectBytes);
}

}  // namespace
}  // namespace echoline::source
