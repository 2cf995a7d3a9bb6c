// Keys are percent-encoded (encoding-type=url), so that a name can contain any byte. Stores differ
// in whether "+" is a space or itself, so a page with a "+" is marked ambiguous.
#include "source/store/s3_list.h"

#include <charconv>

#include "source/http/escape.h"
#include "source/http/store_answer.h"
#include "source/http/xml.h"

namespace echoline::source {
namespace {

// Collects a page as its elements close.
struct PageReader {
  ListPage page;
  ListEntry entry;
  bool is_list = false;
  bool has_key = false;
  bool has_size = false;
  bool is_encoded = false;
  Status status;

  void element(std::string_view path, std::string_view text) {
    constexpr std::string_view kRoot = "ListBucketResult";
    if (path == kRoot) is_list = true;
    // Elements outside of the list, and the root itself, say nothing more.
    if (!path.starts_with(kRoot) || path.size() == kRoot.size()) return;
    path.remove_prefix(kRoot.size() + 1);
    if (path == "Contents/Key") {
      entry.key = text;
      has_key = true;
    } else if (path == "Contents/Size") {
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), entry.bytes);
      has_size = error == std::errc() && end == text.data() + text.size() && !text.empty();
    } else if (path == "Contents/ETag") {
      entry.version = unquoted_etag(text);
      // An element closes after its children, so the entry is complete here.
    } else if (path == "Contents") {
      add_entry();
    } else if (path == "NextContinuationToken") {
      page.next = text;
    } else if (path == "IsTruncated") {
      page.truncated = text == "true";
    } else if (path == "EncodingType") {
      is_encoded = text == "url";
    }
  }

  void add_entry() {
    // The first error stays until the end of the page.
    if (!has_key || !has_size) status = Status(Code::kDataLoss, "an entry without key or size");
    page.entries.push_back(std::exchange(entry, {}));
    has_key = has_size = false;
  }

  void decode_keys() {
    if (!is_encoded) return;
    for (ListEntry& listed : page.entries) {
      // Whether a "+" means a space depends on the store.
      page.ambiguous |= listed.key.find('+') != std::string::npos;
      listed.key = percent_decoded(listed.key);
    }
  }
};

}  // namespace

std::string_view unquoted_etag(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"')
    return etag.substr(1, etag.size() - 2);
  return etag;
}

Result<ListPage> parse_s3_list(std::string_view xml) {
  PageReader reader;
  ECHOLINE_TRY(read_xml(xml, [&reader](std::string_view path, std::string_view text) {
    reader.element(path, text);
  }));
  ECHOLINE_TRY(std::move(reader.status));
  if (!reader.is_list) return Status(Code::kDataLoss, "no ListBucketResult in the answer");
  if (reader.page.truncated && reader.page.next.empty())
    return Status(Code::kDataLoss, "a truncated listing without a continuation token");
  // The page that is not truncated is the last one, whatever token it has.
  if (!reader.page.truncated) reader.page.next.clear();
  reader.decode_keys();
  return std::move(reader.page);
}

S3Error parse_s3_error(std::string_view xml) {
  S3Error error;
  const Status status = read_xml(xml, [&error](std::string_view path, std::string_view text) {
    // Errors have the root Error, whatever was asked.
    if (path == "Error/Code") error.code = printable(text);
    if (path == "Error/Message") error.message = printable(text);
    if (path == "Error/Region") error.region = printable(text);
  });
  // A body that is no XML is an error page of a proxy: it has no code.
  return status.ok() ? error : S3Error{};
}

}  // namespace echoline::source
