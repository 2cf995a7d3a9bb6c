// The file has the weights in thousandths, in the order of the sources, separated by blanks; its name
// has the fingerprint.
#include "engine/stream/kept_weights.h"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>

#include "base/atomic_file.h"
#include "base/bounded_file.h"
#include "base/log.h"

namespace echoline::engine {
namespace {

constexpr std::size_t kFileBytesMax = 4096;

}  // namespace

KeptWeights::KeptWeights(const std::string& state_dir, const std::string& stream,
                         const Fingerprint& fingerprint)
    : path_(state_dir.empty()
                ? ""
                : fmt::format("{}/weights/{}.{}", state_dir, stream, to_hex(fingerprint))) {}

std::optional<Weights> KeptWeights::load() const {
  if (path_.empty()) return std::nullopt;
  const Result<std::string> text = read_bounded_file(path_, kFileBytesMax);
  if (!text.ok()) return std::nullopt;
  std::istringstream numbers(text.value());
  Weights weights;
  for (std::uint32_t weight = 0; numbers >> weight;) weights.push_back(weight);
  // Something else than numbers.
  if (!numbers.eof() || weights.empty()) return std::nullopt;
  return weights;
}

void KeptWeights::save(const Weights& weights) const {
  if (path_.empty()) return;
  const Status saved =
      write_file_atomically(path_, fmt::format("{}\n", fmt::join(weights, " ")));
  if (!saved.ok()) log_warning("engine", "the weights are not kept: {}", saved.message());
}

void KeptWeights::remove() const {
  if (!path_.empty()) unlink(path_.c_str());
}

}  // namespace echoline::engine
