// If the schema gets another map field, the check below aborts in the first test that reads it.
#include "config/maps.h"

#include <map>

#include "base/check.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {
namespace {

using google::protobuf::Message;

// Calls use(map) with the map field of a message that has one.
template <typename Use>
auto with_map(Message& message, const Use& use) {
  if (auto* config = dynamic_cast<v1::Config*>(&message)) return use(*config->mutable_streams());
  if (auto* python = dynamic_cast<v1::Python*>(&message)) return use(*python->mutable_out());
  if (auto* crop = dynamic_cast<v1::MultiCrop*>(&message)) return use(*crop->mutable_crops());
  // The schema's last map.
  auto* decode = dynamic_cast<v1::Decode*>(&message);
  ECHOLINE_CHECK(decode != nullptr);
  return use(*decode->mutable_fields());
}

}  // namespace

Message& map_value(Message& message, const std::string& key) {
  // operator[] creates the value; its address stays the same.
  return *with_map(message, [&](auto& values) -> Message* { return &values[key]; });
}

Status for_each_map_value(
    Message& message, const std::function<Status(const std::string& key, Message& value)>& visit) {
  // Sorted, because protobuf's maps have no fixed order.
  const auto sorted = with_map(message, [](auto& values) {
    std::map<std::string, Message*> all;
    for (auto& [name, value] : values) all[name] = &value;
    return all;
  });
  for (const auto& [key, value] : sorted) ECHOLINE_TRY(visit(key, *value));
  return Status();
}

}  // namespace echoline::config
