#include "augment/normalizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "augment/half.h"
#include "echoline/v1/config.pb.h"

namespace echoline::augment {
namespace {

Status refused(std::string reason) { return {Code::kInvalidArgument, std::move(reason)}; }

Status check_counts(const v1::Normalize& step, std::uint32_t channels) {
  const auto count = static_cast<int>(channels);
  if (step.mean_size() != count || step.std_size() != count) {
    return refused(fmt::format("mean has {} numbers and std {}; {} each are needed, one a channel",
                               step.mean_size(), step.std_size(), channels));
  }
  for (int c = 0; c < count; ++c) {
    if (!std::isfinite(step.mean(c)) || !std::isfinite(step.std(c)) || step.std(c) == 0) {
      return refused(fmt::format("mean {} with std {}: finite numbers, std not 0, are allowed",
                                 step.mean(c), step.std(c)));
    }
  }
  return {};
}

Status check_words(const v1::Normalize& step) {
  if (!step.dtype().empty() && step.dtype() != "float32" && step.dtype() != "float16") {
    return refused(fmt::format("dtype is \"{}\"; allowed are float32, float16", step.dtype()));
  }
  if (!step.layout().empty() && step.layout() != "chw" && step.layout() != "hwc") {
    return refused(fmt::format("layout is \"{}\"; allowed are chw, hwc", step.layout()));
  }
  return {};
}

// By memcpy, because a row in the batch need not be aligned to T.
template <typename T>
void store(std::byte* out, std::size_t index, T value) {
  std::memcpy(out + index * sizeof(T), &value, sizeof(T));
}

}  // namespace

Result<Normalizer> Normalizer::compile(const v1::Normalize& step, std::uint32_t channels) {
  ECHOLINE_TRY(check_counts(step, channels));
  ECHOLINE_TRY(check_words(step));
  Normalizer normalizer;
  normalizer.dtype_ = step.dtype() == "float16" ? shm::kFloat16 : shm::kFloat32;
  normalizer.planar_ = step.layout() != "hwc";
  normalizer.floats_.resize(channels);
  normalizer.halves_.resize(channels);
  const std::vector<float> means(step.mean().begin(), step.mean().end());
  const std::vector<float> deviations(step.std().begin(), step.std().end());
  for (std::uint32_t c = 0; c < channels; ++c) {
    for (std::size_t i = 0; i < 256; ++i) {
      // Every operation in float, as torchvision's ToTensor and Normalize do.
      normalizer.floats_[c][i] = (static_cast<float>(i) / 255.0F - means[c]) / deviations[c];
      normalizer.halves_[c][i] = to_half(normalizer.floats_[c][i]);
    }
  }
  normalizer.find_all_steps(means, deviations);
  return normalizer;
}

void Normalizer::find_all_steps(const std::vector<float>& means,
                                const std::vector<float>& deviations) {
  const std::size_t each = planar_ ? 1 : means.size();  // channels in a row
  for (std::size_t c = 0; c < means.size(); c += each) {
    const auto found =
        find_steps(std::span(means).subspan(c, each), std::span(deviations).subspan(c, each),
                   std::span(floats_).subspan(c, each));
    if (!found) return steps_.clear();
    steps_.push_back(*found);
  }
}

decode::Shape Normalizer::shape(const ImageSize& size) const {
  const auto channels = static_cast<std::uint32_t>(floats_.size());
  if (planar_) return {{channels, size.height, size.width}, 3};
  return {{size.height, size.width, channels}, 3};
}

template <typename T>
void Normalizer::write_as(const View& view, const std::vector<std::array<T, 256>>& tables,
                          std::byte* out) const {
  if (!steps_.empty() && !view.mirrored && has_normalize_loops()) {
    compute<T>(view, out);
  } else {
    look_up(view, tables, out);
  }
}

template <typename T>
void Normalizer::look_up(const View& view, const std::vector<std::array<T, 256>>& tables,
                         std::byte* out) const {
  const std::size_t channels = view.channels;
  const std::size_t width = view.size.width;
  const std::size_t next = planar_ ? 1 : channels;  // distance of two pixels, in elements
  // Channel by channel: one table stays in the CPU's cache, and planar output is sequential.
  for (std::size_t c = 0; c < channels; ++c) {
    const std::array<T, 256>& table = tables[c];
    for (std::size_t y = 0; y < view.size.height; ++y) {
      const std::uint8_t* row = view.row(y) + c;
      const std::size_t first =
          planar_ ? (c * view.size.height + y) * width : y * width * channels + c;
      for (std::size_t x = 0; x < width; ++x) {
        const std::size_t source = view.mirrored ? width - 1 - x : x;
        store(out, first + x * next, table[row[source * channels]]);
      }
    }
  }
}

// Some pixels at a time, so that their channels stay in the CPU's cache.
template <typename T>
void Normalizer::compute(const View& view, std::byte* out) const {
  constexpr std::size_t kPixels = 512;
  auto* const values = reinterpret_cast<T*>(out);
  const std::size_t width = view.size.width;
  const std::size_t plane = width * view.size.height;
  for (std::size_t y = 0; y < view.size.height; ++y) {
    for (std::size_t x = 0; x < width; x += kPixels) {
      const std::size_t count = std::min(kPixels, width - x);
      const std::uint8_t* pixels = view.row(y) + x * view.channels;
      T* const to = values + (y * width + x) * (planar_ ? 1 : view.channels);
      if (steps_.size() == 1) {
        normalize_row(pixels, count * view.channels, steps_[0], to);
        continue;
      }
      std::uint8_t separate[3 * kPixels];
      split_channels(pixels, count, kPixels, separate);
      for (std::size_t c = 0; c < steps_.size(); ++c) {
        normalize_row(separate + c * kPixels, count, steps_[c], to + c * plane);
      }
    }
  }
}

void Normalizer::write(const View& view, std::byte* out) const {
  if (dtype_ == shm::kFloat16) {
    write_as(view, halves_, out);
  } else {
    write_as(view, floats_, out);
  }
}

}  // namespace echoline::augment
