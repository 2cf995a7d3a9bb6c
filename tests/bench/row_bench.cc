// The time from the bytes of a photo to a finished row, in one thread without the daemon around it:
// decode, random_resized_crop to 224, flip. For each kind of vector instructions that the CPU has,
// in turn. Prints microseconds for each photo and judges nothing.
//
//     row_bench SHARD.tar... [--rounds N] [--steps TEXT] [--size N]
//
// TEXT: more steps in protobuf's text format, such as normalize.
#include <fmt/format.h>
#include <google/protobuf/text_format.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

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

// The least time of each photo, which other programs disturbed least.
class Times {
 public:
  explicit Times(std::size_t photos) : least_(photos, std::numeric_limits<double>::infinity()) {}
  void add(std::size_t photo, double seconds) { least_[photo] = std::min(least_[photo], seconds); }
  double mean_us() const {
    return 1e6 * std::accumulate(least_.begin(), least_.end(), 0.0) /
           static_cast<double>(least_.size());
  }

 private:
  std::vector<double> least_;
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

  void measure(std::size_t photo, const std::string& file, Times& decode, Times& augment) {
    const UseKey key{.seed = 5, .sample = photo};
    record_.fields.assign(1, {"jpg", std::as_bytes(std::span(file))});
    const auto part_of = [&](std::size_t field, const decode::ImageSize& size) {
      return chain_->part_of(field, size, key);
    };
    const double begin = cpu_seconds();
    if (!decoder_->decode_parts(record_, part_of, *decode_scratch_, sample_).ok()) std::abort();
    const double decoded = cpu_seconds();
    const std::span<std::byte> rows[] = {row_.span()};
    if (!chain_->run(sample_, key, *scratch_, rows, {}).ok()) std::abort();
    decode.add(photo, decoded - begin);
    augment.add(photo, cpu_seconds() - decoded);
    for (const std::byte byte : row_.span()) {
      hash_ = hash_ * 31 + std::to_integer<std::uint64_t>(byte);
    }
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::unique_ptr<decode::Decoder> decoder_;
  std::unique_ptr<augment::Chain> chain_;
  std::unique_ptr<decode::Scratch> decode_scratch_;
  std::unique_ptr<augment::Scratch> scratch_;
  record::Fields record_;
  decode::Sample sample_;
  Buffer row_;
  std::uint64_t hash_ = 0;
};

void run(const std::string& text, const std::vector<std::string>& photos, unsigned rounds) {
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  std::vector<Times> decode(targets.size(), Times(photos.size()));
  std::vector<Times> augment(targets.size(), Times(photos.size()));
  std::vector<std::uint64_t> hashes(targets.size());
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t t = 0; t < targets.size(); ++t) {
      hwy::SetSupportedTargetsForTest(targets[t]);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      RowMaker rows(text);  // chooses its loops
      for (std::size_t i = 0; i < photos.size(); ++i) {
        rows.measure(i, photos[i], decode[t], augment[t]);
      }
      hashes[t] = rows.hash();
    }
  }
  for (std::size_t t = 0; t < targets.size(); ++t) {
    fmt::print("{:7} decode {:6.1f} us, augment {:6.1f} us, together {:6.1f} us; pixels {:016x}\n",
               hwy::TargetName(targets[t]), decode[t].mean_us(), augment[t].mean_us(),
               decode[t].mean_us() + augment[t].mean_us(), hashes[t]);
  }
}

}  // namespace
}  // namespace echoline::bench

int main(int argc, char** argv) {
  using namespace echoline::bench;
  std::vector<std::string> photos;
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
      read_shard(argv[i], photos);
    }
  }
  run(pipeline(size, steps), photos, rounds);
}
