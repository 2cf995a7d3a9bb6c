// Relative paths of a stream that is sent to a daemon.
#include "cli/resolve_paths.h"

#include <gtest/gtest.h>

#include <string>

namespace echoline::cli {
namespace {

std::string resolved(const std::string& url) {
  v1::Stream stream;
  stream.add_pipeline()->mutable_read()->add_url(url);
  resolve_paths(stream, "/data/here");
  return stream.pipeline(0).read().url(0);
}

TEST(Anchor, MakesRelativePathsWholeAndLeavesOthers) {
  EXPECT_EQ(resolved("shards/{000..004}.tar"), "/data/here/shards/{000..004}.tar");
  EXPECT_EQ(resolved("file:shards/*.tar"), "/data/here/shards/*.tar");
  EXPECT_EQ(resolved("/abs/a.tar"), "/abs/a.tar");
  EXPECT_EQ(resolved("file:/abs/a.tar"), "file:/abs/a.tar");
  for (const char* url : {"file:///abs/a.tar", "s3://bucket/key", "https://host/a.tar"}) {
    EXPECT_EQ(resolved(url), url);
  }
}

TEST(Anchor, TakesTheFilesThatAReadNamesAlong) {
  v1::Stream stream;
  v1::Read& read = *stream.add_pipeline()->mutable_read();
  read.set_classes("classes.txt");
  read.set_ca_file("/etc/ca.pem");
  stream.add_pipeline()->mutable_shuffle()->set_order("orders/{epoch}.npy");
  resolve_paths(stream, "/data");
  EXPECT_EQ(stream.pipeline(0).read().classes(), "/data/classes.txt");
  EXPECT_EQ(stream.pipeline(0).read().ca_file(), "/etc/ca.pem");
  EXPECT_EQ(stream.pipeline(1).shuffle().order(), "/data/orders/{epoch}.npy");
  EXPECT_FALSE(stream.pipeline(0).read().has_credentials_file());
}

}  // namespace
}  // namespace echoline::cli
