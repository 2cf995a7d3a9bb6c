#include "audio/golden.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <numbers>

namespace echoline::audio {
namespace {

std::map<std::string, std::vector<float>> read_golden() {
  std::ifstream file(std::string(ECHOLINE_SOURCE_DIR) + "/tests/audio/golden/values.txt");
  std::map<std::string, std::vector<float>> cases;
  std::size_t rows = 0, columns = 0;
  for (std::string name; file >> name >> rows >> columns;) {
    std::vector<float>& values = cases[name];
    values.resize(rows * columns);
    for (float& value : values) file >> value;
  }
  return cases;
}

}  // namespace

std::vector<float> golden_signal() {
  std::vector<float> samples;
  std::uint32_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    state = state * 1664525 + 1013904223;
    const double tone =
        std::sin(2 * std::numbers::pi * 0.031 * i) * (0.3 + 0.2 * std::sin(0.002 * i));
    samples.push_back(static_cast<float>(tone + 0.05 * (state / 4294967296.0 - 0.5)));
  }
  return samples;
}

void expect_golden(const std::vector<float>& made, const std::string& name, float bound) {
  static const auto cases = read_golden();
  ASSERT_TRUE(cases.contains(name)) << name;
  const std::vector<float>& golden = cases.at(name);
  ASSERT_EQ(made.size(), golden.size()) << name;
  float largest = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    largest = std::max(largest, std::abs(made[i] - golden[i]));
  }
  EXPECT_LE(largest, bound) << name;
  std::printf("%s: largest difference %g\n", name.c_str(), largest);
}

}  // namespace echoline::audio
