// Signed JSON web tokens (RFC 7515, RFC 7519).
#include "source/credentials/jwt.h"

#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <memory>

namespace echoline::source {
namespace {

std::string pem_of(EVP_PKEY* key) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

std::string from_base64url(std::string_view text) {
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    bits = bits << 6 | static_cast<unsigned>(letters.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return bytes;
}

TEST(Jwt, Base64urlIsThatOfTheStandard) {
  EXPECT_EQ(base64url(""), "");
  EXPECT_EQ(base64url("f"), "Zg");
  EXPECT_EQ(base64url("fo"), "Zm8");
  EXPECT_EQ(base64url("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64url("\xfb\xff\xfe"), "-__-");
}

TEST(Jwt, AStatementCanBeVerifiedWithThePublicKey) {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  const auto jwt = signed_jwt(R"({"alg":"RS256"})", R"({"iss":"me"})", pem_of(key));
  ASSERT_TRUE(jwt.ok()) << jwt.status().message();
  const std::size_t dot = jwt->rfind('.');
  EXPECT_EQ(jwt->substr(0, dot), "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJtZSJ9");
  const std::string signature = from_base64url(jwt->substr(dot + 1));
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key);
  EXPECT_EQ(
      EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()),
                       signature.size(), reinterpret_cast<const unsigned char*>(jwt->data()), dot),
      1);
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(key);
}

TEST(Jwt, WhatIsNoRsaKeyIsRefusedAndNotTold) {
  EVP_PKEY* curve = EVP_EC_gen("P-256");
  for (const std::string& key :
       {std::string(), std::string("hush"),
        std::string("-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----\n"),
        pem_of(curve)}) {
    const auto jwt = signed_jwt("{}", "{}", key);
    EXPECT_EQ(jwt.status().code(), Code::kInvalidArgument);
    EXPECT_THAT(jwt.status().message(), testing::Not(testing::HasSubstr("hush")));
  }
  EVP_PKEY_free(curve);
}

}  // namespace
}  // namespace echoline::source
