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

// Throws a std::runtime_error that names the file if it cannot be read or has another format.
LabelledImages read_idx(const std::string& images_path, const std::string& labels_path);

}  // namespace example
