#include "base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace echoline {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
  AtomicFile() { fs::create_directory(folder_); }
  ~AtomicFile() override { fs::remove_all(folder_); }

  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("atomic-file-" + std::to_string(::getpid()));
};

TEST_F(AtomicFile, ReplacesTheContentAndLeavesNothingElse) {
  const std::string path = folder_ / "index";
  for (const char* content : {"old", "new and longer", ""}) {
    EXPECT_TRUE(write_file_atomically(path, content).ok());
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), content);
  }
  EXPECT_EQ(files(), 1U);
}

// An error names the temporary file. It has the file's extension, so that code that lists the
// folder recognizes and ignores it.
TEST_F(AtomicFile, TheTemporaryNameEndsLikeTheFilesOwn) {
  const std::string path = folder_ / "a.tar.echoline-index";
  fs::create_directories(path + "/in the way");
  const Status status = write_file_atomically(path, "content");
  EXPECT_THAT(status.message(), testing::ContainsRegex("a.tar.......[.]echoline-index: "));
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace echoline
