// Checksums of multipart objects ("-N") and of encrypted objects do not describe the bytes that are
// read.
#include "source/store/body_checksum.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/crc.h"

namespace echoline::source {
namespace {

using Kind = BodyChecksum::Kind;

constexpr std::array<std::string_view, 5> kNames = {"CRC32C", "CRC32", "CRC64NVME", "MD5",
                                                    "MD5 (its ETag)"};

// Raw bytes; offered() uses the length to find malformed headers.
std::size_t length_of(Kind kind) {
  if (kind == Kind::kCrc64Nvme) return 8;
  return kind == Kind::kMd5 || kind == Kind::kEtag ? 16 : 4;
}

// Decodes base64; empty for invalid text.
std::string from_base64(std::string_view text) {
  std::string bytes(text.size() / 4 * 3, 0);
  const int count = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()));
  // EVP_DecodeBlock counts the padding as bytes.
  const int padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(std::max(0, count - padding)));
  return bytes;
}

// Decodes hexadecimal digits; empty for other characters.
std::string from_hex(const std::string& text) {
  std::string bytes(text.size() / 2, 0);
  std::size_t count = 0;
  const int known = OPENSSL_hexstr2buf_ex(reinterpret_cast<unsigned char*>(bytes.data()),
                                          bytes.size(), &count, text.c_str(), '\0');
  return known == 1 ? bytes : std::string();
}

// One value of Google's header "crc32c=...,md5=...".
std::string google_hash(const HttpResponse& response, std::string_view word) {
  for (const auto& [name, value] : response.headers) {
    if (name != "x-goog-hash") continue;
    const std::size_t at = value.find(word);
    // At the start of a word: "crc32c=" must not be found inside another value.
    if (at == std::string::npos || (at > 0 && value[at - 1] != ',' && value[at - 1] != ' '))
      continue;
    const std::size_t begin = at + word.size();
    return from_base64(std::string_view(value).substr(begin, value.find(',', begin) - begin));
  }
  return {};
}

// The ETag of an encrypted object looks like an MD5 but is not one.
std::string etag_md5(const HttpResponse& response) {
  // AES256: S3 encrypts with its own keys, and the ETag is still the MD5.
  const std::string_view encryption = response.header("x-amz-server-side-encryption");
  if (!encryption.empty() && encryption != "AES256") return {};
  if (!response.header("x-amz-server-side-encryption-customer-algorithm").empty()) return {};
  std::string_view tag = response.header("etag");
  // Of one part: a multipart ETag has "-N" behind the digits, so it is longer.
  if (tag.size() != 34 || tag.front() != '"' || tag.back() != '"') return {};
  return from_hex(std::string(tag.substr(1, 32)));
}

std::string big_endian(std::uint64_t value, std::size_t bytes) {
  std::string text(bytes, 0);
  for (std::size_t i = 0; i < bytes; ++i)
    text[bytes - 1 - i] = static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

}  // namespace

void BodyChecksum::ContextDeleter::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

std::optional<BodyChecksum> BodyChecksum::offered(const HttpResponse& response,
                                                  const ChecksumPolicy& policy) {
  // Nothing is checked, so nothing is computed.
  if (policy.level == ChecksumPolicy::Level::kNone) return std::nullopt;
  // Hosts that allow only approved algorithms (FIPS) have no MD5.
  static const bool has_md5 =
      EVP_Digest("", 0, std::array<unsigned char, 64>().data(), nullptr, EVP_md5(), nullptr) == 1;
  const bool all = has_md5 && policy.level == ChecksumPolicy::Level::kAll;
  // In the order of cost: CRCs first, MD5 last.
  const std::pair<Kind, std::string> offers[] = {
      {Kind::kCrc32c, from_base64(response.header("x-amz-checksum-crc32c"))},
      {Kind::kCrc32c, google_hash(response, "crc32c=")},
      {Kind::kCrc64Nvme, from_base64(response.header("x-amz-checksum-crc64nvme"))},
      {Kind::kCrc32, from_base64(response.header("x-amz-checksum-crc32"))},
      {Kind::kMd5, all ? from_base64(response.header("content-md5")) : ""},
      {Kind::kMd5, all ? google_hash(response, "md5=") : ""},
      {Kind::kEtag, all && policy.etag_is_md5 ? etag_md5(response) : ""}};
  for (const auto& [kind, expected] : offers)
    // A checksum of a wrong length is treated as none.
    if (expected.size() == length_of(kind)) return BodyChecksum(kind, expected);
  return std::nullopt;
}

BodyChecksum::BodyChecksum(Kind kind, std::string expected)
    : kind_(kind), expected_(std::move(expected)) {
  restart();
}

void BodyChecksum::restart() {
  crc_ = 0;
  // MD5 needs a context; a CRC is one number.
  if (kind_ != Kind::kMd5 && kind_ != Kind::kEtag) return;
  if (!md5_) md5_.reset(EVP_MD_CTX_new());
  ECHOLINE_CHECK(md5_ != nullptr);
  ECHOLINE_CHECK(EVP_DigestInit_ex(md5_.get(), EVP_md5(), nullptr) == 1);
}

void BodyChecksum::add(std::span<const std::byte> bytes) {
  switch (kind_) {
    case Kind::kCrc32c:
      crc_ = crc32c(static_cast<std::uint32_t>(crc_), bytes);
      break;
    case Kind::kCrc32:
      crc_ = crc32_z(static_cast<std::uint32_t>(crc_), reinterpret_cast<const Bytef*>(bytes.data()),
                     bytes.size());
      break;
    case Kind::kCrc64Nvme:
      crc_ = crc64nvme(crc_, bytes);
      break;
    default:
      EVP_DigestUpdate(md5_.get(), bytes.data(), bytes.size());
  }
}

// A copy of the state, so that more bytes can be added afterwards.
std::string BodyChecksum::value() const {
  if (!md5_) return big_endian(crc_, length_of(kind_));
  const std::unique_ptr<EVP_MD_CTX, ContextDeleter> copy(EVP_MD_CTX_new());
  ECHOLINE_CHECK(EVP_MD_CTX_copy_ex(copy.get(), md5_.get()) == 1);
  std::string digest(16, 0);
  EVP_DigestFinal_ex(copy.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  return digest;
}

std::string_view BodyChecksum::name() const { return kNames[static_cast<std::size_t>(kind_)]; }

}  // namespace echoline::source
