#include "serve/monitor/status_page.h"

#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <string_view>

#include "base/check.h"
#include "base/markup.h"
#include "serve/monitor/page_files.h"

namespace echoline::serve {
namespace {

// The form that the policy needs: 'sha256-' and the digest in base64.
std::string hash_source(std::string_view content) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(content.data()), content.size(), digest.data());
  // EVP_EncodeBlock adds a zero byte.
  std::array<unsigned char, 4 * ((SHA256_DIGEST_LENGTH + 2) / 3) + 1> text{};
  const int length = ::EVP_EncodeBlock(text.data(), digest.data(), digest.size());
  return fmt::format("'sha256-{}'", std::string_view(reinterpret_cast<const char*>(text.data()),
                                                     static_cast<std::size_t>(length)));
}

// Replaces the placeholder, which occurs once.
void fill_in(std::string& page, std::string_view name, std::string_view content) {
  const std::size_t at = page.find(name);
  // A missing placeholder is a bug of the page.
  ECHOLINE_CHECK(at != std::string::npos);
  page.replace(at, name.size(), content);
}

}  // namespace

std::string status_page(const std::string& text) {
  std::string page(kPageHtml);
  // Last to first, so that inserted content is never searched for the next placeholder.
  fill_in(page, "{{js}}", kPageJs);
  fill_in(page, "{{text}}", escape_markup(text));
  fill_in(page, "{{css}}", kPageCss);
  return page;
}

// By hash: no other script or style runs, even if one were inserted into the text.
std::string status_page_policy() {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data:; connect-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      hash_source(kPageJs), hash_source(kPageCss));
}

}  // namespace echoline::serve
