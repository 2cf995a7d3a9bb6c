// Error texts of all modules name a key by its step, as "echo.window", so a text search finds it.
#include "config/error_location.h"

#include <fmt/core.h>
#include <google/protobuf/descriptor.h>

#include <cctype>

#include "config/pipeline.h"

namespace echoline::config {
namespace {

using google::protobuf::Message;

// The first position of the words where they do not continue a longer name or path.
std::size_t find_words(std::string_view text, std::string_view words) {
  // "echo.window" must not be found in "x.echo.window" or "my_echo.window".
  const auto continues = [&](std::size_t at) {
    const auto before = static_cast<unsigned char>(text[at - 1]);
    return std::isalnum(before) != 0 || before == '_' || before == '/' || before == '.';
  };
  std::size_t at = text.find(words);
  while (at != std::string_view::npos && at > 0 && continues(at)) at = text.find(words, at + 1);
  return at;
}

// Collects candidates; the one that comes first in the text wins.
class FirstNamed {
 public:
  FirstNamed(const SourceLocations& locations, std::string_view text)
      : locations_(locations), text_(text) {}

  // `key` 0: the whole message. Its location is also used for keys that are not in the text.
  void consider(const std::string& words, const Message& message, int key) {
    const std::size_t at = find_words(text_, words);
    const SourceLocation* location = locations_.find(message, key);
    // Not in the text, such as a default: then its message is the nearest place.
    if (location == nullptr) location = locations_.find(message, 0);
    // Not named, or named later than another candidate.
    if (at >= first_ || location == nullptr) return;
    first_ = at;
    where_ = location->where;
  }

  // "echo: ...", "echo.window" and, for steps that can occur twice, "pipeline step 6 (resize)".
  void consider_step(const v1::Step& step, int number) {
    const std::string name(step_name(step.step_case()));
    const auto* field = step.GetDescriptor()->FindFieldByName(name);
    const Message& settings = step.GetReflection()->GetMessage(step, field);
    consider(name + ": ", settings, 0);
    consider(fmt::format("pipeline step {} ({})", number, name), settings, 0);
    consider_keys(name, settings);
  }

  // "NAME.KEY", for every key.
  void consider_keys(const std::string& name, const Message& message) {
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const auto* key = message.GetDescriptor()->field(i);
      consider(name + "." + std::string(key->name()), message, key->number());
    }
  }

  const std::string& where() const { return where_; }

 private:
  const SourceLocations& locations_;
  const std::string_view text_;
  std::size_t first_ = std::string_view::npos;
  std::string where_;
};

// The first source of a mixture that an error about the mixture names; null for any other text.
const v1::MixSource* named_source(const v1::Stream& stream, std::string_view text) {
  const v1::Mix* const mix = mix_step(stream);
  if (mix == nullptr || !text.starts_with("mix: ")) return nullptr;
  const v1::MixSource* first = nullptr;
  std::size_t first_at = std::string_view::npos;
  for (const v1::MixSource& source : mix->sources()) {
    for (const char end : {':', ' ', ';'}) {
      const std::size_t at = find_words(text, fmt::format("source {}{}", source.name(), end));
      if (at >= first_at) continue;
      first_at = at;
      first = &source;
    }
  }
  return first;
}

std::string source_location(const v1::MixSource& source, const SourceLocations& locations,
                            std::string_view text) {
  FirstNamed named(locations, text);
  named.consider_keys("read", source.read());
  for (const auto& [name, field] : source.decode().fields()) {
    named.consider("field " + name + " ", field, 0);
  }
  // Most errors without a key are about the data.
  return named.where().empty() ? locations.where(source.read(), v1::Read::kUrlFieldNumber)
                               : named.where();
}

void consider_daemon(const v1::Daemon& daemon, FirstNamed& named) {
  // Before the keys of `daemon`, whose names begin theirs.
  named.consider_keys("daemon.control", daemon.control());
  named.consider_keys("daemon.serve", daemon.serve());
  named.consider_keys("daemon.etcd", daemon.etcd());
  named.consider_keys("daemon", daemon);
}

// `text` without the name of the stream.
std::string stream_location(const v1::Stream& stream, const v1::Daemon& daemon,
                            const SourceLocations& locations, std::string_view text) {
  if (const v1::MixSource* source = named_source(stream, text)) {
    return source_location(*source, locations, text);
  }
  FirstNamed named(locations, text);
  consider_daemon(daemon, named);
  // Steps count from 1 in messages.
  for (int i = 0; i < stream.pipeline_size(); ++i) {
    named.consider_step(stream.pipeline(i), i + 1);
  }
  for (const auto& [name, field] : decode_step(stream).fields()) {
    named.consider("field " + name + " ", field, 0);
  }
  if (!named.where().empty()) return named.where();
  // Most errors without a key are about the data.
  return locations.where(*reads_of(stream).front(), v1::Read::kUrlFieldNumber);
}

// Empty: the text names nothing of the configuration.
std::string error_location(const v1::Config& config, const SourceLocations& locations,
                           std::string_view text) {
  for (const auto& [name, stream] : config.streams()) {
    const std::string context = fmt::format("stream '{}': ", name);
    if (!text.starts_with(context)) continue;
    return stream_location(stream, config.daemon(), locations, text.substr(context.size()));
  }
  FirstNamed named(locations, text);
  consider_daemon(config.daemon(), named);
  return named.where();
}

}  // namespace

std::string source_context(std::string_view name) { return fmt::format("mix: source {}", name); }

Status at_location(const Status& status, const v1::Config& config,
                   const SourceLocations& locations) {
  if (status.ok()) return status;
  const std::string where = error_location(config, locations, status.message());
  return where.empty() ? status : Status(status).with_context(where);
}

}  // namespace echoline::config
