#include "audio/audio_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "audio/vorbis_headers.h"

namespace echoline::audio {
namespace {

// libsndfile reads many more formats, some of them by old and rarely tested parsers. A data set has
// one of these, so bytes that come from elsewhere reach no other parser.
bool is_known_format(std::span<const std::byte> bytes) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<std::size_t>(bytes.size(), 12));
  if (start.size() < 12) return false;
  if (start.starts_with("RIFF") || start.starts_with("RF64")) return start.substr(8) == "WAVE";
  if (start.starts_with("fLaC") || start.starts_with("OggS") || start.starts_with("ID3")) {
    return true;
  }
  // The first 11 bits of an MPEG frame are set.
  return start[0] == '\xFF' && (start[1] & 0xE0) == 0xE0;
}

// A tag before the file may hide another format, so the format that was opened is checked, too.
bool is_known_format(int format) {
  switch (format & SF_FORMAT_TYPEMASK) {
    case SF_FORMAT_WAV:
    case SF_FORMAT_WAVEX:
    case SF_FORMAT_RF64:
    case SF_FORMAT_FLAC:
    case SF_FORMAT_OGG:
    case SF_FORMAT_MPEG:
      return true;
    default:
      return false;
  }
}

Status unknown_format() {
  return {Code::kDataLoss, "not an audio file of a known format: WAV, FLAC, Ogg or MP3"};
}

AudioInfo info_of(const SF_INFO& info) {
  AudioInfo result;
  result.rate = static_cast<std::uint32_t>(info.samplerate);
  result.channels = static_cast<std::uint32_t>(info.channels);
  const bool known = info.frames >= 0 && info.frames < SF_COUNT_MAX;
  result.frames = known ? static_cast<std::uint64_t>(info.frames) : kFramesUnknown;
  result.lossless = (info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_FLAC;
  return result;
}

}  // namespace

Result<AudioInfo> AudioFile::open(std::span<const std::byte> bytes) {
  close();
  if (!is_known_format(bytes)) return unknown_format();
  if (!vorbis_headers_are_good(bytes)) {
    return Status(Code::kDataLoss, "a damaged audio file: its Vorbis headers");
  }
  bytes_ = bytes;
  position_ = 0;
  SF_VIRTUAL_IO io = callbacks();
  SF_INFO info{};
  file_.reset(sf_open_virtual(&io, SFM_READ, &info, this));
  // The library's reason is kept for the whole process, so it may be another thread's.
  if (file_ == nullptr) return Status(Code::kDataLoss, "a damaged or unsupported audio file");
  if (!is_known_format(info.format)) return unknown_format();
  if (info.samplerate < 1 || info.channels < 1) {
    return Status(Code::kDataLoss,
                  fmt::format("{} channels of rate {}", info.channels, info.samplerate));
  }
  channels_ = static_cast<std::uint32_t>(info.channels);
  // soundfile.read seeks first; after a seek, mpg123 rounds otherwise.
  const bool mpeg = (info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_MPEG;
  if (mpeg) sf_seek(file_.get(), 0, SF_SEEK_SET);
  return info_of(info);
}

Result<std::size_t> AudioFile::read(std::span<float> samples) {
  const auto wanted = static_cast<sf_count_t>(samples.size() / channels_);
  const sf_count_t frames = sf_readf_float(file_.get(), samples.data(), wanted);
  if (frames < 0 || sf_error(file_.get()) != SF_ERR_NO_ERROR) {
    return Status(Code::kDataLoss, fmt::format("damaged audio: {}", sf_strerror(file_.get())));
  }
  return static_cast<std::size_t>(frames);
}

SF_VIRTUAL_IO AudioFile::callbacks() {
  SF_VIRTUAL_IO io{};
  io.get_filelen = size_of;
  io.seek = seek;
  io.read = read_bytes;
  io.tell = tell;
  return io;
}

sf_count_t AudioFile::size_of(void* self) {
  return static_cast<sf_count_t>(static_cast<AudioFile*>(self)->bytes_.size());
}

sf_count_t AudioFile::seek(sf_count_t offset, int whence, void* self) {
  auto& file = *static_cast<AudioFile*>(self);
  const auto size = static_cast<sf_count_t>(file.bytes_.size());
  sf_count_t from = 0;
  if (whence == SEEK_CUR) from = static_cast<sf_count_t>(file.position_);
  if (whence == SEEK_END) from = size;
  // Offsets come from the file: a sum that would leave the file is refused before it overflows.
  if (offset < -from || offset > size - from) return -1;
  file.position_ = static_cast<std::size_t>(from + offset);
  return from + offset;
}

sf_count_t AudioFile::read_bytes(void* to, sf_count_t count, void* self) {
  auto& file = *static_cast<AudioFile*>(self);
  const std::size_t left = file.bytes_.size() - file.position_;
  const std::size_t bytes =
      std::min(left, static_cast<std::size_t>(std::max<sf_count_t>(count, 0)));
  if (bytes != 0) std::memcpy(to, file.bytes_.data() + file.position_, bytes);
  file.position_ += bytes;
  return static_cast<sf_count_t>(bytes);
}

sf_count_t AudioFile::tell(void* self) {
  return static_cast<sf_count_t>(static_cast<AudioFile*>(self)->position_);
}

}  // namespace echoline::audio
