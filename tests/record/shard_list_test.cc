// The JSON index of WebDataset's wids library is read as the shards that it names.
#include "record/tar/shard_list.h"

#include <gmock/gmock.h>

#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

class ShardListTest : public RecordTest {
 protected:
  ShardListTest() {
    for (const std::string name : {"a", "b", "c"}) {
      write("shards/" + name + ".tar", tar_member(name + ".txt", name) + tar_end());
    }
  }
  Opened opened(const std::string& list) const {
    write("index.json", list);
    return open(read_of({path("index.json")}));
  }
};

TEST_F(ShardListTest, ShardsFollowTheListAndNotTheFolder) {
  const Opened set = opened(R"({"wids_version": 1, "name": "train", "shardlist": [
      {"url": "shards/c.tar", "nsamples": 1, "filesize": 2048, "md5sum": "x"},
      {"url": ")" + path("shards/a.tar") +
                            R"(", "nsamples": 1}]})");
  ASSERT_TRUE(set.set.ok()) << set.set.status().message();
  EXPECT_EQ((*set.set)->format(), "webdataset");
  ASSERT_EQ((*set.set)->index().record_count(), 2U);
  EXPECT_EQ(set.cut(0).key, "c");
  EXPECT_EQ(set.cut(1).key, "a");
}

TEST_F(ShardListTest, MistakesNameTheListOrTheShard) {
  EXPECT_THAT(
      opened(R"({"shardlist": [{"url": "shards/a.tar", "filesize": 1}]})").set.status().message(),
      HasSubstr("a.tar has 2048 bytes where the list says 1"));
  EXPECT_THAT(opened(R"({"shardlist": [{"nsamples": 3}]})").set.status().message(),
              HasSubstr("index.json: shard 0 has no 'url'"));
  EXPECT_THAT(opened(R"({"shardlist": [{"url": "shards/x.tar"}]})").set.status().message(),
              HasSubstr("x.tar"));
  EXPECT_EQ(opened(R"({"else": 1})").set.status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace echoline::record
