// Indented lines belong to a nested setting (s3 =), which nothing here needs.
#include "source/credentials/aws_profile.h"

#include "base/ascii.h"
#include "source/credentials/environment.h"

namespace echoline::source {
namespace {

// "profile dev" of "[ profile  dev ]".
std::string section_name(std::string_view line) {
  std::string name;
  // Spaces within a name count as one.
  for (const char c : trimmed(line.substr(1, line.find(']') - 1)))
    if (c != ' ' || !name.ends_with(' ')) name += c == '\t' ? ' ' : c;
  return name;
}

void add_line(std::string_view line, Settings& settings) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return;
  std::string_view value = line.substr(equals + 1);
  // A '#' or ';' after a space begins a comment; within a value it belongs to it.
  for (const std::string_view comment : {" #", " ;", "\t#", "\t;"})
    value = value.substr(0, value.find(comment));
  // Names of settings have no case.
  settings[lower_ascii(trimmed(line.substr(0, equals)))] = trimmed(value);
}

Result<Settings> read_section(const std::string& path, const std::string& section) {
  if (path.empty()) return Settings();
  const auto text = read_text_file(path);
  // No such file: as if it were empty.
  if (text.status().code() == Code::kNotFound) return Settings();
  if (!text.ok()) return text.status();
  return parse_settings(*text, section);
}

}  // namespace

// Lines before the section, in other sections, and indented ones are left out.
Settings parse_settings(std::string_view text, std::string_view section) {
  Settings settings;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[')
      inside = section_name(line) == section;
    else if (inside && line[0] != ' ' && line[0] != '\t')
      add_line(line, settings);
  }
  return settings;
}

Result<Settings> read_sso_session(const AwsFiles& files, const std::string& name) {
  return read_section(files.config, "sso-session " + name);
}

Result<Settings> read_profile(const AwsFiles& files, const std::string& name) {
  ECHOLINE_ASSIGN(Settings settings, read_section(files.credentials, name));
  // In the config file all names but the default have a prefix.
  const std::string section = name == "default" ? name : "profile " + name;
  ECHOLINE_ASSIGN(Settings more, read_section(files.config, section));
  // merge() keeps what is there: the credentials file wins.
  settings.merge(more);
  return settings;
}

}  // namespace echoline::source
