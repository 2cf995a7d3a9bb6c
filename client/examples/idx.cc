// IDX: a magic number that says type and rank, one big-endian size per dimension, then the
// elements.
#include "idx.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace example {
namespace {

constexpr std::uint32_t kBytesOfRankThree = 0x00000803;
constexpr std::uint32_t kBytesOfRankOne = 0x00000801;
constexpr std::size_t kPixels = 784;

std::uint32_t big_endian(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | std::uint32_t{bytes[at + 3]};
}

// Reads the elements of an IDX file of bytes. It must have `rank` dimensions, and `item_bytes`
// bytes for each index of the first one.
std::vector<std::uint8_t> read_bytes(const std::string& path, std::uint32_t magic, std::size_t rank,
                                     std::size_t item_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
  const std::size_t header = 4 + 4 * rank;
  if (bytes.size() < header || big_endian(bytes, 0) != magic) {
    throw std::runtime_error(path +
                             ": is not an IDX file of the expected kind (still compressed?)");
  }
  if (bytes.size() != header + big_endian(bytes, 4) * item_bytes) {
    throw std::runtime_error(path + ": is cut short, or its images are not 28 by 28");
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return bytes;
}

}  // namespace

LabelledImages read_idx(const std::string& images_path, const std::string& labels_path) {
  LabelledImages set;
  set.pixels = read_bytes(images_path, kBytesOfRankThree, 3, kPixels);
  const std::vector<std::uint8_t> labels = read_bytes(labels_path, kBytesOfRankOne, 1, 1);
  set.labels.assign(labels.begin(), labels.end());
  if (set.labels.size() * kPixels != set.pixels.size()) {
    throw std::runtime_error(labels_path + ": has another number of items than " + images_path);
  }
  return set;
}

}  // namespace example
