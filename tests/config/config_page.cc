// Builds the tables by reflection; escapes values that contain Markdown's column separator.
#include "config/config_page.h"

#include <google/protobuf/descriptor.h>

#include "config/names.h"
#include "config/rules.h"
#include "config/schema_comments.h"
#include "echoline/v1/config.pb.h"

namespace echoline::config {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr const char* kHead = R"(# Configuration

Write this file to say what the daemon reads, how it prepares batches and how much memory it may use. It is YAML with two
keys: `daemon` and `streams`.

* `echoline check FILE` validates the file and does not start anything.
* For each mistake (an unknown key, a step in the wrong place, a value out of range) it prints one line with file, line,
  column, key, the allowed values and the nearest known name. The daemon does not start with such a file.
* `--set daemon.workers=4` overrides one value. `--set streams.train.pipeline.echo.factor=2` addresses a step by its name.
* Sizes take B, KB, MB, GB, TB and KiB, MiB, GiB, TiB. Times take us, ms, s, min, h. Rates are a size and `/s`. Shares are a
  number or a percentage. YAML anchors, aliases and merge keys (`<<`) work.

This page is generated from the comments of `proto/echoline/v1/config.proto` and the files that it imports, and a test compares
them.

```yaml
daemon:
  memory: 4GiB
streams:
  train:
    seed: 7
    pipeline:
      - read:    {url: "/data/train-{000000..000004}.tar", format: webdataset}
      - shuffle: {window: 10000}
      - decode:  {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}
      - echo:    {factor: 2.5, window: 10000}
      - random_resized_crop: {field: image, size: [224, 224]}
      - horizontal_flip:     {field: image}
      - batch:   {size: 256}
```

The position of `echo` is the echo point. Before `decode`, echo repeats the record; after `decode`, the sample; after the
augmentations, the augmented sample; after `batch`, the batch. `publish` is added if it is missing.
)";

class Page {
 public:
  explicit Page(const std::string& schema_file) : comments_(schema_file) {}

  std::string text() {
    add_message("daemon", *v1::Daemon::descriptor(), 2);
    add_message("streams: NAME", *v1::Stream::descriptor(), 2);
    text_ += "\n## Steps of a pipeline\n";
    const Descriptor& step = *v1::Step::descriptor();
    for (int i = 0; i < step.field_count(); ++i) {
      add_message(step.field(i)->name(), *step.field(i)->message_type(), 3);
    }
    return kHead + text_;
  }

 private:
  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '|' ? "\\|" : std::string(1, c);
    return result;
  }

  static std::string values_text(const FieldDescriptor& field, const FieldRules& rules) {
    if (field.is_map()) return "mappings by name, below";
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return field.is_repeated() ? "a list of steps, below" : "a mapping, below";
    }
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) return "true, false";
    if (rules.any_keys) return "a mapping with any keys";
    std::string text = allowed_values(rules);
    if (text.empty()) text = kind_of(field, rules);
    if (field.is_repeated()) text = (rules.single ? "one or a list: " : "a list: ") + text;
    return text;
  }

  static std::string kind_of(const FieldDescriptor& field, const FieldRules& rules) {
    switch (rules.unit) {
      case v1::BYTES:
        return "a size";
      case v1::DURATION:
        return "a time";
      case v1::RATE:
        return "a rate";
      default:
        break;
    }
    return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING   ? "text"
           : field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE ? "a number"
                                                                 : "a whole number";
  }

  static std::string default_text(const FieldDescriptor& field, const FieldRules& rules) {
    if (rules.required) return "required";
    const bool word = field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL;
    if (word && rules.default_value.empty()) return "`false`";
    return rules.default_value.empty() ? "" : "`" + rules.default_value + "`";
  }

  void add_rows(const Descriptor& message) {
    text_ += "\n| key | values | default | meaning |\n|---|---|---|---|\n";
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      const FieldRules rules = rules_of(field);
      const std::string comment = comments_.of(field);
      text_ += "| `" + field.name() + "` | " + values_text(field, rules) + " | " +
               default_text(field, rules) + " | " + escaped(comment) + " |\n";
    }
  }

  // Nested mappings follow their mapping, one heading level down.
  void add_message(const std::string& title, const Descriptor& message, int level) {
    text_ += "\n" + std::string(static_cast<std::size_t>(level), '#') + " `" + title + "`\n";
    const std::string comment = comments_.of(message);
    if (!comment.empty()) text_ += "\n" + comment + "\n";
    if (const FieldDescriptor* map = inline_map(message)) {
      return add_rows(*map->message_type()->map_value()->message_type());
    }
    add_rows(message);
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      const bool mapping = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      if (!mapping || field.message_type() == v1::Step::descriptor()) continue;
      const std::string name = title + "." + field.name();
      if (field.is_map()) {
        add_message(name + ": NAME", *field.message_type()->map_value()->message_type(), level + 1);
      } else {
        add_message(name, *field.message_type(), level + 1);
      }
    }
  }

  SchemaComments comments_;
  std::string text_;
};

}  // namespace

std::string config_page(const std::string& schema_file) { return Page(schema_file).text(); }

}  // namespace echoline::config
