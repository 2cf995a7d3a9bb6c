// An audio file in memory, read by libsndfile: WAV, FLAC, Ogg (Vorbis, Opus) and MP3.
#pragma once

#include <sndfile.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/status.h"

namespace echoline::audio {

// What the file's header says; nothing of it is believed.
struct AudioInfo {
  std::uint32_t rate = 0;  // samples per second and channel
  std::uint32_t channels = 0;
  std::uint64_t frames = 0;  // samples per channel; kFramesUnknown if only reading shows it
  bool lossless = false;     // a file that has fewer frames than stated is cut off
};

inline constexpr std::uint64_t kFramesUnknown = ~std::uint64_t{0};

// One thread. Its address is given to libsndfile, so it cannot move.
class AudioFile {
 public:
  AudioFile() = default;
  AudioFile(const AudioFile&) = delete;
  AudioFile& operator=(const AudioFile&) = delete;

  // Opens `bytes`, which must live until `close` or the next `open`. kDataLoss: no file of these
  // formats, or a damaged one.
  Result<AudioInfo> open(std::span<const std::byte> bytes);
  void close() { file_.reset(); }
  // Reads the next frames, samples interleaved, full scale at 1, exactly as soundfile.read does for
  // float32. Fewer than asked for only at the end of the file.
  Result<std::size_t> read(std::span<float> samples);

 private:
  static SF_VIRTUAL_IO callbacks();
  static sf_count_t size_of(void* self);
  static sf_count_t seek(sf_count_t offset, int whence, void* self);
  static sf_count_t read_bytes(void* to, sf_count_t count, void* self);
  static sf_count_t tell(void* self);

  struct Close {
    void operator()(SNDFILE* file) const { sf_close(file); }
  };

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::uint32_t channels_ = 0;
  std::unique_ptr<SNDFILE, Close> file_;
};

}  // namespace echoline::audio
