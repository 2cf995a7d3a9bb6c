// The file has one line: the fingerprint, a space, the factor in thousandths.
#include "engine/stream/kept_factor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>

#include "base/atomic_file.h"
#include "base/bounded_file.h"
#include "base/log.h"

namespace echoline::engine {
namespace {

constexpr std::size_t kFileBytesMax = 4096;

std::string path_of(const std::string& state_dir, const std::string& stream) {
  return state_dir + "/factors/" + stream;
}

}  // namespace

KeptFactor::KeptFactor(const std::string& state_dir, const std::string& stream,
                       const Fingerprint& fingerprint)
    : path_(state_dir.empty() ? "" : path_of(state_dir, stream)),
      fingerprint_(to_hex(fingerprint)) {}

std::optional<std::uint32_t> KeptFactor::load() const {
  if (path_.empty()) return std::nullopt;
  const Result<std::string> text = read_bounded_file(path_, kFileBytesMax);
  // The data set or the pipeline has changed: the factor may be out of its bounds.
  if (!text.ok() || !text.value().starts_with(fingerprint_ + " ")) return std::nullopt;
  const char* const begin = text.value().data() + fingerprint_.size() + 1;
  const char* const end = text.value().data() + text.value().size();
  std::uint32_t factor = 0;
  if (std::from_chars(begin, end, factor).ec != std::errc()) return std::nullopt;
  return factor;
}

void KeptFactor::save(std::uint32_t factor) const {
  if (path_.empty()) return;
  const Status saved = write_file_atomically(path_, fmt::format("{} {}\n", fingerprint_, factor));
  if (!saved.ok()) log_warning("engine", "the echo factor is not kept: {}", saved.message());
}

void KeptFactor::remove(const std::string& state_dir, const std::string& stream) {
  if (!state_dir.empty()) unlink(path_of(state_dir, stream).c_str());
}

}  // namespace echoline::engine
