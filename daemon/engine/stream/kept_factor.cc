// The file has the factor in thousandths; its name has the fingerprint.
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

// Daemons with other data or other pipelines may use the same folder, and the same name.
std::string path_of(const std::string& state_dir, const std::string& stream,
                    const std::string& fingerprint) {
  return state_dir + "/factors/" + stream + "." + fingerprint;
}

}  // namespace

KeptFactor::KeptFactor(const std::string& state_dir, const std::string& stream,
                       const Fingerprint& fingerprint)
    : path_(state_dir.empty() ? "" : path_of(state_dir, stream, to_hex(fingerprint))) {}

std::optional<std::uint32_t> KeptFactor::load() const {
  if (path_.empty()) return std::nullopt;
  const Result<std::string> text = read_bounded_file(path_, kFileBytesMax);
  if (!text.ok()) return std::nullopt;
  const char* const begin = text.value().data();
  const char* const end = begin + text.value().size();
  std::uint32_t factor = 0;
  if (std::from_chars(begin, end, factor).ec != std::errc()) return std::nullopt;
  return factor;
}

void KeptFactor::save(std::uint32_t factor) const {
  if (path_.empty()) return;
  const Status saved = write_file_atomically(path_, fmt::format("{}\n", factor));
  if (!saved.ok()) log_warning("engine", "the echo factor is not kept: {}", saved.message());
}

void KeptFactor::remove() const {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace echoline::engine
