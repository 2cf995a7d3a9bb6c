// A member can have several headers: pax ('x'), GNU long name ('L') and long link ('K'), then its
// own.
#include "record/tar/tar_member.h"

#include <fmt/core.h>

#include "record/core/text.h"
#include "record/tar/tar_header.h"

namespace echoline::record {
namespace {

// A larger extension header is taken for garbage.
constexpr std::uint64_t kExtensionBytesMax = 1 << 20;

std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kTarBlock - 1) / kTarBlock * kTarBlock;
}

// Values from the extension headers before the member's own header.
struct Overrides {
  PaxOverrides pax;
  std::optional<std::string_view> long_name, long_link;
};

bool is_extension(char type) {
  return type == 'x' || type == 'X' || type == 'g' || type == 'L' || type == 'K';
}

Status apply_extension(char type, std::string_view data, Overrides& overrides) {
  if (type == 'L') overrides.long_name = data.substr(0, data.find('\0'));
  if (type == 'K') overrides.long_link = data.substr(0, data.find('\0'));
  if (type == 'x' || type == 'X') return parse_pax(data, overrides.pax);
  return {};  // 'g' describes the archive (a commit, a comment): nothing that reading needs
}

// Links, devices, folders and pipes may have a size, but have no data.
bool has_no_data(char type) { return type >= '1' && type <= '6'; }

Result<TarMember> make_member(const TarHeader& header, const Overrides& overrides) {
  if (header.type == 'S' || overrides.pax.sparse) {
    const std::string_view long_name = overrides.long_name.value_or(header.name);
    const std::string_view path = overrides.pax.path.value_or(long_name);
    return Status(
        Code::kUnimplemented,
        fmt::format("'{}' is stored as a sparse file, which is not supported: write the archive "
                    "again without --sparse (-S)",
                    overrides.pax.sparse_name.value_or(path)));
  }
  TarMember member;
  member.directory = header.prefix;
  member.name = header.name;
  // Both replace the prefix, too; pax wins.
  if (overrides.long_name || overrides.pax.path) {
    member.directory = {};
    member.name = overrides.pax.path ? *overrides.pax.path : *overrides.long_name;
  }
  member.file = header.type == '0' || header.type == '\0' || header.type == '7';
  if (header.type == '\0' && member.name.ends_with('/')) member.file = false;  // a v7 folder
  const std::uint64_t bytes = overrides.pax.bytes.value_or(header.bytes);
  member.data_bytes = has_no_data(header.type) ? 0 : bytes;
  if (header.type == '1' || header.type == '2') {
    member.link = header.type == '1' ? TarLink::kHard : TarLink::kSymbolic;
    const std::string_view long_link = overrides.long_link.value_or(header.link_name);
    member.link_name = overrides.pax.link_path.value_or(long_link);
  }
  member.extended = overrides.long_name || overrides.long_link || overrides.pax.path ||
                    overrides.pax.link_path || overrides.pax.bytes;
  if (member.data_bytes > std::uint64_t{1} << 62) {
    return Status(Code::kDataLoss, "tar member with an impossible size");
  }
  return member;
}

TarParse need(std::uint64_t bytes) { return {TarStep::kNeedMore, {}, bytes}; }

}  // namespace

std::uint64_t TarMember::total_bytes() const { return header_bytes + padded(data_bytes); }

Result<TarParse> parse_tar_member(std::span<const std::byte> window) {
  Overrides overrides;
  std::uint64_t at = 0;
  while (true) {
    if (window.size() == at && at == 0) return TarParse{};
    if (window.size() - at < kTarBlock) return need(at + kTarBlock);
    const auto block = window.subspan(at, kTarBlock);
    if (is_zero_block(block)) {
      if (at == 0) return TarParse{};
      return Status(Code::kDataLoss, "tar archive ends after an extension header");
    }
    ECHOLINE_ASSIGN(const TarHeader header, parse_tar_header(block));
    at += kTarBlock;
    if (!is_extension(header.type)) {
      ECHOLINE_ASSIGN(TarMember member, make_member(header, overrides));
      member.header_bytes = at;
      return TarParse{TarStep::kMember, member, 0};
    }
    // Bounds the memory that a damaged header can request.
    if (header.bytes > kExtensionBytesMax || at > kExtensionBytesMax * 2) {
      return Status(Code::kDataLoss, "tar extension header is too long");
    }
    if (window.size() - at < padded(header.bytes))
      return need(at + padded(header.bytes) + kTarBlock);
    ECHOLINE_TRY(
        apply_extension(header.type, as_text(window.subspan(at, header.bytes)), overrides));
    at += padded(header.bytes);
  }
}

std::string TarMember::path() const {
  return directory.empty() ? std::string(name) : fmt::format("{}/{}", directory, name);
}

std::string SampleName::key() const {
  return directory.empty() ? std::string(stem) : fmt::format("{}/{}", directory, stem);
}

bool SampleName::has_key(std::string_view key) const {
  if (directory.empty()) return key == stem;
  return key.size() == directory.size() + 1 + stem.size() && key.starts_with(directory) &&
         key[directory.size()] == '/' && key.ends_with(stem);
}

bool is_meta_file(const TarMember& member) {
  if (!member.file && member.link == TarLink::kNone) return false;
  const bool prefixed = !member.directory.empty();
  const std::string_view path = prefixed ? member.directory : member.name;
  const std::size_t slash = path.find('/');
  const std::string_view first = path.substr(0, slash);
  if (!first.starts_with("__") || !first.ends_with("__")) return false;
  // "__" and "___" are reserved as files, not as folders.
  const bool folder = prefixed || slash != std::string_view::npos;
  return !folder || first.size() >= 4;
}

std::optional<SampleName> sample_name(const TarMember& member) {
  if (!member.file && member.link == TarLink::kNone) return std::nullopt;
  const std::size_t slash = member.name.rfind('/');
  const std::size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = member.name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return std::nullopt;
  if (is_meta_file(member)) return std::nullopt;
  return SampleName{member.directory, member.name.substr(0, dot), member.name.substr(dot + 1)};
}

}  // namespace echoline::record
