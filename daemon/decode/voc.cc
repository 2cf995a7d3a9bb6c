// Pascal VOC annotations with expat.
#include <expat.h>
#include <fmt/format.h>

#include <charconv>
#include <climits>
#include <memory>

#include "base/ascii.h"
#include "decode/annotations.h"
#include "decode/field.h"

namespace echoline::decode {
namespace {

// annotation, object, bndbox and a corner are four; parts of objects need a few more.
constexpr std::size_t kDepthMax = 32;
constexpr std::size_t kTextBytesMax = 256;
constexpr std::string_view kCorners[] = {"xmin", "ymin", "xmax", "ymax"};

// Collects objects from the events of a parser. The path of open elements tells an object's own
// <name> and <bndbox> from those of its <part>s.
class VocReader {
 public:
  VocReader(std::size_t objects_max, Annotations& out) : objects_max_(objects_max), out_(out) {}

  Status read(std::span<const std::byte> file) {
    if (file.size() > INT_MAX) return {Code::kResourceExhausted, "the XML has more than 2 GiB"};
    const Parser parser(XML_ParserCreate(nullptr), XML_ParserFree);
    if (parser == nullptr) return {Code::kResourceExhausted, "no memory for the XML parser"};
    parser_ = parser.get();
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, on_start, on_end);
    XML_SetCharacterDataHandler(parser_, on_text);
    XML_SetStartDoctypeDeclHandler(parser_, on_doctype);
    const auto* text = reinterpret_cast<const char*>(file.data());
    const XML_Status parsed = XML_Parse(parser_, text, static_cast<int>(file.size()), XML_TRUE);
    if (!status_.ok()) return status_;
    if (parsed == XML_STATUS_OK) return {};
    return {Code::kDataLoss,
            fmt::format("no valid XML: {} in line {}", XML_ErrorString(XML_GetErrorCode(parser_)),
                        XML_GetCurrentLineNumber(parser_))};
  }

 private:
  using Parser = std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)>;

  static VocReader& of(void* reader) { return *static_cast<VocReader*>(reader); }
  static void on_start(void* reader, const XML_Char* name, const XML_Char**) {
    of(reader).start(name);
  }
  static void on_end(void* reader, const XML_Char*) { of(reader).end(); }
  static void on_text(void* reader, const XML_Char* text, int bytes) {
    of(reader).add_text({text, static_cast<std::size_t>(bytes)});
  }
  // Entities need a document type, and annotations need neither.
  static void on_doctype(void* reader, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    of(reader).fail({Code::kInvalidArgument, "the XML has a DOCTYPE, which is not allowed"});
  }

  void fail(Status status) {
    if (!status_.ok()) return;  // the first reason counts
    status_ = std::move(status);
    XML_StopParser(parser_, XML_FALSE);
  }

  void start(std::string_view name) {
    if (!status_.ok()) return;
    if (path_.size() == kDepthMax) {
      return fail(
          {Code::kInvalidArgument, fmt::format("the XML has more than {} levels", kDepthMax)});
    }
    if (path_.empty() && name != "annotation") {
      return fail(
          {Code::kInvalidArgument, fmt::format("the XML is a <{}>; Pascal VOC has an <annotation>",
                                               quoted(std::as_bytes(std::span(name))))});
    }
    path_.emplace_back(name);
    text_.clear();
    if (is_object()) begin_object();
  }

  bool is_object() const { return path_.size() == 2 && path_[1] == "object"; }
  bool within_object(std::size_t depth) const {
    return path_.size() == depth && path_[1] == "object";
  }

  void begin_object() {
    if (out_.objects.size() == objects_max_) return fail(too_many_objects(objects_max_));
    out_.objects.emplace_back();
    corners_ = 0;
    named_ = false;
  }

  void add_text(std::string_view text) {
    if (text_.size() + text.size() <= kTextBytesMax) {
      text_ += text;
    } else if (within_object(3) || within_object(4)) {
      fail({Code::kInvalidArgument,
            fmt::format("object {} has a <{}> of more than {} bytes", out_.objects.size() - 1,
                        path_.back(), kTextBytesMax)});
    }
  }

  void end() {
    if (!status_.ok()) return;
    if (within_object(3)) end_value(path_.back());
    if (within_object(4) && path_[2] == "bndbox") end_corner(path_.back());
    if (is_object()) end_object();
    path_.pop_back();
    text_.clear();
  }

  void end_value(std::string_view element) {
    Annotations::Object& object = out_.objects.back();
    const std::string_view text = trimmed(text_);
    if (element == "difficult") object.flag = !text.empty() && text != "0";
    if (element != "name" || named_) return;
    named_ = !text.empty();
    out_.set_name(object, text);
  }

  void end_corner(std::string_view element) {
    for (std::size_t i = 0; i < std::size(kCorners); ++i) {
      if (element != kCorners[i]) continue;
      const std::string_view text = trimmed(text_);
      double value = 0;
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, value);
      if (error != std::errc() || stop != end) {
        return fail(
            {Code::kInvalidArgument,
             fmt::format("object {} has the {} {}, which is no number", out_.objects.size() - 1,
                         element, quoted(std::as_bytes(std::span(text))))});
      }
      out_.objects.back().box[i] = value;
      corners_ |= 1U << i;
    }
  }

  void end_object() {
    const std::size_t number = out_.objects.size() - 1;
    if (!named_ || corners_ != 0xF) {
      return fail({Code::kInvalidArgument, fmt::format("object {} has no {}", number,
                                                       named_ ? "complete <bndbox>" : "<name>")});
    }
    if (Status checked = check_box(out_.objects.back().box, number); !checked.ok()) {
      fail(std::move(checked));
    }
  }

  const std::size_t objects_max_;
  Annotations& out_;
  XML_Parser parser_ = nullptr;
  Status status_;
  std::vector<std::string> path_;  // names of the open elements
  std::string text_;               // of the innermost one
  unsigned corners_ = 0;           // of this object, a bit for each that was found
  bool named_ = false;
};

}  // namespace

Status read_voc(std::span<const std::byte> file, std::size_t objects_max, Annotations& out) {
  out.clear();
  return VocReader(objects_max, out).read(file);
}

}  // namespace echoline::decode
