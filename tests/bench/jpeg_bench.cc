// Photos for each CPU-second of one thread that decodes the regions of random_resized_crop: the
// JPEG reader with and without seek indexes against libjpeg-turbo alone, in turn. Prints figures
// and judges nothing.
//
//     jpeg_bench SHARD.tar... [--rounds N] [--whole]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "bench/photos.h"
#include "decode/jpeg.h"
#include "decode/libjpeg.h"

namespace {

using namespace echoline::decode;
using echoline::bench::cpu_seconds;
using echoline::bench::read_shard;

// torchvision's RandomResizedCrop(scale=(0.08, 1), ratio=(3/4, 4/3)).
Region draw_region(const ImageSize& size, std::mt19937_64& random) {
  std::uniform_real_distribution<double> scale(0.08, 1);
  std::uniform_real_distribution<double> ratio(std::log(3.0 / 4), std::log(4.0 / 3));
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = static_cast<double>(size.pixels()) * scale(random);
    const double aspect = std::exp(ratio(random));
    const auto width = static_cast<std::uint32_t>(std::lround(std::sqrt(area * aspect)));
    const auto height = static_cast<std::uint32_t>(std::lround(std::sqrt(area / aspect)));
    if (width == 0 || height == 0 || width > size.width || height > size.height) continue;
    return {static_cast<std::uint32_t>(random() % (size.height - height + 1)),
            static_cast<std::uint32_t>(random() % (size.width - width + 1)), height, width};
  }
  return whole_picture(size);
}

// One reader's times for each photo. The least of all rounds is the one that others disturbed
// least.
class Times {
 public:
  Times(ImageReader& reader, std::size_t photos)
      : reader_(reader), least_(photos, std::numeric_limits<double>::infinity()) {}

  // The pixels' place is that of the reader, as in a worker.
  void measure(std::size_t index, const std::string& photo, bool whole) {
    const double begin = cpu_seconds();
    const auto header = reader_.open(std::as_bytes(std::span(photo)), {}, false);
    if (!header.ok()) std::abort();
    std::mt19937_64 random(index);
    const ImageSize size = header.value().size;
    const Region region = whole ? whole_picture(size) : draw_region(size, random);
    pixels_.resize(std::size_t{region.height} * region.width * 3);
    auto* pixels = reinterpret_cast<std::uint8_t*>(pixels_.data());
    if (!reader_.read(region, Colors::kRgb, pixels).ok()) std::abort();
    least_[index] = std::min(least_[index], cpu_seconds() - begin);
  }

  std::span<const std::byte> pixels() const { return pixels_.span(); }
  double rate() const {
    return static_cast<double>(least_.size()) / std::accumulate(least_.begin(), least_.end(), 0.0);
  }

 private:
  ImageReader& reader_;
  std::vector<double> least_;
  echoline::Buffer pixels_;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> photos;
  unsigned rounds = 5;
  bool whole = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--whole") == 0) {
      whole = true;
    } else {
      read_shard(argv[i], photos);
    }
  }
  JpegCounts counts;
  const JpegShared counted{.counts = &counts};
  echoline::seek::Indexes indexes({.files = photos.size(), .capacity_bytes = 1 << 30});
  JpegShared indexed{.indexes = &indexes};
  const auto reader = make_jpeg_reader(&counted);
  const auto index_reader = make_jpeg_reader(&indexed);
  const auto libjpeg = make_libjpeg_reader();
  Times own(*reader, photos.size());
  Times seek(*index_reader, photos.size());
  Times peer(*libjpeg, photos.size());
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < photos.size(); ++i) {
      own.measure(i, photos[i], whole);
      indexed.file = i;
      seek.measure(i, photos[i], whole);
      peer.measure(i, photos[i], whole);
      if (!std::ranges::equal(own.pixels(), peer.pixels())) fmt::print("photo {} differs\n", i);
      if (!std::ranges::equal(seek.pixels(), peer.pixels())) {
        fmt::print("photo {} differs with its index\n", i);
      }
    }
  }
  fmt::print(
      "{} photos, least of {} rounds: libjpeg-turbo {:.0f}, reader {:.0f}, ratio {:.3f}, "
      "with index {:.0f}, ratio {:.3f}\n",
      photos.size(), rounds, peer.rate(), own.rate(), own.rate() / peer.rate(), seek.rate(),
      seek.rate() / own.rate());
  fmt::print(
      "decoded by the own decoder {}, by libjpeg-turbo {}; with an index {}, indexes {} "
      "bytes\n",
      counts.own.load(), counts.libjpeg.load(), indexes.hits(), indexes.bytes());
}
