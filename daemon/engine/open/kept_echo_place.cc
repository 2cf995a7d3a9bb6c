// The file is JSON: the place as the number of the step after it, the names of all steps, and why.
#include "engine/open/kept_echo_place.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/atomic_file.h"
#include "base/bounded_file.h"
#include "base/log.h"
#include "config/echo_places.h"

namespace echoline::engine {
namespace {

constexpr std::size_t kFileBytesMax = 64 << 10;

}  // namespace

KeptEchoPlace::KeptEchoPlace(const std::string& state_dir, const std::string& stream)
    : path_(state_dir.empty() ? "" : state_dir + "/echo_places/" + stream + ".json") {}

std::optional<ChosenPlace> KeptEchoPlace::load(const v1::Stream& definition) const {
  if (path_.empty()) return std::nullopt;
  const Result<std::string> text = read_bounded_file(path_, kFileBytesMax);
  if (!text.ok()) return std::nullopt;
  // Of a damaged file, null.
  const auto json = nlohmann::json::parse(text.value(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("steps", nlohmann::json()) != config::step_names(definition))
    return std::nullopt;
  const nlohmann::json place = json.value("place", nlohmann::json());
  const nlohmann::json why = json.value("why", nlohmann::json());
  if (!place.is_number_integer() || !why.is_string()) return std::nullopt;
  const std::vector<int> places = config::echo_places(definition);
  if (std::find(places.begin(), places.end(), place.get<std::int64_t>()) == places.end())
    return std::nullopt;
  const auto chosen = ChosenPlace{place.get<int>(), why.get<std::string>()};
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(chosen.why, is_control)) return std::nullopt;
  return chosen;
}

void KeptEchoPlace::save(const v1::Stream& definition, const ChosenPlace& chosen) const {
  if (path_.empty()) return;
  const nlohmann::ordered_json json = {
      {"place", chosen.place}, {"steps", config::step_names(definition)}, {"why", chosen.why}};
  const Status saved = write_file_atomically(path_, json.dump(2) + "\n");
  if (!saved.ok()) log_warning("engine", "the place of 'echo' is not kept: {}", saved.message());
}

Status KeptEchoPlace::remove() const {
  if (path_.empty() || unlink(path_.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return {};
  return errno_status(errno, path_);
}

}  // namespace echoline::engine
