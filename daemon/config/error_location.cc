// The texts of all rooms name keys by their step, which is what is looked for.
#include "config/error_location.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <cctype>

#include "config/pipeline.h"

namespace echoline::config {
namespace {

using google::protobuf::Message;

// Where the words stand in the text and don't go on a longer name or path.
std::size_t find_words(std::string_view text, std::string_view words) {
  const auto goes_on = [&](std::size_t at) {
    const auto before = static_cast<unsigned char>(text[at - 1]);
    return std::isalnum(before) != 0 || before == '_' || before == '/' || before == '.';
  };
  std::size_t at = text.find(words);
  while (at != std::string_view::npos && at > 0 && goes_on(at)) at = text.find(words, at + 1);
  return at;
}

// The mention that comes first in the text wins.
class FirstMention {
 public:
  FirstMention(const Places& places, std::string_view text) : places_(places), text_(text) {}

  // `key` 0: of the message as a whole, which also stands for keys that are not written.
  void consider(const std::string& words, const Message& message, int key) {
    const std::size_t at = find_words(text_, words);
    const Place* place = places_.find(message, key);
    if (place == nullptr) place = places_.find(message, 0);
    if (at >= first_ || place == nullptr) return;
    first_ = at;
    where_ = place->where;
  }

  // "echo: ...", "echo.window" and, of steps that may stand there twice, "pipeline step 6
  // (resize)".
  void consider_step(const v1::Step& step, int number) {
    const std::string name(step_name(step.step_case()));
    const auto* field = step.GetDescriptor()->FindFieldByName(name);
    const Message& settings = step.GetReflection()->GetMessage(step, field);
    consider(name + ": ", settings, 0);
    consider(fmt::format("pipeline step {} ({})", number, name), settings, 0);
    consider_keys(name, settings);
  }

  // "NAME.KEY" of every key.
  void consider_keys(const std::string& name, const Message& message) {
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const auto* key = message.GetDescriptor()->field(i);
      consider(name + "." + std::string(key->name()), message, key->number());
    }
  }

  const std::string& where() const { return where_; }

 private:
  const Places& places_;
  const std::string_view text_;
  std::size_t first_ = std::string_view::npos;
  std::string where_;
};

}  // namespace

std::string place_of_error(const v1::Stream& stream, const Places& places, std::string_view text) {
  FirstMention mention(places, text);
  for (int i = 0; i < stream.pipeline_size(); ++i) {
    mention.consider_step(stream.pipeline(i), i + 1);
  }
  for (const auto& [name, field] : decode_step(stream).fields()) {
    mention.consider("field " + name + " ", field, 0);
  }
  if (!mention.where().empty()) return mention.where();
  return places.where(read_step(stream), v1::Read::kUrlFieldNumber);
}

std::string place_of_error(const v1::ControlAccess& control, const Places& places,
                           std::string_view text) {
  FirstMention mention(places, text);
  mention.consider_keys("daemon.control", control);
  return mention.where().empty() ? places.where(control, 0) : mention.where();
}

}  // namespace echoline::config
