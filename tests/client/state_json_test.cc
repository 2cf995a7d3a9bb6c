#include "state/state_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace echoline::client {
namespace {

State example() {
  State state;
  state.plan_version = 3;
  for (std::size_t i = 0; i < state.fingerprint.size(); ++i) {
    state.fingerprint[i] = static_cast<std::uint8_t>(i * 17);
  }
  state.stream = "tr\"ain\n\xC3\xA4";
  state.position = {7, 10'000'000'000'000ULL};
  state.batch_size = 256;
  state.changes = {{5, 2000, 0}, {1ULL << 40, 4500, 0}};
  state.weights = {{0, 0, 3, {500, 300, 200}}, {1ULL << 40, 0, 3, {0, 0, 1'000'000'000}}};
  return state;
}

constexpr char kPlain[] =
    R"({"version":1,"plan_version":3,"fingerprint":"00112233445566778899aabbccddeeff",)"
    R"("stream":"train","epoch":7,"row":64,"batch_size":8,"changes":[]})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kPlain;
  return text.replace(text.find(from), from.size(), to);
}

TEST(StateJson, AWrittenStateIsReadBack) {
  const State state = example();
  State read;
  ASSERT_TRUE(parse_state(write_state(state), read).ok());
  EXPECT_EQ(read.stream, state.stream);
  EXPECT_EQ(read.position, state.position);
  EXPECT_EQ(read.batch_size, state.batch_size);
  EXPECT_EQ(read.plan_version, state.plan_version);
  EXPECT_EQ(read.fingerprint, state.fingerprint);
  ASSERT_EQ(read.changes.size(), 2U);
  EXPECT_EQ(read.changes[1].block, 1ULL << 40);
  EXPECT_EQ(read.changes[1].factor, 4500U);
  ASSERT_EQ(read.weights.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read.weights[i].row, state.weights[i].row);
    EXPECT_EQ(read.weights[i].source_count, 3U);
    EXPECT_THAT(read.weights[i].weights, testing::ElementsAreArray(state.weights[i].weights));
  }
}

TEST(StateJson, MembersMayBeInAnyOrderWithSpaces) {
  State read;
  const Error error = parse_state(
      " { \"changes\" : [ [ 1 , 2 ] , [3,4] ] ,\n\"row\":64,\t\"epoch\":7,\"batch_size\":8,"
      "\"stream\":\"tr\\u00e4in \\ud83d\\ude00\",\"fingerprint\":"
      "\"00112233445566778899AABBCCDDEEFF\",\"plan_version\":3,\"version\":1}\r\n",
      read);
  ASSERT_TRUE(error.ok()) << error.text();
  EXPECT_EQ(read.stream, "tr\xC3\xA4in \xF0\x9F\x98\x80");
  EXPECT_EQ(read.changes[1].factor, 4U);
}

TEST(StateJson, InvalidTextIsRefused) {
  State read;
  ASSERT_TRUE(parse_state(kPlain, read).ok());
  const std::string bad[] = {
      "",
      "null",
      "{}",
      "[]",
      std::string(kPlain) + "x",
      std::string(kPlain).substr(0, 60),
      with("\"row\":64", "\"row\":-1"),
      with("\"changes\":[]", "\"changes\":[],\"weights\":[]"),
      with("\"changes\":[]", "\"changes\":[],\"weights\":[[5,[]]]"),
      with("\"changes\":[]", "\"changes\":[],\"weights\":[[5,[1,2]"),
      with("\"row\":64", "\"row\":6.5"),
      with("\"row\":64", "\"row\":064"),
      with("\"row\":64", "\"row\":1e3"),
      with("\"row\":64", "\"row\":18446744073709551616"),
      with("\"row\":64", "\"row\":\"64\""),
      with("\"row\":64", "\"row\":64,\"row\":64"),
      with("\"row\":64,", ""),
      with("\"row\":64", "\"rows\":64"),
      with("\"epoch\":7", "\"epoch\":4294967296"),
      with("00112233", "0011223"),
      with("00112233", "0011223g"),
      with("[]", "[[1]]"),
      with("[]", "[[1,2],]"),
      with("[]", "[" + std::string(10000, '[')),
      with("train", "tr\nain"),
      with("train", "tr\\xain"),
      with("train", "\\ud83d"),
      with("train", "\\ude00"),
  };
  for (const std::string& text : bad) {
    EXPECT_FALSE(parse_state(text, read).ok()) << text;
  }
  EXPECT_FALSE(parse_state(kPlain + std::string(70'000, ' '), read).ok());
  std::string many = "[[1,2]";
  for (int i = 0; i < 64; ++i) many += ",[1,2]";
  EXPECT_FALSE(parse_state(with("[]", many + "]"), read).ok());
}

TEST(StateJson, AStateOfALaterVersionIsAVersionMismatch) {
  State read;
  const Error error = parse_state(with("\"version\":1", "\"version\":2"), read);
  EXPECT_EQ(error.code(), ECHOLINE_VERSION_MISMATCH);
  EXPECT_THAT(error.text(), testing::HasSubstr("version 2"));
  const Error more = parse_state("{\"version\":2,\"lanes\":[]}", read);
  EXPECT_THAT(more.text(), testing::HasSubstr("version 2"));
}

TEST(StateJson, AMissingUnknownOrDuplicateKeyIsNamed) {
  const std::pair<std::string, std::string> wrong[] = {
      {"{}", "lacks version, plan_version, fingerprint"},
      {with("\"row\":64,", ""), "lacks row"},
      {"{\"a\":1}", "has a key 'a', the keys of a state are version, plan_version"},
      {with("\"row\":64", "\"row\":64,\"row\":64"), "has the key 'row' twice"},
      {with("\"row\":64", "\"row\":\"many\""), "value of its key 'row'"},
  };
  for (const auto& [text, said] : wrong) {
    State read;
    EXPECT_THAT(parse_state(text, read).text(), testing::HasSubstr(said)) << text;
  }
}

TEST(StateJson, AnErrorGivesTheByteOfTheMistake) {
  State read;
  const Error error = parse_state("{\"version\":x}", read);
  EXPECT_THAT(error.text(), testing::HasSubstr("byte 11"));
}

}  // namespace
}  // namespace echoline::client
