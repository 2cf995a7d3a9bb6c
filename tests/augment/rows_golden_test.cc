// Rows keep their pixels from version to version, with each kind of vector instructions: compares
// checksums with a file.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "augment/chain.h"
#include "augment/image_type.h"
#include "decode/each_target.h"
#include "echoline/v1/config.pb.h"

namespace echoline::augment {
namespace {

// FNV-1a.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::byte byte : bytes) {
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 1099511628211U;
  }
  return hash;
}

// Smooth, with edges and noise: each has other roundings.
decode::Sample picture(std::uint32_t height, std::uint32_t width, std::uint32_t channels) {
  decode::Sample sample;
  decode::Tensor& tensor = sample.tensors.emplace_back();
  tensor.shape = {{height, width, channels}, 3};
  tensor.bytes.resize(tensor.shape.elements());
  std::uint32_t state = height * 65536 + width;
  std::size_t at = 0;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        state = state * 1664525 + 1013904223;
        const std::uint32_t smooth = (x + 2 * y + 80 * c) / 3;
        const std::uint32_t edge = (x / 16 + y / 24) % 3 == 0 ? 255 : 0;
        const std::uint32_t values[] = {smooth, edge, state >> 24};
        tensor.bytes.data()[at++] = static_cast<std::byte>(values[(x / 40 + y / 40) % 3]);
      }
    }
  }
  return sample;
}

// One line for each combination of step, filter, last step and picture.
std::string lines() {
  std::ostringstream made;
  const std::string steps[] = {"random_resized_crop { field: 'image' size: [56, 48] ",
                               "resize { field: 'image' size: [90, 131] ",
                               "resize { field: 'image' size: [33, 67] "};
  const std::string ends[] = {
      "", "pipeline { normalize { field: 'image' mean: [0.4, 0.5, 0.6] std: [0.2, 0.3, 0.4] } }",
      "pipeline { normalize { field: 'image' mean: [0.4, 0.5, 0.6] std: [0.2, 0.3, 0.4] "
      "dtype: 'float16' layout: 'hwc' } }"};
  for (const std::string& step : steps) {
    for (const std::string filter : {"bilinear", "bicubic"}) {
      for (const std::string& end : ends) {
        v1::Stream stream;
        const std::string text = "pipeline { " + step + "interpolation: '" + filter +
                                 "' } } pipeline { horizontal_flip { field: 'image' "
                                 "probability: 0.5 } } " +
                                 end;
        EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &stream));
        const auto chain = Chain::compile(stream, {image_type(3)}).value();
        const auto scratch = chain->make_scratch();
        for (const auto& [height, width] : {std::pair(300U, 217U), {41U, 67U}, {90U, 131U}}) {
          const decode::Sample sample = picture(height, width, 3);
          const decode::FieldType type = chain->outputs_for(sample).value()[0];
          Buffer row(type.shape.elements() * shm::dtype_bytes(type.dtype));
          const std::span<std::byte> rows[] = {row.span()};
          for (std::uint64_t use = 0; use < 3; ++use) {
            const UseKey key{.seed = 11, .sample = height, .use = static_cast<std::uint16_t>(use)};
            EXPECT_TRUE(chain->run(sample, key, *scratch, rows, {}).ok());
            made << step.substr(0, step.find(' ')) << ' ' << filter << ' ' << height << 'x' << width
                 << ' ' << shm::dtype_name(type.dtype) << ' ' << use << ' ' << std::hex
                 << checksum(row.span()) << std::dec << '\n';
          }
        }
      }
    }
  }
  return made.str();
}

using GoldenRows = EachTarget;

// ECHOLINE_UPDATE_GOLDEN=1 writes the file again.
TEST_P(GoldenRows, HaveTheChecksumsOfTheFile) {
  const char* path = ECHOLINE_SOURCE_DIR "/tests/augment/golden/rows.txt";
  const std::string made = lines();
  if (std::getenv("ECHOLINE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << made;
  std::ifstream file(path);
  const std::string expected((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(made, expected);
}

INSTANTIATE_TEST_SUITE_P(Rows, GoldenRows, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return hwy::TargetName(target.param); });

}  // namespace
}  // namespace echoline::augment
