// daemon.serve and the step `prepare`: which settings need each other, and the errors.
#include "config/preparation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/load.h"
#include "config/pipeline.h"

namespace echoline::config {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRead = "{read: {url: /a.tar}}, ";
constexpr const char* kDecode = "{decode: {i: {key: jpg, as: rgb}}}, ";
constexpr const char* kPrepare =
    "{prepare: {servers: 'h:9466', certificate: /c, key: /k, server_ca: /a}}, ";
constexpr const char* kBatch = "{batch: {size: 2}}";

Result<v1::Config> parsed(const std::string& steps, const std::string& daemon = "") {
  return parse_config("daemon: {" + daemon + "}\nstreams: {t: {pipeline: [" + steps + "]}}",
                      "t.yaml");
}

std::string outcome_of(const std::string& steps, const std::string& daemon = "") {
  const auto config = parsed(steps, daemon);
  return config.ok() ? "accepted" : config.status().message();
}

std::string serving(const std::string& serve) {
  return outcome_of(std::string(kRead) + kDecode + kPrepare + kBatch, "serve: {" + serve + "}");
}

TEST(PrepareStep, ComesAfterDecodeAndBeforeTheStepsOfTheHost) {
  const std::string read = kRead;
  const std::string decode = kDecode;
  const std::string prepare = kPrepare;
  const std::string cache = "{cache: {memory: 1MiB}}, ";
  const std::string crop = "{random_crop: {field: i, size: 8}}, ";
  const std::string echo = "{echo: {factor: 2, window: 9}}, ";
  EXPECT_EQ(outcome_of(read + decode + prepare + echo + crop + kBatch), "accepted");
  EXPECT_EQ(outcome_of(read + cache + decode + prepare + kBatch), "accepted");
  EXPECT_EQ(outcome_of(read + decode + cache + prepare + kBatch), "accepted");
  EXPECT_EQ(outcome_of(read + decode + prepare + cache + kBatch), "accepted");
  const auto misplaced =
      HasSubstr("it belongs after 'decode' and the steps without draws, before 'echo'");
  EXPECT_THAT(outcome_of(read + prepare + decode + kBatch), misplaced);
  EXPECT_THAT(outcome_of(read + decode + echo + prepare + kBatch), misplaced);
  EXPECT_THAT(outcome_of(read + decode + prepare + prepare + kBatch), HasSubstr("given twice"));
}

TEST(PrepareStep, NamesServersByHostAndPort) {
  EXPECT_EQ(server_address("dns:///prep.train.svc:9466"), "prep.train.svc:9466");
  EXPECT_EQ(server_address("10.0.0.7:9466"), "10.0.0.7:9466");
  for (const char* bad : {"", "prep", "http://prep:9466", "dns:///prep", "dns://prep:9466"}) {
    EXPECT_EQ(server_address(bad), "") << bad;
  }
  EXPECT_THAT(outcome_of(std::string(kRead) + kDecode +
                         "{prepare: {servers: [prep], certificate: /c, key: /k, server_ca: /a}}, " +
                         kBatch),
              HasSubstr("key 'servers': 'prep' is no address; allowed: host:port"));
}

TEST(PrepareStep, RefusesDecodingForOneCrop) {
  EXPECT_THAT(
      outcome_of(std::string(kRead) + "{decode: {i: {key: jpg, as: rgb, fast: true}}}, " +
                 kPrepare + kBatch),
      HasSubstr("key 'fast': decodes for one crop, but a preparation server decodes whole"));
}

TEST(PrepareStep, DividesTheCaches) {
  const auto before =
      parsed(std::string(kRead) + "{cache: {memory: 1MiB}}, " + kDecode + kPrepare + kBatch);
  ASSERT_TRUE(before.ok());
  const v1::Stream& stream = before->streams().at("t");
  EXPECT_NE(cache_step(with_own_cache(stream, true)), nullptr);
  EXPECT_EQ(cache_step(with_own_cache(stream, false)), nullptr);
  const auto after =
      parsed(std::string(kRead) + kDecode + kPrepare + "{cache: {memory: 1MiB}}, " + kBatch);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(cache_step(with_own_cache(after->streams().at("t"), true)), nullptr);
  EXPECT_NE(cache_step(with_own_cache(after->streams().at("t"), false)), nullptr);
  const v1::Stream served = up_to_prepare(stream);
  EXPECT_TRUE(served.pipeline(served.pipeline_size() - 1).has_prepare());
}

TEST(PrepareStep, MayFollowOtherStepsButNotADecodedCacheWithThem) {
  const std::string crop = "{center_crop: {field: i, size: 4}}, ";
  EXPECT_TRUE(parsed(std::string(kRead) + kDecode + crop + kPrepare + kBatch).ok());
  EXPECT_THAT(outcome_of(std::string(kRead) + kDecode + "{cache: {memory: 1MiB}}, " + crop +
                         kPrepare + kBatch),
              HasSubstr("move 'cache' after 'read' (on the servers) or after 'prepare'"));
}

TEST(ServeConfig, NeedsFilesNamesAndSomethingToServe) {
  const std::string files = "certificate: /c, key: /k, client_ca: /a, ";
  const std::string listen = "listen: '0.0.0.0:9466', ";
  EXPECT_EQ(serving(listen + files + "allow: [CN=host]"), "accepted");
  EXPECT_THAT(serving(listen + "allow: [CN=host]"), HasSubstr("'certificate' is missing: a "
                                                              "preparation server speaks TLS"));
  EXPECT_THAT(serving(listen + files), HasSubstr("'allow' is missing"));
  EXPECT_THAT(serving(listen + files + "allow: [alice]"),
              HasSubstr("key 'allow': 'alice' names no certificate"));
  EXPECT_THAT(serving("listen: nowhere, " + files + "allow: [CN=host]"),
              HasSubstr("'nowhere' is no address"));
  EXPECT_THAT(serving("allow: [CN=host]"), HasSubstr("key 'allow': of no use without 'listen'"));
  EXPECT_THAT(outcome_of(std::string(kRead) + kDecode + kBatch,
                         "serve: {" + listen + files + "allow: [CN=host]}"),
              HasSubstr("no stream has a 'prepare' step, so there is nothing to serve"));
}

}  // namespace
}  // namespace echoline::config
