#include "state/state_json.h"

#include <iterator>
#include <limits>

#include "state/json_reader.h"

namespace echoline::client {
namespace {

constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

// The members of a state. A set of members is a bit mask in this order; the last two are optional.
constexpr std::string_view kMembers[] = {"version", "plan_version", "fingerprint", "stream",
                                         "epoch",   "row",          "batch_size",  "changes",
                                         "weights", "device_echo"};
constexpr unsigned kAllMembers = (1U << std::size(kMembers)) - 1;
constexpr unsigned kNeededMembers = kAllMembers >> 2;

bool read_32(JsonReader& reader, std::uint32_t& value) {
  std::uint64_t wide = 0;
  if (!reader.number(kMax32, wide)) return false;
  value = static_cast<std::uint32_t>(wide);
  return true;
}

bool read_changes(JsonReader& reader, std::vector<shm::FactorEntry>& changes) {
  if (!reader.take('[')) return false;
  // An empty list.
  if (reader.take(']')) return true;
  do {
    shm::FactorEntry entry{};
    // The bound keeps a wrong text from filling the memory.
    if (changes.size() == shm::kFactorChangesMax || !reader.take('[') ||
        !reader.number(kMax64, entry.block) || !reader.take(',') ||
        !read_32(reader, entry.factor) || !reader.take(']')) {
      return false;
    }
    changes.push_back(entry);
  } while (reader.take(','));
  return reader.take(']');
}

// [row, [weight of the first source, ...]]
bool read_weight_entry(JsonReader& reader, shm::WeightEntry& entry) {
  if (!reader.take('[') || !reader.number(kMax64, entry.row) || !reader.take(',') ||
      !reader.take('[')) {
    return false;
  }
  do {
    if (entry.source_count == shm::kMixSourcesMax ||
        !read_32(reader, entry.weights[entry.source_count])) {
      return false;
    }
    ++entry.source_count;
  } while (reader.take(','));
  return reader.take(']') && reader.take(']');
}

bool read_weights(JsonReader& reader, std::vector<shm::WeightEntry>& weights) {
  if (!reader.take('[')) return false;
  do {
    if (weights.size() == shm::kWeightChangesMax ||
        !read_weight_entry(reader, weights.emplace_back())) {
      return false;
    }
  } while (reader.take(','));
  return reader.take(']');
}

bool read_fingerprint(JsonReader& reader, Fingerprint& fingerprint) {
  std::string text;
  return reader.string(text) && from_hex(text, fingerprint);
}

// [factor, window, step]
bool read_device(JsonReader& reader, std::optional<DeviceEchoPosition>& device) {
  DeviceEchoPosition& position = device.emplace();
  return reader.take('[') && read_32(reader, position.factor) && reader.take(',') &&
         read_32(reader, position.window) && reader.take(',') &&
         reader.number(kMax64, position.step) && reader.take(']');
}

// Reads the value of member number `member` of kMembers.
bool read_member(JsonReader& reader, std::size_t member, State& state, std::uint32_t& version) {
  switch (member) {
    case 0:
      return read_32(reader, version);
    case 1:
      return read_32(reader, state.plan_version);
    case 2:
      return read_fingerprint(reader, state.fingerprint);
    case 3:
      return reader.string(state.stream);
    case 4:
      return read_32(reader, state.position.epoch);
    case 5:
      return reader.number(kMax64, state.position.row);
    case 6:
      return read_32(reader, state.batch_size);
    case 7:
      return read_changes(reader, state.changes);
    case 8:
      return read_weights(reader, state.weights);
    default:
      return read_device(reader, state.device);
  }
}

// For example ": mistake at byte 17 of its JSON".
std::string at_byte(const JsonReader& reader) {
  return ": mistake at byte " + std::to_string(reader.position()) + " of its JSON";
}

// The names of the members in a bit mask, separated by commas.
std::string names_in(unsigned set) {
  std::string names;
  for (std::size_t member = 0; member < std::size(kMembers); ++member) {
    if ((set >> member & 1) == 0) continue;
    names.append(names.empty() ? "" : ", ").append(kMembers[member]);
  }
  return names;
}

// Reads the value of member `name`. Returns what is wrong, or "".
std::string read_named(JsonReader& reader, const std::string& name, State& state,
                       std::uint32_t& version, unsigned& seen) {
  std::size_t member = 0;
  while (member < std::size(kMembers) && kMembers[member] != name) ++member;
  if (member == std::size(kMembers)) {
    return ": it has a key '" + name + "', the keys of a state are " + names_in(kAllMembers);
  }
  // A second value would hide the first one.
  if ((seen >> member & 1) != 0) return ": it has the key '" + name + "' twice";
  seen |= 1U << member;
  if (read_member(reader, member, state, version)) return "";
  return ": the value of its key '" + name + "' cannot be right" + at_byte(reader);
}

// Reads the whole object. Returns what is wrong, or "".
std::string read_object(JsonReader& reader, State& state, std::uint32_t& version) {
  unsigned seen = 0;
  if (!reader.take('{')) return at_byte(reader);
  // An empty object is read, too; what it lacks is reported below.
  bool more = !reader.take('}');
  while (more) {
    std::string name;
    if (!reader.string(name) || !reader.take(':')) return at_byte(reader);
    if (std::string wrong = read_named(reader, name, state, version, seen); !wrong.empty()) {
      return wrong;
    }
    more = reader.take(',');
    if (!more && !reader.take('}')) return at_byte(reader);
  }
  // Nothing may follow the object.
  if (!reader.at_end()) return at_byte(reader);
  const unsigned lacking = kNeededMembers & ~seen;
  return lacking == 0 ? "" : ": it lacks " + names_in(lacking);
}

// Only if weights were changed, so that older libraries read all other states.
void write_weights(const std::vector<shm::WeightEntry>& weights, std::string& text) {
  if (weights.empty()) return;
  text.append(",\"weights\":");
  char before = '[';
  for (const shm::WeightEntry& entry : weights) {
    text.append(1, before).append("[").append(std::to_string(entry.row));
    for (std::uint32_t source = 0; source < entry.source_count; ++source) {
      text.append(source == 0 ? ",[" : ",").append(std::to_string(entry.weights[source]));
    }
    text.append("]]");
    before = ',';
  }
  text.append("]");
}

}  // namespace

std::string write_state(const State& state) {
  std::string text = "{\"version\":" + std::to_string(kStateVersion);
  text.append(",\"plan_version\":").append(std::to_string(state.plan_version));
  text.append(",\"fingerprint\":").append(json_quote(to_hex(state.fingerprint)));
  text.append(",\"stream\":").append(json_quote(state.stream));
  text.append(",\"epoch\":").append(std::to_string(state.position.epoch));
  text.append(",\"row\":").append(std::to_string(state.position.row));
  text.append(",\"batch_size\":").append(std::to_string(state.batch_size));
  text.append(",\"changes\":[");
  for (const shm::FactorEntry& entry : state.changes) {
    // Behind the first entry the text ends with ']'.
    text.append(text.back() == ']' ? ",[" : "[").append(std::to_string(entry.block));
    text.append(",").append(std::to_string(entry.factor)).append("]");
  }
  text.append("]");
  write_weights(state.weights, text);
  // Only under device echo.
  if (state.device) {
    text.append(",\"device_echo\":[").append(std::to_string(state.device->factor));
    text.append(",").append(std::to_string(state.device->window));
    text.append(",").append(std::to_string(state.device->step)).append("]");
  }
  return text.append("}");
}

Error parse_state(std::string_view text, State& state) {
  State made;
  // 0 until the key is read: no version has that number.
  std::uint32_t version = 0;
  // Before parsing: a wrong file can have any size.
  if (text.size() > kStateBytesMax) {
    return {ECHOLINE_INVALID_ARGUMENT, "the state is longer than a state can be"};
  }
  JsonReader reader(text);
  const std::string wrong = read_object(reader, made, version);
  // Report a wrong version before any other mistake: another version may have other keys.
  if (version != kStateVersion && (wrong.empty() || version != 0)) {
    return {ECHOLINE_VERSION_MISMATCH, "the state has version " + std::to_string(version) +
                                           ", this library reads version " +
                                           std::to_string(kStateVersion)};
  }
  if (!wrong.empty()) {
    return {ECHOLINE_INVALID_ARGUMENT, "the state is not one that Echoline wrote" + wrong};
  }
  state = std::move(made);
  return {};
}

}  // namespace echoline::client
