// The files that are read as a whole, and those that are refused.
#include "base/bounded_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace echoline {
namespace {

class BoundedFile : public testing::Test {
 protected:
  BoundedFile() {
    std::string name = (std::filesystem::temp_directory_path() / "echoline-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~BoundedFile() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(BoundedFile, IsReadWholeUpToTheBound) {
  std::ofstream(path("text")) << "12345";
  EXPECT_EQ(read_bounded_file(path("text"), 5).value(), "12345");
  const auto longer = read_bounded_file(path("text"), 4);
  EXPECT_EQ(longer.status().code(), Code::kInvalidArgument);
  EXPECT_NE(longer.status().message().find(path("text")), std::string::npos);
  std::ofstream(path("empty")) << "";
  EXPECT_EQ(read_bounded_file(path("empty"), 5).value(), "");
}

TEST_F(BoundedFile, IsARegularFileAndNothingThatWaitsOrNeverEnds) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", path("endless"));
  for (const std::string& name : {path("pipe"), path("endless"), folder_.string()}) {
    EXPECT_EQ(read_bounded_file(name, 100).status().code(), Code::kInvalidArgument) << name;
  }
  EXPECT_EQ(read_bounded_file(path("none"), 100).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace echoline
