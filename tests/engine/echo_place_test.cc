// The place that an `echo` gets from what the steps cost.
#include "engine/open/echo_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/echo_places.h"
#include "config/load.h"

namespace echoline::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Steps: 0 read, 1 shuffle, 2 decode, 3 random_resized_crop, 4 horizontal_flip, 5 batch, 6 publish.
v1::Stream stream(const std::string& after_read = "", const std::string& after_decode = "") {
  const auto config = config::parse_config(
      "streams:\n  train:\n    echo: {factor: auto, max: 4, window: 100}\n    pipeline:\n"
      "      - read: {url: /data/a.tar}\n" +
          after_read +
          "      - shuffle: {window: 10}\n"
          "      - decode: {image: {key: jpg, as: rgb}}\n" +
          after_decode +
          "      - random_resized_crop: {field: image, size: 8}\n"
          "      - horizontal_flip: {field: image}\n"
          "      - batch: {size: 8}\n",
      "t.yaml");
  EXPECT_TRUE(config.ok()) << config.status().message();
  return config->streams().at("train");
}

// The first wanted place with these milliseconds of fetching, decoding, cropping and flipping.
std::string first_place(double fetch, double decode, double crop, double flip) {
  const RecordTimes times{.fetch = fetch, .steps = {0, 0, decode, crop, flip, 0.001, 0}};
  return config::place_text(stream(),
                            wanted_places(place_ratios(stream(), times), 4).front().place);
}

TEST(EchoPlace, CanBeBetweenReadAndBatchAfterShuffleAndCache) {
  EXPECT_THAT(config::echo_places(stream()), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(config::place_after_decode(stream()), 3);
  EXPECT_THAT(config::echo_places(stream("      - cache: {memory: 1MiB}\n")),
              ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(config::echo_places(stream("", "      - cache: {memory: 1MiB}\n")),
              ElementsAre(2, 4, 5, 6));
  const std::string twice = "      - horizontal_flip: {field: image}\n";
  EXPECT_EQ(config::place_text(stream("", twice), 4), "after 'horizontal_flip' (step 4)");
}

TEST(EchoPlace, MakesTheStreamThatAUserWouldWrite) {
  for (const int place : config::echo_places(stream())) {
    v1::Stream placed = config::with_echo_at(stream(), place);
    ASSERT_TRUE(placed.pipeline(place).has_echo());
    EXPECT_EQ(placed.pipeline(place).echo().window(), 100U);
    EXPECT_TRUE(config::complete_stream("train", placed).ok());
    EXPECT_FALSE(config::leaves_echo_place(placed));
  }
}

TEST(EchoPlace, IsTheFirstWhereAllUsesNeedNoLongerThanANewRecord) {
  EXPECT_EQ(first_place(40, 5, 2, 1), "after 'shuffle'") << "a slow store: R is 5";
  EXPECT_EQ(first_place(20, 5, 2, 1), "after 'decode'") << "R is 2.5 before it, and 6.7 behind it";
  EXPECT_EQ(first_place(0, 9, 1, 1), "after 'decode'") << "decoding limits";
  EXPECT_EQ(first_place(0, 2, 9, 1), "after 'random_resized_crop'") << "one expensive step";
  EXPECT_EQ(first_place(0, 1, 1, 9), "after 'horizontal_flip'");
}

TEST(EchoPlace, IsTheOneWithTheHighestRatioWhereNoneIsEnough) {
  const auto places = wanted_places({{1, 0.5}, {2, 3}, {3, 2}}, 4);
  EXPECT_EQ(places.front().place, 2);
  EXPECT_EQ(places.back().place, 1);
}

TEST(EchoPlace, OfWhichTheWindowDoesNotFitIsFollowedByThoseBehindIt) {
  const auto places = wanted_places({{1, 0.5}, {2, 1}, {3, 5}, {4, 9}, {5, 7}}, 4);
  std::vector<int> order;
  for (const PlaceRatio& one : places) order.push_back(one.place);
  EXPECT_THAT(order, ElementsAre(3, 4, 5, 2, 1));
}

TEST(EchoPlace, TakesTheCostsOfStepsFromTheirNames) {
  const std::map<std::string, StepAccount::Cost> costs = {
      {"decode image", {10, 20'000'000}}, {"horizontal_flip image", {30, 3'000'000}},
      {"keep", {10, 900'000'000}},        {"copy label", {10, 10'000'000}},
      {"other", {10, 10'000'000}},        {"random_resized_crop image", {0, 0}}};
  const RecordTimes times = record_times(stream(), 0.5, costs, 2);
  EXPECT_EQ(times.fetch, 0.5);
  EXPECT_DOUBLE_EQ(times.steps[2], 0.001) << "of two workers";
  EXPECT_DOUBLE_EQ(times.steps[4], 0.00005);
  EXPECT_DOUBLE_EQ(times.steps[5], 0.001) << "copies belong to batch";
  EXPECT_THAT(slowest_text(stream(), times), HasSubstr("fetching (500 ms a record)"));
  EXPECT_THAT(slowest_text(stream(), record_times(stream(), 0, costs, 2)),
              HasSubstr("'decode' (1 of 2.05 ms"));
}

}  // namespace
}  // namespace echoline::engine
