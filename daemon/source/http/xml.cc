// One pass, no recursion; every step consumes at least one byte.
#include "source/http/xml.h"

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace echoline::source {
namespace {

// Far deeper than any answer of a store.
constexpr std::size_t kDepthMax = 16;
constexpr std::string_view kBlank = " \t\r\n\xEF\xBB\xBF";  // spaces and a byte order mark

Status bad_xml(std::string_view reason) {
  return Status(Code::kDataLoss, "bad XML: " + std::string(reason));
}

bool append_utf8(std::uint32_t code, std::string& text) {
  // No zero, no surrogates, nothing beyond Unicode.
  if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  const auto tail = [&text, code](int shift) {
    text += static_cast<char>(0x80 | (code >> shift & 0x3F));
  };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
  return true;
}

// Appends the character of the entity between '&' and ';'.
bool append_entity(std::string_view name, std::string& text) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [word, character] : kNamed) {
    if (name != word) continue;
    text += character;
    return true;
  }
  if (!name.starts_with('#')) return false;
  // "&#65;" is decimal, "&#x41;" hexadecimal.
  const bool hex = name.starts_with("#x");
  name.remove_prefix(hex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), code, hex ? 16 : 10);
  return error == std::errc() && end == name.data() + name.size() && append_utf8(code, text);
}

bool append_text(std::string_view raw, std::string& text) {
  while (!raw.empty()) {
    const std::size_t mark = raw.find('&');
    text += raw.substr(0, mark);
    if (mark == std::string_view::npos) return true;
    raw.remove_prefix(mark + 1);
    // Long enough for "&#x10FFFF;" and a few leading zeros.
    const std::size_t end = raw.substr(0, 12).find(';');
    if (end == std::string_view::npos || !append_entity(raw.substr(0, end), text)) return false;
    raw.remove_prefix(end + 1);
  }
  return true;
}

// The element's name at the start of a tag, without its prefix.
std::string_view tag_name(std::string_view tag) {
  std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

// Open elements, outermost first.
class Elements {
 public:
  Elements(const XmlVisitor& on_close) : on_close_(on_close) {}

  bool empty() const { return open_.empty(); }
  bool had_root() const { return had_root_; }
  std::string& text() { return open_.back().text; }

  Status open(std::string_view name) {
    if (name.empty()) return bad_xml("a tag without a name");
    // Bounds the memory for hostile input.
    if (open_.size() == kDepthMax) return bad_xml("elements nested too deeply");
    if (open_.empty() && std::exchange(had_root_, true)) return bad_xml("a second root element");
    open_.push_back({path_.size(), {}});
    // The path names all open elements, so the visitor needs no stack of its own.
    if (!path_.empty()) path_ += '/';
    path_ += name;
    return {};
  }

  Status close(std::string_view name) {
    if (open_.empty()) return bad_xml("an element closes that was never opened");
    // Skips the slash between the path of the parent and this name.
    const std::size_t start = open_.back().path_bytes + (open_.back().path_bytes > 0);
    if (std::string_view(path_).substr(start) != name)
      return bad_xml("elements close in the wrong order");
    // Before the path is cut: the visitor gets the closed element's own path.
    on_close_(path_, open_.back().text);
    path_.resize(open_.back().path_bytes);
    open_.pop_back();
    return {};
  }

 private:
  struct Open {
    std::size_t path_bytes;  // of the parent
    std::string text;
  };
  const XmlVisitor& on_close_;
  std::vector<Open> open_;
  std::string path_;
  bool had_root_ = false;
};

// The text between '<' and its '>', or a comment or declaration; `rest` begins after '<'.
std::optional<std::string_view> take_tag(std::string_view& rest) {
  std::string_view end = ">";
  if (rest.starts_with("!--"))
    end = "-->";
  else if (rest.starts_with('?'))
    end = "?>";
  const std::size_t at = rest.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view tag = rest.substr(0, at);
  rest.remove_prefix(at + end.size());
  return tag;
}

Status take_element(std::string_view tag, Elements& elements) {
  if (tag.starts_with("!--") || tag.starts_with('?')) return {};
  // A document type could define entities, so it is refused.
  if (tag.starts_with('!')) return bad_xml("a document type or CDATA section");
  if (tag.starts_with('/')) return elements.close(tag_name(tag.substr(1)));
  ECHOLINE_TRY(elements.open(tag_name(tag)));
  return tag.ends_with('/') ? elements.close(tag_name(tag)) : Status();
}

}  // namespace

Status read_xml(std::string_view xml, const XmlVisitor& on_close) {
  Elements elements(on_close);
  while (!xml.empty()) {
    const std::size_t mark = xml.find('<');
    const std::string_view raw = xml.substr(0, mark);
    if (!elements.empty()) {
      if (!append_text(raw, elements.text())) return bad_xml("an unknown entity");
    } else if (raw.find_first_not_of(kBlank) != std::string_view::npos) {
      // Only white space is allowed before and after the root element.
      return bad_xml("text outside of the root element");
    }
    if (mark == std::string_view::npos) break;
    xml.remove_prefix(mark + 1);
    const auto tag = take_tag(xml);
    if (!tag) return bad_xml("it ends within a tag");
    ECHOLINE_TRY(take_element(*tag, elements));
  }
  if (!elements.empty() || !elements.had_root()) return bad_xml("it ends too early");
  return {};
}

}  // namespace echoline::source
