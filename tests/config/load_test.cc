// Loaded configurations: values, defaults, merges, overrides.
#include "config/load.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "config/pipeline.h"
#include "config/rules.h"
#include "echoline/v1/options.pb.h"

namespace echoline::config {
namespace {

// The example of the documentation, without the keys of later versions.
constexpr char kExample[] = R"(
daemon:
  runtime_dir: /run/echoline
  metrics: 127.0.0.1:9464
  state_dir: /var/lib/echoline
  memory: 12GiB
  workers: auto
streams:
  train:
    seed: 7
    lanes: 1
    bad_records: {policy: replace, limit: 1%}
    pipeline:
      - read:    {url: "s3://photos/train-{000000..000004}.tar", format: webdataset}
      - cache:   {memory: 2GiB}
      - shuffle: {window: 10000}
      - decode:  {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}
      - echo:    {factor: 2.5, window: 10000}
      - random_resized_crop: {field: image, size: [224, 224], scale: [0.08, 1.0], ratio: [0.75, 1.3333333]}
      - horizontal_flip:     {field: image, probability: 0.5}
      - batch:   {size: 256, last: drop}
      - publish: {slots: 8}
)";

v1::Config parsed(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto config = parse_config(text, "t.yaml", overrides);
  EXPECT_TRUE(config.ok()) << config.status().message();
  return config.ok() ? *config : v1::Config();
}

std::string stream_with(const std::string& steps, const std::string& rest = "") {
  return "streams:\n  a:\n    pipeline:\n      - read: {url: /x.tar}\n" + steps +
         "      - batch: {size: 8}\n" + rest;
}

constexpr char kDecode[] = "      - decode: {image: {key: jpg, as: rgb}}\n";
constexpr char kEcho[] = "      - echo: {factor: 2, window: 100}\n";
constexpr char kFlip[] = "      - horizontal_flip: {field: image}\n";

TEST(Config, OfTheUsersExampleHasEveryValueInBaseUnits) {
  const v1::Config config = parsed(kExample);
  EXPECT_EQ(config.daemon().memory(), 12ULL << 30);
  EXPECT_EQ(config.daemon().workers(), 0U);
  EXPECT_EQ(config.daemon().runtime_dir(), "/run/echoline");
  const v1::Stream& train = config.streams().at("train");
  EXPECT_EQ(train.seed(), 7U);
  EXPECT_DOUBLE_EQ(train.bad_records().limit(), 0.01);
  EXPECT_EQ(read_step(train).url(0), "s3://photos/train-{000000..000004}.tar");
  EXPECT_EQ(cache_step(train)->memory(), 2ULL << 30);
  EXPECT_EQ(shuffle_step(train)->window(), 10000U);
  EXPECT_EQ(echo_factor(train), 2500U);
  EXPECT_EQ(echo_factor_max(train), 2500U);
  EXPECT_EQ(echo_place(train), EchoPlace::kSample);
  EXPECT_EQ(decode_step(train).fields().at("label").as(), "int64");
  EXPECT_EQ(batch_step(train).size(), 256U);
  EXPECT_EQ(publish_step(train).slots(), 8U);
}

TEST(Config, WithoutValuesHasTheDefaultsOfTheSchema) {
  const v1::Config config = parsed(stream_with(kDecode));
  EXPECT_EQ(config.daemon().metrics(), "auto");
  EXPECT_EQ(config.daemon().memory(), 2ULL << 30);
  EXPECT_EQ(config.daemon().reattach_grace(), 10'000'000'000U);
  EXPECT_DOUBLE_EQ(config.daemon().seek_index(), 0.05);
  EXPECT_FALSE(config.daemon().runtime_dir().empty());
  EXPECT_FALSE(config.daemon().state_dir().empty());
  const v1::Stream& stream = config.streams().at("a");
  EXPECT_EQ(stream.lanes(), 1U);
  EXPECT_EQ(stream.bad_records().policy(), "replace");
  EXPECT_EQ(read_step(stream).format(), "auto");
  EXPECT_EQ(read_step(stream).timeout(), 60'000'000'000U);
  EXPECT_FALSE(read_step(stream).has_throttle());
  EXPECT_EQ(batch_step(stream).last(), "drop");
  EXPECT_EQ(stream.pipeline().rbegin()->step_case(), v1::Step::kPublish);
  EXPECT_EQ(publish_step(stream).slots(), 8U);
  EXPECT_TRUE(publish_step(stream).sealed());
  EXPECT_EQ(echo_place(stream), EchoPlace::kNone);
  EXPECT_EQ(echo_factor(stream), 1000U);
}

TEST(Config, KeepsAZeroThatWasWritten) {
  const v1::Config config = parsed(stream_with(
      std::string(kDecode) + "      - horizontal_flip: {field: image, probability: 0}\n"));
  EXPECT_EQ(config.streams().at("a").pipeline(2).horizontal_flip().probability(), 0);
}

TEST(Config, DerivesTheEchoPointFromThePositionOfEcho) {
  const auto place = [](const std::string& steps, const std::string& rest = "") {
    return echo_place(parsed(stream_with(steps, rest)).streams().at("a"));
  };
  const std::string decode = kDecode;
  EXPECT_EQ(place(kEcho + decode + kFlip), EchoPlace::kRecord);
  EXPECT_EQ(place(decode + kEcho + kFlip), EchoPlace::kSample);
  EXPECT_EQ(place(decode + kEcho), EchoPlace::kSample);
  EXPECT_EQ(place(decode + kFlip + kEcho + kFlip), EchoPlace::kSample);
  EXPECT_EQ(place(decode + kFlip + kEcho), EchoPlace::kAugmented);
  EXPECT_EQ(place(decode + kFlip, kEcho), EchoPlace::kBatch);
}

TEST(Config, TheWordAutoIsAnEchoWithTheDefaultsOfAutomaticFactors) {
  const std::string decode = kDecode;
  const auto step = [](const std::string& steps, const std::string& rest = "") {
    const v1::Config config = parsed(stream_with(steps, rest));
    return *echo_step(config.streams().at("a"));
  };
  const v1::Echo word = step(decode + "      - echo: auto\n" + kFlip);
  const v1::Echo mapping = step(decode + "      - echo: {factor: auto}\n" + kFlip);
  EXPECT_EQ(word.SerializeAsString(), mapping.SerializeAsString());
  EXPECT_EQ(word.factor(), 0U);
  EXPECT_EQ(word.max(), 4000U);
  const std::uint64_t size = batch_step(parsed(stream_with(decode)).streams().at("a")).size();
  EXPECT_EQ(word.window(), 32 * size);
  // What no batch with two uses of one record needs: 3 * 19 batches, and some rows.
  EXPECT_EQ(step(decode + "      - echo: {factor: auto, max: 20}\n").window(), 57 * (size + 21));
  EXPECT_EQ(step(decode, "      - echo: auto\n").window(), 32U);
  const v1::Config placeless = parsed(stream_with(decode), {"streams.a.echo=auto"});
  EXPECT_EQ(placeless.streams().at("a").echo().SerializeAsString(), word.SerializeAsString());
}

TEST(Config, TakesOneUrlOrSeveralAndOneSizeOrTwo) {
  const v1::Config config = parsed(
      "streams: {a: {pipeline: [{read: {url: [x, y]}}, {decode: {i: {key: jpg, as: rgb}}}, "
      "{resize: "
      "{field: i, size: 256}}, {batch: {size: 2}}]}}");
  EXPECT_EQ(config.streams().at("a").pipeline(0).read().url_size(), 2);
  EXPECT_EQ(config.streams().at("a").pipeline(2).resize().size_size(), 1);
}

TEST(Config, ShufflesEverythingWithAll) {
  const v1::Config config =
      parsed(stream_with("      - shuffle: {window: all}\n" + std::string(kDecode)));
  EXPECT_EQ(shuffle_step(config.streams().at("a"))->window(),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Config, FollowsAnchorsAndMergeKeys) {
  const v1::Config config = parsed(R"(
streams:
  train: &base
    seed: 7
    pipeline: &steps
      - read: {url: x}
      - decode: {image: {key: jpg, as: rgb}}
      - batch: {size: 4}
  test:
    <<: *base
    seed: 9
)");
  EXPECT_EQ(config.streams().at("train").seed(), 7U);
  EXPECT_EQ(config.streams().at("test").seed(), 9U);
  EXPECT_EQ(batch_step(config.streams().at("test")).size(), 4U);
}

TEST(Config, TakesOverridesByDottedPath) {
  const v1::Config config = parsed(
      kExample,
      {"daemon.workers=4", "streams.train.seed=11", "daemon.metrics=off",
       "streams.train.pipeline.echo.factor=4", "streams.train.pipeline.0.url=[a, b]",
       "streams.train.pipeline.decode.image.key=png", "streams.train.bad_records={policy: fail}",
       "streams.train.pipeline.publish={slots: 4}"});
  EXPECT_EQ(config.daemon().workers(), 4U);
  EXPECT_EQ(config.daemon().metrics(), "off");
  const v1::Stream& train = config.streams().at("train");
  EXPECT_EQ(train.seed(), 11U);
  EXPECT_EQ(echo_factor(train), 4000U);
  EXPECT_EQ(read_step(train).url_size(), 2);
  EXPECT_EQ(decode_step(train).fields().at("image").key(), "png");
  EXPECT_EQ(train.bad_records().policy(), "fail");
  EXPECT_EQ(publish_step(train).slots(), 4U);
}

TEST(Config, TakesFoldersFromTheEnvironmentWhereNoneIsWritten) {
  ::setenv("XDG_RUNTIME_DIR", "/tmp/of-a-user", 1);
  ::setenv("STATE_DIRECTORY", "/tmp/of-a-service", 1);
  const v1::Config config = parsed("daemon: {workers: 2}\n");
  ::unsetenv("XDG_RUNTIME_DIR");
  ::unsetenv("STATE_DIRECTORY");
  EXPECT_EQ(config.daemon().runtime_dir(), "/tmp/of-a-user/echoline");
  EXPECT_EQ(config.daemon().state_dir(), "/tmp/of-a-service");
}

TEST(Config, PrefersTheConfiguredRuntimeFolderToThatOfTheEnvironmentAndTheSession) {
  ::setenv("XDG_RUNTIME_DIR", "/tmp/of-a-user", 1);
  ::setenv("ECHOLINE_RUNTIME_DIR", "/tmp/chosen", 1);
  const v1::Config silent = parsed("daemon: {workers: 2}\n");
  const v1::Config written = parsed("daemon: {runtime_dir: /tmp/written}\n");
  ::unsetenv("ECHOLINE_RUNTIME_DIR");
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_EQ(silent.daemon().runtime_dir(), "/tmp/chosen");
  EXPECT_EQ(written.daemon().runtime_dir(), "/tmp/written");
}

TEST(StreamMessage, IsCheckedAndCompletedLikeOneFromAFile) {
  v1::Stream stream = parsed(stream_with(kDecode)).streams().at("a");
  EXPECT_TRUE(complete_stream("b", stream).ok());
  for (v1::Step& step : *stream.mutable_pipeline()) {
    if (step.has_batch()) step.mutable_batch()->set_size(0);
  }
  EXPECT_EQ(complete_stream("b", stream).message(),
            "stream 'b': key 'size': 0 is out of range; allowed: 1 to 1048576");
  EXPECT_FALSE(complete_stream("no/name", stream).ok());
  // A client may send any text as the settings of a plugin.
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  for (const std::string& text : {std::string("[1]"), std::string("{"), "{\"a\":" + deep + "}"}) {
    v1::Stream plugin = parsed(stream_with(kDecode)).streams().at("a");
    for (v1::Step& step : *plugin.mutable_pipeline()) {
      if (!step.has_decode()) continue;
      v1::Plugin& settings = *step.mutable_plugin();
      settings.set_library("a.so");
      settings.set_step("s");
      settings.set_settings(text);
    }
    EXPECT_THAT(complete_stream("b", plugin).message(), testing::HasSubstr("key 'settings'"));
  }
}

TEST(SettingsOfPlugins, AreReadByTheCoreSchemaOfYaml) {
  const std::string yaml =
      "      - plugin: {library: a.so, step: s, settings: {booleans: [true, True, FALSE], nulls: "
      "[~, Null,"
      " ''], numbers: [.5, +1, -.5e1, 007, 5., 1e3, 0x1F, 0o17, -0, !!int 5, "
      "18446744073709551615], texts: ['1', \"true\", yes, "
      "1.2.3,"
      " 0x, ., +, -, 1e, !!str 5]}}\n";
  const v1::Config config = parsed(stream_with(std::string(kDecode) + yaml));
  for (const v1::Step& step : config.streams().at("a").pipeline()) {
    if (!step.has_plugin()) continue;
    EXPECT_EQ(step.plugin().settings(),
              R"({"booleans":[true,true,false],"nulls":[null,null,""],)"
              R"("numbers":[0.5,1,-5.0,7,5.0,1000.0,31,15,0,5,18446744073709551615],)"
              R"("texts":["1","true","yes","1.2.3","0x",".","+","-","1e","5"]})");
  }
}

// Without `optional`, a value of 0 could not be distinguished from a missing one.
void expect_presence(const google::protobuf::Descriptor& message) {
  for (int i = 0; i < message.field_count(); ++i) {
    const auto& field = *message.field(i);
    const FieldRules rules = rules_of(field);
    if (!field.is_repeated() && (rules.required || !rules.default_value.empty())) {
      EXPECT_TRUE(field.has_presence()) << field.full_name();
    }
  }
}

TEST(Schema, KnowsWhetherAValueWasWritten) {
  const google::protobuf::FileDescriptor& file = *v1::Config::descriptor()->file();
  for (int i = 0; i < file.message_type_count(); ++i) expect_presence(*file.message_type(i));
}

}  // namespace
}  // namespace echoline::config
