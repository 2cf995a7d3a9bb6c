// A written definition is read back unchanged.
#include "config/write.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "config/load.h"

namespace echoline::config {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;

constexpr char kStream[] = R"(streams:
  train:
    seed: 7
    bad_records: {policy: replace, limit: 2.5%}
    pipeline:
      - read: {url: ["s3://photos/a{0..4}.tar", "s3://photos/x\"y\n"], throttle: {latency: 30ms, rate: 16MiB/s}, timeout: 90s}
      - cache: {memory: 2GiB, disk: {path: /cache, size: 10GiB}, fleet: ["10.0.0.1:11211"]}
      - shuffle: {window: all}
      - decode: {image: {key: jpg;png, as: rgb}, label: {key: cls, as: int64}}
      - echo: {factor: 2.5, window: 10000}
      - random_resized_crop: {field: image, size: [224, 200], scale: [0.25, 1.0]}
      - plugin: {library: /p/libx.so, step: s, settings: {b: {c: [x, "1", 'y: z', {d: null}], e: "\u0001"}, a: 2.5}}
      - normalize: {field: image, mean: [0.5, 0.25, 0.125], std: [1, 1, 1]}
      - batch: {size: 256}
      - publish: {slots: 8, sealed: false, access: [nobody]}
)";

v1::Stream parsed(const std::string& text) {
  const auto config = parse_config(text, "t.yaml", {});
  EXPECT_TRUE(config.ok()) << config.status().message() << "\n" << text;
  return config.ok() ? config->streams().at("train") : v1::Stream();
}

std::string indented(const std::string& text) {
  std::string lines = "    ";
  for (const char c : text) lines += c == '\n' ? "\n    " : std::string(1, c);
  return lines + "\n";
}

TEST(StreamYaml, IsReadBackAsTheSameStream) {
  const v1::Stream stream = parsed(kStream);
  const std::string text = stream_yaml(stream);
  const v1::Stream again = parsed("streams:\n  train:\n" + indented(text));
  EXPECT_TRUE(MessageDifferencer::Equals(stream, again)) << text;
}

TEST(StreamYaml, HasALineForEachStepWithUnitsAndDefaults) {
  const std::string text = stream_yaml(parsed(kStream));
  EXPECT_THAT(text, HasSubstr("seed: 7\n"));
  EXPECT_THAT(text, HasSubstr("\n  - shuffle: {window: all}\n"));
  EXPECT_THAT(text, HasSubstr("\n  - echo: {factor: 2.5, window: 10000"));
  EXPECT_THAT(text, HasSubstr("timeout: 1.5min"));
  EXPECT_THAT(text, HasSubstr("read_ahead: 256MiB"));
  EXPECT_THAT(text, HasSubstr("\"s3://photos/x\\\"y\\n\""));
  EXPECT_THAT(
      text, HasSubstr(R"(settings: {"a":2.5,"b":{"c":["x","1","y: z",{"d":null}],"e":"\u0001"}})"));
}

TEST(StreamYaml, OfNothingIsAnEmptyPipeline) {
  EXPECT_EQ(stream_yaml(v1::Stream()), "pipeline:\n");
}

}  // namespace
}  // namespace echoline::config
