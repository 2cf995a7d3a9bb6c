// docs/config.md and the Python package echoline.steps say what the schema says.
// ECHOLINE_UPDATE_DOCS=1 writes them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "config/config_page.h"
#include "config/load.h"
#include "config/python_steps.h"

namespace echoline::config {
namespace {

std::string read_page(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<std::string> python_files(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".py") names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(ConfigPage, EqualsTheCommentsOfTheSchema) {
  const std::string path = ECHOLINE_SOURCE_DIR "/docs/config.md";
  const std::string page = config_page(ECHOLINE_SCHEMA);
  if (std::getenv("ECHOLINE_UPDATE_DOCS") != nullptr) std::ofstream(path) << page;
  EXPECT_EQ(read_page(path), page) << "run config_test with ECHOLINE_UPDATE_DOCS=1";
}

TEST(PythonSteps, EqualTheSchema) {
  const std::string folder = ECHOLINE_SOURCE_DIR "/client/python/echoline/steps/";
  const auto modules = python_steps(ECHOLINE_SCHEMA);
  for (const auto& [name, text] : modules) {
    if (std::getenv("ECHOLINE_UPDATE_DOCS") != nullptr) std::ofstream(folder + name) << text;
    EXPECT_EQ(read_page(folder + name), text) << "run config_test with ECHOLINE_UPDATE_DOCS=1";
  }
  std::set<std::string> names = {"_step.py"};  // written by hand
  for (const auto& module : modules) names.insert(module.first);
  EXPECT_EQ(python_files(folder), names) << "remove files of steps that the schema no longer has";
}

TEST(ConfigPage, HasAnExampleThatIsAccepted) {
  const std::string page = read_page(ECHOLINE_SOURCE_DIR "/docs/config.md");
  const std::size_t begin = page.find("```yaml\n") + 8;
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  const auto config = parse_config(example, "docs/config.md");
  EXPECT_TRUE(config.ok()) << config.status().message();
}

TEST(ConfigPage, LeavesNoKeyWithoutAMeaning) {
  const std::string page = config_page(ECHOLINE_SCHEMA);
  EXPECT_EQ(page.find("|  |\n"), std::string::npos);
}

}  // namespace
}  // namespace echoline::config
