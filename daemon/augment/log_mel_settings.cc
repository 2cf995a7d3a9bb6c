#include "augment/log_mel_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace echoline::augment {
namespace {

constexpr double kFloorDefault = 1e-10;

// One of the words of a setting; the first one if it is missing.
template <typename T>
Result<T> word_of(const char* key, const std::string& value,
                  std::span<const std::pair<const char*, T>> words) {
  if (value.empty()) return words[0].second;
  std::string allowed;
  for (const auto& [word, meaning] : words) {
    if (value == word) return meaning;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", word);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("{} is \"{}\"; allowed are {}", key, value, allowed));
}

constexpr std::pair<const char*, audio::MelScale> kScales[] = {
    {"htk", audio::MelScale::kHtk}, {"slaney", audio::MelScale::kSlaney}};
constexpr std::pair<const char*, bool> kNorms[] = {{"none", false}, {"slaney", true}};
constexpr std::pair<const char*, audio::FramePad> kPads[] = {{"reflect", audio::FramePad::kReflect},
                                                             {"zero", audio::FramePad::kZero},
                                                             {"none", audio::FramePad::kNone}};
constexpr std::pair<const char*, audio::LogKind> kLogs[] = {{"ln", audio::LogKind::kNatural},
                                                            {"log10", audio::LogKind::kBase10},
                                                            {"db", audio::LogKind::kDecibel}};

Status out_of_range(const char* key, double value, double low, double high) {
  return {Code::kInvalidArgument,
          fmt::format("{} is {}; {} to {} is allowed", key, value, low, high)};
}

Status check_sizes(const v1::LogMel& settings, const audio::LogMelSettings& made) {
  constexpr std::uint32_t kFftMin = 16, kSizeMax = 65536, kBandsMax = 1024;
  const std::uint32_t n_fft = settings.n_fft();
  if (n_fft < kFftMin || n_fft > kSizeMax) return out_of_range("n_fft", n_fft, kFftMin, kSizeMax);
  if (!audio::RealFourier::has_size(n_fft)) {
    return {Code::kInvalidArgument,
            fmt::format("n_fft is {}; allowed are even numbers without prime factors other than "
                        "2, 3 and 5. For a window of {} samples, set win_length and a larger n_fft",
                        n_fft, n_fft)};
  }
  if (made.hop < 1 || made.hop > kSizeMax) return out_of_range("hop", made.hop, 1, kSizeMax);
  if (made.win_length < 1 || made.win_length > n_fft) {
    return out_of_range("win_length", made.win_length, 1, n_fft);
  }
  const std::uint32_t bands = settings.n_mels();
  if (bands < 1 || bands > kBandsMax) return out_of_range("n_mels", bands, 1, kBandsMax);
  return {};
}

Status check_numbers(const v1::LogMel& settings, const audio::LogMelSettings& made) {
  const double nyquist = made.mel.rate / 2.0;
  // Written as !(a && b), so that NaN is refused, too.
  if (!(made.mel.f_max > 0 && made.mel.f_max <= nyquist)) {
    return out_of_range("f_max", made.mel.f_max, 0, nyquist);
  }
  if (!(made.mel.f_min >= 0 && made.mel.f_min < made.mel.f_max)) {
    return out_of_range("f_min", made.mel.f_min, 0, made.mel.f_max);
  }
  if (settings.has_power() && settings.power() != 1 && settings.power() != 2) {
    return out_of_range("power", settings.power(), 1, 2);
  }
  if (!std::isnormal(made.floor) || made.floor < 0)
    return out_of_range("floor", made.floor, 1e-37, 1e38);
  if (made.top_db && !(*made.top_db > 0)) return out_of_range("top_db", *made.top_db, 0, 1e6);
  if (!std::isfinite(made.mean)) return out_of_range("mean", made.mean, -1e38, 1e38);
  if (!std::isnormal(made.std) || made.std < 0) return out_of_range("std", made.std, 1e-37, 1e38);
  return {};
}

}  // namespace

Result<audio::LogMelSettings> log_mel_settings(const v1::LogMel& settings, std::uint32_t rate) {
  audio::LogMelSettings made;
  made.mel.rate = rate;
  made.mel.n_fft = settings.n_fft();
  made.mel.n_mels = settings.n_mels();
  made.mel.f_min = settings.f_min();
  made.mel.f_max = settings.has_f_max() ? settings.f_max() : rate / 2.0;
  made.hop = settings.hop();
  made.win_length = settings.has_win_length() ? settings.win_length() : settings.n_fft();
  made.squares = settings.power() != 1;
  made.floor = static_cast<float>(settings.has_floor() ? settings.floor() : kFloorDefault);
  if (settings.has_top_db()) made.top_db = settings.top_db();
  made.mean = static_cast<float>(settings.mean());
  made.std = settings.has_std() ? static_cast<float>(settings.std()) : 1;
  ECHOLINE_ASSIGN(made.mel.scale, word_of<audio::MelScale>("scale", settings.scale(), kScales));
  ECHOLINE_ASSIGN(made.mel.by_width, word_of<bool>("norm", settings.norm(), kNorms));
  ECHOLINE_ASSIGN(made.pad, word_of<audio::FramePad>("pad", settings.pad(), kPads));
  ECHOLINE_ASSIGN(made.log, word_of<audio::LogKind>("log", settings.log(), kLogs));
  ECHOLINE_TRY(check_sizes(settings, made));
  ECHOLINE_TRY(check_numbers(settings, made));
  // Such a band would be a constant, which nobody wants; librosa only warns.
  if (audio::MelBank(made.mel).has_empty_filter()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("n_mels is {}: with n_fft {} some bands have no frequency; use fewer "
                              "bands or a larger n_fft",
                              made.mel.n_mels, made.mel.n_fft));
  }
  return made;
}

}  // namespace echoline::augment
