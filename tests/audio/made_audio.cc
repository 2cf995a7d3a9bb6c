#include "audio/made_audio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace echoline::audio {
namespace {

struct Written {
  std::string bytes;
  std::size_t position = 0;
};

SF_VIRTUAL_IO callbacks() {
  SF_VIRTUAL_IO io{};
  io.get_filelen = [](void* self) {
    return static_cast<sf_count_t>(static_cast<Written*>(self)->bytes.size());
  };
  io.seek = [](sf_count_t offset, int whence, void* self) {
    auto& file = *static_cast<Written*>(self);
    sf_count_t from = 0;
    if (whence == SEEK_CUR) from = static_cast<sf_count_t>(file.position);
    if (whence == SEEK_END) from = static_cast<sf_count_t>(file.bytes.size());
    file.position = static_cast<std::size_t>(from + offset);
    return from + offset;
  };
  io.read = [](void* to, sf_count_t count, void* self) {
    auto& file = *static_cast<Written*>(self);
    const auto bytes = std::min(static_cast<std::size_t>(count), file.bytes.size() - file.position);
    std::memcpy(to, file.bytes.data() + file.position, bytes);
    file.position += bytes;
    return static_cast<sf_count_t>(bytes);
  };
  io.write = [](const void* from, sf_count_t count, void* self) {
    auto& file = *static_cast<Written*>(self);
    const auto bytes = static_cast<std::size_t>(count);
    if (file.position + bytes > file.bytes.size()) file.bytes.resize(file.position + bytes);
    std::memcpy(file.bytes.data() + file.position, from, bytes);
    file.position += bytes;
    return count;
  };
  io.tell = [](void* self) {
    return static_cast<sf_count_t>(static_cast<Written*>(self)->position);
  };
  return io;
}

}  // namespace

std::vector<float> made_samples(std::size_t frames, std::uint32_t channels) {
  std::vector<float> samples;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < frames; ++i) {
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      state = state * 1664525 + 1013904223;
      const double noise = state / 4294967296.0 - 0.5;
      samples.push_back(static_cast<float>(
          0.5 * std::sin(0.05 * (channel + 1) * static_cast<double>(i)) + 0.1 * noise));
    }
  }
  return samples;
}

std::string made_file(int format, std::uint32_t rate, std::uint32_t channels,
                      const std::vector<float>& interleaved) {
  Written written;
  SF_VIRTUAL_IO io = callbacks();
  SF_INFO info{};
  info.format = format;
  info.samplerate = static_cast<int>(rate);
  info.channels = static_cast<int>(channels);
  SNDFILE* const file = sf_open_virtual(&io, SFM_WRITE, &info, &written);
  EXPECT_NE(file, nullptr) << sf_strerror(nullptr);
  if (file == nullptr) return {};
  const auto frames = static_cast<sf_count_t>(interleaved.size() / channels);
  EXPECT_EQ(sf_writef_float(file, interleaved.data(), frames), frames);
  sf_close(file);
  return written.bytes;
}

}  // namespace echoline::audio
