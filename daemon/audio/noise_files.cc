#include "audio/noise_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "audio/audio_reader.h"
#include "base/ascii.h"
#include "base/bounded_file.h"
#include "base/content_hash.h"

namespace echoline::audio {
namespace {

// Of a file as it is, which is in memory while it is decoded.
constexpr std::size_t kFileBytesMax = 1 << 30;

bool is_audio(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 6> kExtensions = {".wav", ".flac", ".ogg",
                                                           ".oga", ".opus", ".mp3"};
  return std::ranges::find(kExtensions, lower_ascii(path.extension().string())) !=
         kExtensions.end();
}

// The audio files of a folder and of all below it, also through links. `above`: the real paths of
// the folders that it lies in, so that a link back up is no endless loop.
Status take_folder(const std::filesystem::path& folder, std::vector<std::string>& above,
                   std::vector<std::string>& paths) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(folder, error).string();
  if (std::ranges::find(above, real) != above.end()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: a link leads back up to a folder that it lies in; remove it",
                              folder.string()));
  }
  above.push_back(real);
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // a link that leads nowhere is no folder
    if (entry->is_directory(ignored)) {
      ECHOLINE_TRY(take_folder(entry->path(), above, paths));
    } else if (is_audio(entry->path())) {
      paths.push_back(entry->path().string());
    }
  }
  if (error)
    return Status(Code::kNotFound, fmt::format("{}: {}", folder.string(), error.message()));
  above.pop_back();
  return {};
}

Result<std::vector<std::string>> paths_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::vector{path};
  std::vector<std::string> paths, above;
  ECHOLINE_TRY(take_folder(path, above, paths));
  if (paths.empty()) {
    return Status(Code::kNotFound,
                  fmt::format("{}: no .wav, .flac, .ogg, .oga, .opus or .mp3 files in it", path));
  }
  std::ranges::sort(paths);
  return paths;
}

// Asks for the size first, because a buffer for the largest file would be filled for each one.
Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return Status(Code::kNotFound, fmt::format("{}: {}", path, error.message()));
  return read_bounded_file(path, std::min<std::uintmax_t>(bytes, kFileBytesMax));
}

}  // namespace

Result<NoiseFiles> NoiseFiles::read(const std::string& path, std::uint32_t rate,
                                    std::uint64_t bytes_max) {
  NoiseFiles noise;
  ContentHash hash;
  AudioReader reader;
  std::uint64_t left = bytes_max / sizeof(float);
  ECHOLINE_ASSIGN(const std::vector<std::string> paths, paths_of(path));
  for (const std::string& name : paths) {
    ECHOLINE_ASSIGN(const std::string file, read_file(name));
    const AudioSettings settings{
        .rate = rate, .resample = true, .max_seconds = static_cast<double>(left) / rate};
    const auto read = reader.read(std::as_bytes(std::span(file)), settings);
    if (read.status().code() == Code::kResourceExhausted ||
        (read.ok() && read.value().size() > left)) {
      return Status(Code::kResourceExhausted,
                    fmt::format("{}: with it, the noise takes more than {} bytes, the smaller of "
                                "max_bytes and what is free of daemon.memory; raise that one, or "
                                "give less noise",
                                name, bytes_max));
    }
    if (!read.ok()) return Status(read.status()).with_context(name);
    if (read.value().empty()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: too short, not one sample at {} Hz", name, rate));
    }
    left -= read.value().size();
    noise.files_.emplace_back(read.value().begin(), read.value().end());
    // With its length, so that no other files have the same bytes in a row.
    const std::string length = fmt::format("{}\n", file.size());
    hash.add(std::as_bytes(std::span(length)));
    hash.add(std::as_bytes(std::span(file)));
  }
  noise.hash_ = hash.digits();
  return noise;
}

std::uint64_t NoiseFiles::bytes() const {
  std::uint64_t bytes = 0;
  for (const std::vector<float>& samples : files_) bytes += samples.size() * sizeof(float);
  return bytes;
}

}  // namespace echoline::audio
