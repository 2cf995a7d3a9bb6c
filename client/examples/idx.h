// Reads the two IDX files of a labelled image set (the format of MNIST and Fashion-MNIST),
// unpacked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace example {

struct LabelledImages {
  std::vector<std::uint8_t> pixels;  // [count, 28, 28]
  std::vector<std::int64_t> labels;  // [count]
};

// Throws std::runtime_error that names the file when it can't be read or is something else.
LabelledImages read_idx(const std::string& images_path, const std::string& labels_path);

}  // namespace example
