// The time from a photo in a file to a finished row, in one thread without the daemon around it:
// read, decode, random_resized_crop to 224, flip. For each kind of vector instructions that the CPU
// has, in turn. Prints microseconds for each photo and judges nothing.
//
//     row_bench SHARD.tar... [--rounds N] [--steps TEXT] [--size N]
//
// TEXT: more steps in protobuf's text format, such as normalize. The parts are the least of all
// rounds, which other programs disturbed least; "all" is the mean of all rounds, as the daemon's
// CPU time is.
#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/text_format.h>
#include <hwy/highway.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "augment/chain.h"
#include "bench/photos.h"
#include "decode/decoder.h"
#include "echoline/v1/config.pb.h"

namespace echoline::bench {
namespace {

std::string pipeline(unsigned size, const std::string& steps) {
  return fmt::format(
      "pipeline {{ decode {{ fields {{ key: 'image' value {{ key: 'jpg' as: 'rgb' }} }} }} }}\n"
      "pipeline {{ random_resized_crop {{ field: 'image' size: {} }} }}\n"
      "pipeline {{ horizontal_flip {{ field: 'image' probability: 0.5 }} }}\n{}",
      size, steps);
}

// A photo in an open tar.
struct Place {
  int file = -1;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

void find_photos(const char* path, std::vector<Place>& places) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  for_each_photo(path, [&](const std::string&, std::size_t offset, std::size_t bytes) {
    places.push_back({file, offset, bytes});
  });
}

enum Part : std::uint8_t { kRead, kDecode, kAugment, kParts };

// The times of one kind of vector instructions.
class Times {
 public:
  explicit Times(std::size_t photos) {
    for (auto& least : least_) least.assign(photos, std::numeric_limits<double>::infinity());
  }
  void add(std::size_t photo, Part part, double seconds) {
    least_[part][photo] = std::min(least_[part][photo], seconds);
    sum_ += seconds;
    rows_ += part == kAugment ? 1 : 0;
  }
  double least_us(Part part) const {
    const std::vector<double>& least = least_[part];
    return 1e6 * std::accumulate(least.begin(), least.end(), 0.0) /
           static_cast<double>(least.size());
  }
  double mean_us() const { return 1e6 * sum_ / static_cast<double>(rows_); }

 private:
  std::array<std::vector<double>, kParts> least_;
  double sum_ = 0;
  std::uint64_t rows_ = 0;
};

class RowMaker {
 public:
  explicit RowMaker(const std::string& text) {
    v1::Stream stream;
    if (!google::protobuf::TextFormat::ParseFromString(text, &stream)) std::exit(2);
    decoder_ = decode::Decoder::compile(stream.pipeline(0).decode()).value();
    chain_ = augment::Chain::compile(stream, decoder_->fields()).value();
    decode_scratch_ = decoder_->make_scratch();
    scratch_ = chain_->make_scratch();
    const decode::FieldType& type = chain_->outputs()[0];
    row_.resize(type.shape.elements() * shm::dtype_bytes(type.dtype));
  }

  void measure(std::size_t photo, const Place& place, Times& times) {
    double begin = cpu_seconds();
    const auto note = [&](Part part) {
      const double now = cpu_seconds();
      times.add(photo, part, now - std::exchange(begin, now));
    };
    read(place);
    note(kRead);
    const UseKey key{.seed = 5, .sample = photo};
    decode(key);
    note(kDecode);
    const std::span<std::byte> rows[] = {row_.span()};
    if (!chain_->run(sample_, key, *scratch_, rows, {}).ok()) std::abort();
    note(kAugment);
    for (const std::byte byte : row_.span()) {
      hash_ = hash_ * 31 + std::to_integer<std::uint64_t>(byte);
    }
  }
  // Of all rows until now.
  std::uint64_t hash() const { return hash_; }

 private:
  void read(const Place& place) {
    bytes_.resize(place.bytes);
    const auto offset = static_cast<off_t>(place.offset);
    if (pread(place.file, bytes_.data(), place.bytes, offset) < 0) std::abort();
  }
  void decode(const UseKey& key) {
    record_.fields.assign(1, {"jpg", bytes_.span()});
    const auto part_of = [&](std::size_t field, const decode::ImageSize& size) {
      return chain_->part_of(field, size, key);
    };
    if (!decoder_->decode_parts(record_, part_of, *decode_scratch_, sample_).ok()) std::abort();
  }

  std::unique_ptr<decode::Decoder> decoder_;
  std::unique_ptr<augment::Chain> chain_;
  std::unique_ptr<decode::Scratch> decode_scratch_;
  std::unique_ptr<augment::Scratch> scratch_;
  Buffer bytes_;
  record::Fields record_;
  decode::Sample sample_;
  Buffer row_;
  std::uint64_t hash_ = 0;
};

void run(const std::string& text, const std::vector<Place>& photos, unsigned rounds) {
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  std::vector<Times> times(targets.size(), Times(photos.size()));
  std::vector<std::uint64_t> hashes(targets.size());
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t t = 0; t < targets.size(); ++t) {
      hwy::SetSupportedTargetsForTest(targets[t]);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      RowMaker rows(text);  // chooses its loops
      for (std::size_t i = 0; i < photos.size(); ++i) rows.measure(i, photos[i], times[t]);
      hashes[t] = rows.hash();
    }
  }
  for (std::size_t t = 0; t < targets.size(); ++t) {
    fmt::print(
        "{:7} read {:5.1f} us, decode {:6.1f}, augment {:6.1f}; all {:6.1f}; pixels {:016x}\n",
        hwy::TargetName(targets[t]), times[t].least_us(kRead), times[t].least_us(kDecode),
        times[t].least_us(kAugment), times[t].mean_us(), hashes[t]);
  }
}

}  // namespace
}  // namespace echoline::bench

int main(int argc, char** argv) {
  using namespace echoline::bench;
  std::vector<Place> photos;
  unsigned rounds = 5;
  unsigned size = 224;
  std::string steps;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--rounds" && i + 1 < argc) {
      rounds = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (word == "--size" && i + 1 < argc) {
      size = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (word == "--steps" && i + 1 < argc) {
      steps = argv[++i];
    } else {
      find_photos(argv[i], photos);
    }
  }
  run(pipeline(size, steps), photos, rounds);
}
