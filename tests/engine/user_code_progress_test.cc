// Who waits for a stream learns when it is users' code that may take long, and only then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/load.h"
#include "engine/open/open_stream.h"

namespace echoline::engine {
namespace {

using testing::ElementsAre;

// Empty: none has numpy.
std::string interpreter() {
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    const int status = std::system((python + " -c 'import numpy' 2>/dev/null").c_str());
    if (status == 0) return python;
  }
  return "";
}

TEST(UserCodeProgress, NamesTheCodeWhileItIsLoadedAndWhileItIsCalled) {
  const std::string python = interpreter();
  if (python.empty()) GTEST_SKIP() << "no Python with numpy";
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("progress-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "set.py").string();
  std::ofstream(file) << "class Numbers:\n    def __len__(self):\n        return 8\n\n"
                         "    def __getitem__(self, index):\n        return {'x': index}\n";
  const auto config = config::parse_config(
      "streams:\n  train:\n    pipeline:\n      - read: {python: {file: " + file +
          ", function: Numbers, workers: 1, interpreter: " + python +
          ", out: {x: {as: int64}}}}\n      - batch: {size: 4}\n",
      "test");
  ASSERT_TRUE(config.ok()) << config.status().message();

  std::vector<std::string> said;
  const auto note = [&said](const record::Progress& seen) {
    if (said.empty() || said.back() != seen.user_code) said.push_back(seen.user_code);
    return Status();
  };
  WorkerPool pool(1);
  MemoryBudget budget(64 << 20);
  const Result<OpenedStream> opened = open_stream("train", config->streams().at("train"), {}, pool,
                                                  budget, note, [](const Status&) {});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const std::string code = "user code (Numbers of " + file + ")";
  EXPECT_THAT(said, ElementsAre("the steps are loaded, with " + code, "",
                                "the first records are read, and prepared by " + code, ""));
  opened->core->fetchers->stop();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace echoline::engine
