#include "user_code/description.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace echoline::user_code {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kBytes = 1 << 20;

std::string field(const char* name, int dtype, const char* form, const char* shape) {
  return fmt::format(R"({{"name":"{}","dtype":{},"form":"{}","shape":{}}})", name, dtype, form,
                     shape);
}

std::string list_of(const std::string& fields) { return "[" + fields + "]"; }

TEST(Descriptions, FieldsOfAllFormsAreRead) {
  const auto types = parse_outputs(list_of(field("a", shm::kUint8, "fixed", "[4,4,3]") + "," +
                                           field("b", shm::kFloat32, "ragged", "[50,4]") + "," +
                                           field("c", shm::kUint8, "picture", "[0,0,1]") + "," +
                                           field("d", shm::kInt64, "fixed", "[]")),
                                   kBytes);
  ASSERT_TRUE(types.ok()) << types.status().message();
  ASSERT_EQ(types->size(), 4U);
  EXPECT_TRUE((*types)[0].fixed && (*types)[0].image);
  EXPECT_TRUE((*types)[1].ragged && (*types)[1].may_be_boxes());
  EXPECT_TRUE((*types)[2].image && !(*types)[2].fixed);
  EXPECT_EQ((*types)[2].shape, (decode::Shape{{0, 0, 1}, 3}));
  EXPECT_TRUE((*types)[3].fixed);
  EXPECT_EQ((*types)[3].shape.rank, 0U);
}

TEST(Descriptions, AnythingElseIsRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "no list"},
      {"{}", "no list"},
      {"[]", "no list"},
      {std::string(60000, '['), "no list"},
      {"[1]", "no list of fields"},
      {list_of(field("a b", 1, "fixed", "[1]")), "a name that is none"},
      {list_of(field("a", 0, "fixed", "[1]")), "no type"},
      {list_of(field("a", 13, "fixed", "[1]")), "no type"},
      {list_of(field("a", -1, "fixed", "[1]")), "no type"},
      {list_of(field("a", 1, "fixed", "1")), "without a shape"},
      {list_of(field("a", 1, "fixed", "[1,1,1,1,1,1,1]")), "without a shape"},
      {list_of(field("a", 1, "fixed", "[-1]")), "a wrong size"},
      {list_of(field("a", 1, "fixed", "[4294967296]")), "a wrong size"},
      {list_of(field("a", 1, "fixed", "[0]")), "the size 0"},
      {list_of(field("a", 1, "rank", "[0,0]")), "unknown form"},
      {list_of(field("a", 1, "ragged", "[]")), "unknown form"},
      {list_of(field("a", 2, "picture", "[0,0,3]")), "unknown form"},
      {list_of(field("a", 1, "fixed", "[65536,65536,65536,65536]")), "more than sample_bytes"},
      {list_of(field("a", 8, "ragged", "[131073]")), "more than sample_bytes"},
      {list_of(field("a", 1, "fixed", "[1]") + "," + field("a", 1, "fixed", "[1]")), "twice"}};
  for (const auto& [text, reason] : cases) {
    const auto types = parse_outputs(text, kBytes);
    ASSERT_FALSE(types.ok()) << text;
    EXPECT_THAT(types.status().message(), HasSubstr(reason)) << text;
  }
}

}  // namespace
}  // namespace echoline::user_code
