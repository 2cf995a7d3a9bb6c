// The source expands globs and sorts; this code checks that something was found.
#include "record/index/listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "echoline/v1/config.pb.h"
#include "record/core/local_file.h"
#include "record/index/stored_index.h"
#include "source/core/glob.h"

namespace echoline::record {

namespace {

// A folder may be written without its trailing slash. Adds it for local folders and for formats
// that read folders.
std::string tree_address(const v1::Read& read, std::string url) {
  // A slash or a pattern says what is meant.
  if (url.ends_with('/') || source::has_glob(url)) return url;
  const auto path = local_path(url);
  std::error_code error;
  const bool folder = path && std::filesystem::is_directory(source::unescape_glob(*path), error);
  const bool wants_folder =
      // In a store, only the format can say that a folder is meant.
      read.format() == "folder" || (read.format() == "mds" && !url.ends_with(".json"));
  if (folder || wants_folder) url += '/';
  return url;
}

// Sidecar index files, and the empty objects that some stores create for folders.
bool is_no_data(const source::ObjectInfo& object) {
  return object.url.ends_with(kShardIndexSuffix) || object.url.ends_with('/');
}

// Whether the address can match only one object.
bool is_single(const std::string& url) { return !url.ends_with('/') && !source::has_glob(url); }

// Lists consecutive addresses of single objects with one call, or any one address.
Status append_lists(std::span<const std::string> urls, source::Source& source,
                    std::vector<Listed>& all) {
  auto objects = source.list_all({urls.begin(), urls.end()});
  const std::string& first = urls.front();
  if (!objects.ok()) return objects.status();
  if (urls.size() > 1) {  // exactly one object each
    for (std::size_t i = 0; i < urls.size(); ++i) {
      all.push_back({urls[i], {std::move((*objects)[i])}});
    }
    return {};
  }
  std::erase_if(*objects, is_no_data);
  if (objects->empty()) {
    return Status(Code::kNotFound, fmt::format("nothing found at {}: check read.url", first));
  }
  all.push_back({first, std::move(*objects)});
  return {};
}

}  // namespace

Result<std::vector<std::string>> addresses_of(const v1::Read& read) {
  std::vector<std::string> urls;
  for (const std::string& written : read.url()) {
    ECHOLINE_ASSIGN(const std::vector<std::string> expanded, source::expand_braces(written));
    for (const std::string& url : expanded) urls.push_back(tree_address(read, url));
  }
  if (urls.empty()) return Status(Code::kInvalidArgument, "read.url names no address");
  return urls;
}

Result<std::vector<Listed>> list_all(const v1::Read& read, source::Source& source) {
  ECHOLINE_ASSIGN(const std::vector<std::string> urls, addresses_of(read));
  std::vector<Listed> all;
  for (std::size_t first = 0; first < urls.size();) {
    std::size_t end = first;
    // A run of single addresses becomes one call, so that a store gets many requests at a time.
    while (end < urls.size() && is_single(urls[end])) ++end;
    // A pattern or a folder is a call of its own.
    end = std::max(end, first + 1);
    ECHOLINE_TRY(append_lists(std::span(urls).subspan(first, end - first), source, all));
    first = end;
  }
  return all;
}

std::string escape_glob(std::string_view name) {
  std::string escaped;
  for (const char c : name) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::vector<source::ObjectInfo> flatten(std::vector<Listed> listed) {
  std::vector<source::ObjectInfo> objects;
  for (Listed& entry : listed) {
    objects.insert(objects.end(), std::make_move_iterator(entry.objects.begin()),
                   std::make_move_iterator(entry.objects.end()));
  }
  return objects;
}

Result<std::vector<std::byte>> read_bytes(source::Source& source, const source::ObjectInfo& object,
                                          std::uint64_t offset, std::uint64_t bytes) {
  if (offset > object.bytes || bytes > object.bytes - offset) {
    return Status(Code::kDataLoss, fmt::format("{} has {} bytes, {} more are needed at offset {}",
                                               object.url, object.bytes, bytes, offset));
  }
  // Pieces bound the memory of the source.
  constexpr std::uint64_t kPiece = 8 << 20;
  std::vector<std::byte> all;
  all.reserve(bytes);
  while (all.size() < bytes) {
    const std::uint64_t count = std::min(kPiece, bytes - all.size());
    ECHOLINE_ASSIGN(const std::vector<std::byte> piece,
                    source::read_range(source, object, offset + all.size(), count));
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

bool may_be_damage(Code code) {
  // Damage can make a text invalid, or look like an unknown version.
  return code == Code::kDataLoss || code == Code::kInvalidArgument || code == Code::kUnimplemented;
}

Result<std::string> read_text(const std::string& url, source::Source& source) {
  if (const auto path = local_path(url)) return read_file(*path);
  ECHOLINE_ASSIGN(const std::vector<source::ObjectInfo> objects, source.list(url));
  if (objects.size() != 1) {
    return Status(Code::kNotFound, fmt::format("{} objects at {}", objects.size(), url));
  }
  ECHOLINE_ASSIGN(const std::vector<std::byte> bytes,
                  read_bytes(source, objects[0], 0, objects[0].bytes));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string_view base_name(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t slash = url.rfind('/');
  return slash == std::string_view::npos ? url : url.substr(slash + 1);
}

}  // namespace echoline::record
