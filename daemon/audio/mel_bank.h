// Triangular filters whose centres have equal distances on the mel scale.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace echoline::audio {

enum class MelScale : std::uint8_t { kHtk, kSlaney };

struct MelSettings {
  std::uint32_t rate = 0;
  std::uint32_t n_fft = 0;
  std::uint32_t n_mels = 0;
  double f_min = 0;
  double f_max = 0;  // in Hz, above f_min, at most half the rate
  MelScale scale = MelScale::kHtk;
  bool by_width = false;  // each filter has the area 1 (`norm: slaney`)
};

// The filters of torchaudio's melscale_fbanks and librosa's filters.mel. Most weights of a filter
// are zero, so each keeps only a run of frequencies. Immutable.
class MelBank {
 public:
  explicit MelBank(const MelSettings& settings);

  std::uint32_t bands() const { return static_cast<std::uint32_t>(filters_.size()); }
  // Whether a filter lies between two frequencies of the transform, so that its band is always 0.
  bool has_empty_filter() const;
  // Writes one sum per band of the n_fft / 2 + 1 values.
  void apply(std::span<const float> values, std::span<float> bands) const;

 private:
  struct Filter {
    std::uint32_t first = 0;  // the first frequency with a weight
    std::vector<float> weights;
  };

  std::vector<Filter> filters_;
};

}  // namespace echoline::audio
