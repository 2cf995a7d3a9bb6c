// The files have one line of numbers in thousandths: the factor; the weights in the order of the
// sources. Their names have the fingerprint: daemons with other data or other pipelines may use the
// same folder, and the same name of a stream.
#include "engine/stream/kept_order.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "base/bounded_file.h"
#include "base/log.h"
#include "base/newest_entries.h"

namespace echoline::engine {
namespace {

constexpr std::size_t kFileBytesMax = 4096;
// Each change of a pipeline makes another fingerprint, and so another file.
constexpr std::size_t kFilesMax = 256;

using Numbers = std::vector<std::uint32_t>;

// None if there is no such file, or something else than numbers is in it.
Numbers load_numbers(const std::string& path) {
  if (path.empty()) return {};
  const Result<std::string> text = read_bounded_file(path, kFileBytesMax);
  if (!text.ok()) return {};
  touch_entry(path);
  std::istringstream stream(text.value());
  Numbers numbers;
  for (std::uint32_t number = 0; stream >> number;) numbers.push_back(number);
  if (stream.eof() && !numbers.empty()) return numbers;
  log_warning("engine", "{} is damaged and not used", path);
  return {};
}

void save_numbers(const std::string& path, const Numbers& numbers, const char* what) {
  if (path.empty()) return;
  const Status saved = write_file_atomically(path, fmt::format("{}\n", fmt::join(numbers, " ")));
  if (!saved.ok()) log_warning("engine", "{} not kept: {}", what, saved.message());
  keep_newest_entries(std::filesystem::path(path).parent_path(), kFilesMax);
}

}  // namespace

KeptOrder::KeptOrder(const std::string& state_dir, const std::string& stream,
                     const Fingerprint& fingerprint) {
  if (state_dir.empty()) return;
  const std::string name = stream + "." + to_hex(fingerprint);
  factor_path_ = state_dir + "/factors/" + name;
  weights_path_ = state_dir + "/weights/" + name;
}

OrderSettings KeptOrder::load() const {
  OrderSettings settings;
  const Numbers factor = load_numbers(factor_path_);
  if (!factor.empty()) settings.factor = factor.front();
  Numbers weights = load_numbers(weights_path_);
  if (!weights.empty()) settings.weights = std::move(weights);
  return settings;
}

void KeptOrder::save(const OrderSettings& settings) const {
  if (settings.factor) save_numbers(factor_path_, {*settings.factor}, "the echo factor is");
  if (settings.weights) save_numbers(weights_path_, *settings.weights, "the weights are");
}

void KeptOrder::remove() const {
  for (const std::string& path : {factor_path_, weights_path_}) {
    if (!path.empty()) unlink(path.c_str());
  }
}

}  // namespace echoline::engine
