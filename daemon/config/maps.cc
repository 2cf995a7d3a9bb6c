// If the schema gets another map field, the check below aborts in the first test that reads it.
#include "config/maps.h"

#include <map>

#include "base/check.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {
namespace {

using google::protobuf::Message;

// Sorted, because protobuf's maps have no fixed order.
template <typename Map>
std::map<std::string, Message*> sorted(Map& values) {
  std::map<std::string, Message*> all;
  for (auto& [key, value] : values) all[key] = &value;
  return all;
}

std::map<std::string, Message*> sorted_values(Message& message) {
  if (auto* config = dynamic_cast<v1::Config*>(&message)) return sorted(*config->mutable_streams());
  if (auto* python = dynamic_cast<v1::Python*>(&message)) return sorted(*python->mutable_out());
  if (auto* multi = dynamic_cast<v1::MultiCrop*>(&message)) return sorted(*multi->mutable_crops());
  // The schema's last map.
  auto* decode = dynamic_cast<v1::Decode*>(&message);
  ECHOLINE_CHECK(decode != nullptr);
  return sorted(*decode->mutable_fields());
}

}  // namespace

Message& map_value(Message& message, const std::string& key) {
  // operator[] creates the value; its address stays the same.
  if (auto* config = dynamic_cast<v1::Config*>(&message)) return (*config->mutable_streams())[key];
  if (auto* python = dynamic_cast<v1::Python*>(&message)) return (*python->mutable_out())[key];
  if (auto* multi = dynamic_cast<v1::MultiCrop*>(&message)) return (*multi->mutable_crops())[key];
  auto* decode = dynamic_cast<v1::Decode*>(&message);
  ECHOLINE_CHECK(decode != nullptr);
  return (*decode->mutable_fields())[key];
}

Status for_each_map_value(
    Message& message, const std::function<Status(const std::string& key, Message& value)>& visit) {
  for (const auto& [key, value] : sorted_values(message)) ECHOLINE_TRY(visit(key, *value));
  return Status();
}

}  // namespace echoline::config
