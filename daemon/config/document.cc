// yaml-cpp's LoadAll does not end on some broken texts (found by the fuzzer). So only the first
// document is loaded, and then one call checks whether a second one begins.
#include "config/document.h"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "config/yaml_error.h"

namespace echoline::config {
namespace {

// Records the start of a document and ignores all other events.
class DocumentStart final : public YAML::EventHandler {
 public:
  std::optional<YAML::Mark> mark;

  void OnDocumentStart(const YAML::Mark& start) override { mark = start; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}
};

std::optional<YAML::Mark> second_document(const std::string& text) {
  // yaml-cpp closes a quote at the end of the text by itself, but not at the end of a document.
  std::istringstream stream(text + "\n...\n");
  // yaml-cpp's event interface: it builds no tree, so a broken second document costs little.
  YAML::Parser parser(stream);
  DocumentStart first;
  DocumentStart second;
  if (!parser.HandleNextDocument(first) || !parser.HandleNextDocument(second)) return std::nullopt;
  return second.mark;
}

// The place of a tab in the indentation of the line of a mark or of the line before, where the
// parser may have met it.
std::optional<YAML::Mark> tab_near(std::string_view text, const YAML::Mark& mark) {
  // Marks count lines and columns from 0.
  YAML::Mark at;
  for (at.line = 0; !text.empty() && at.line <= mark.line; ++at.line) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t tab = line.substr(0, line.find_first_not_of(" \t")).find('\t');
    at.column = static_cast<int>(tab);
    // Only these two lines: tabs elsewhere may be in texts.
    if (at.line + 1 >= mark.line && tab != std::string_view::npos) return at;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return std::nullopt;
}

Result<YAML::Node> load(const std::string& text, const std::string& name) {
  YAML::Node document = YAML::Load(text);
  if (const auto second = second_document(text)) {
    return Status(Code::kInvalidArgument,
                  at_mark(name, *second) + ": a second document; one is allowed");
  }
  // Comments alone make no document.
  if (document.IsDefined() && !document.IsNull()) return document;
  return Status(Code::kInvalidArgument,
                name + ":1:1: nothing in it; a configuration has the keys daemon and streams");
}

}  // namespace

std::string at_mark(const std::string& name, const YAML::Mark& mark) {
  // An override has no position.
  if (mark.is_null()) return name;
  return fmt::format("{}:{}:{}", name, mark.line + 1, mark.column + 1);
}

Result<YAML::Node> parse_yaml(std::string_view text, const std::string& name) {
  if (text.size() > kTextBytesMax) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: {} bytes are too many for a configuration; allowed: {}", name,
                              text.size(), kTextBytesMax));
  }
  try {
    return load(std::string(text), name);
  } catch (const YAML::Exception& error) {
    // The usual mistake, and yaml-cpp's message does not say it.
    if (const auto tab = tab_near(text, error.mark)) {
      return Status(
          Code::kInvalidArgument,
          at_mark(name, *tab) + ": a tab in the indentation; YAML allows only spaces there");
    }
    const YamlMistake mistake = explain_yaml_error(text, error);
    return Status(Code::kInvalidArgument, at_mark(name, mistake.mark) + ": " + mistake.what);
    // yaml-cpp also throws standard exceptions, for example for bad escapes.
  } catch (const std::exception& error) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: not readable as YAML: {}", name, error.what()));
  }
}

}  // namespace echoline::config
