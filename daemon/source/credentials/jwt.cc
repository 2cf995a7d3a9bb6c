// A key is in memory only while it signs.
#include "source/credentials/jwt.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <memory>

namespace echoline::source {
namespace {

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct DigestDeleter {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// OpenSSL would ask for the password of an encrypted key on the terminal.
int no_password(char*, int, int, void*) { return -1; }

std::unique_ptr<EVP_PKEY, KeyDeleter> read_key(const std::string& pem) {
  const std::unique_ptr<BIO, BioDeleter> bio(
      // Read from memory, so the key is never in another file.
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!bio) return nullptr;
  return std::unique_ptr<EVP_PKEY, KeyDeleter>(
      PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
}

// Empty if signing fails.
// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518), OpenSSL's default for RSA keys.
std::string rs256(EVP_PKEY* key, std::string_view text) {
  const std::unique_ptr<EVP_MD_CTX, DigestDeleter> context(EVP_MD_CTX_new());
  std::size_t size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(text.data());
  if (!context || EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
      // The first call only asks for the size.
      EVP_DigestSign(context.get(), nullptr, &size, data, text.size()) != 1)
    return {};
  std::string signature(size, 0);
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, data,
                     text.size()) != 1)
    return {};
  signature.resize(size);
  return signature;
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, 0);  // OpenSSL appends a zero byte
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

std::string base64url(std::string_view bytes) {
  // Padding and two characters differ from base64.
  std::string text = base64(bytes);
  text.resize(std::min(text.find('='), text.size()));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

Result<std::string> signed_jwt(std::string_view header, std::string_view claims,
                               const std::string& private_key_pem) {
  const auto key = read_key(private_key_pem);
  // An RSA key, because the header says RS256.
  if (!key || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA)
    return Status(Code::kInvalidArgument, "its private_key is no RSA key in PEM");
  std::string text = base64url(header) + "." + base64url(claims);
  const std::string signature = rs256(key.get(), text);
  if (signature.empty())
    return Status(Code::kInvalidArgument, "nothing can be signed with its private_key");
  return text + "." + base64url(signature);
}

}  // namespace echoline::source
