#include "source/http/authorities.h"

#include <curl/curl.h>
#include <unistd.h>

namespace echoline::source {
namespace {

constexpr const char* kUsualFiles[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Gentoo
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL and their relatives
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // newer ones of these
    "/etc/ssl/ca-bundle.pem",                             // SUSE
    "/etc/ssl/cert.pem",                                  // Alpine
};

bool is_readable(const char* path) { return ::access(path, R_OK) == 0; }

}  // namespace

std::string authorities_of_system() {
  const curl_version_info_data* built = curl_version_info(CURLVERSION_NOW);
  return authorities_in_place_of(built->cainfo == nullptr ? "" : built->cainfo);
}

std::string authorities_in_place_of(const std::string& compiled_in) {
  if (is_readable(compiled_in.c_str())) return "";
  for (const char* path : kUsualFiles) {
    if (is_readable(path)) return path;
  }
  return "";
}

}  // namespace echoline::source
