#include "config/control.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace echoline::config {
namespace {

constexpr auto kCertificateKinds =
    std::to_array<std::string_view>({"CN=", "DNS:", "URI:", "email:"});

// In the order of the documentation.
// The key of the first TLS file that is missing; "" if none is.
std::string missing_file(const v1::ControlAccess& control) {
  if (control.certificate().empty()) return "certificate";
  if (control.key().empty()) return "key";
  return control.client_ca().empty() ? "client_ca" : "";
}

// The key of the first TLS file that is set; "" if none is.
std::string present_file(const v1::ControlAccess& control) {
  if (!control.certificate().empty()) return "certificate";
  if (!control.key().empty()) return "key";
  return control.client_ca().empty() ? "" : "client_ca";
}

bool any_certificate(const v1::ControlAccess& control) {
  return std::any_of(control.operators().begin(), control.operators().end(), names_certificate) ||
         std::any_of(control.readers().begin(), control.readers().end(), names_certificate);
}

// Whether the entry looks like a certificate's name but has an unknown kind.
Status check_entries(const v1::ControlAccess& control, const std::string& key,
                     const google::protobuf::RepeatedPtrField<std::string>& entries,
                     const SourceLocations& locations) {
  for (const std::string& entry : entries) {
    // No user's name has '=' or ':'.
    const bool user = entry.starts_with("group:") || entry.find_first_of("=:") == std::string::npos;
    if (user || names_certificate(entry)) continue;
    return locations.error(control, key,
                           fmt::format("'{}' names nobody; allowed: a user, group:NAME, CN=NAME, "
                                       "DNS:NAME, URI:ADDRESS, email:ADDRESS",
                                       entry));
  }
  return Status();
}

}  // namespace

bool is_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  // Without a host it would not be clear who can connect.
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size();
}

bool names_certificate(std::string_view entry) {
  return std::any_of(kCertificateKinds.begin(), kCertificateKinds.end(),
                     [entry](std::string_view kind) {
                       // A value must follow: "CN=" alone names nobody.
                       return entry.starts_with(kind) && entry.size() > kind.size();
                     });
}

Status check_control(const v1::ControlAccess& control, const SourceLocations& locations) {
  ECHOLINE_TRY(check_entries(control, "operators", control.operators(), locations));
  ECHOLINE_TRY(check_entries(control, "readers", control.readers(), locations));
  // Without a listener, TLS files and certificates have no use.
  if (control.listen().empty()) {
    const std::string idle = present_file(control);
    if (idle.empty()) return Status();
    return locations.error(control, idle,
                           "of no use without 'listen'; set that, or leave this out");
  }
  if (!is_address(control.listen())) {
    return locations.error(
        control, "listen",
        fmt::format("'{}' is no address; allowed: host:port, as 0.0.0.0:9465", control.listen()));
  }
  // All three files or none.
  if (const std::string missing = missing_file(control); !missing.empty()) {
    return locations.error(
        control, "listen",
        fmt::format("'{}' is missing: over TCP the control service speaks TLS with certificates on "
                    "both sides, and nothing else; set certificate, key and client_ca, or leave "
                    "listen out and use control.sock",
                    missing));
  }
  // Else nobody could use the socket that is opened.
  if (any_certificate(control)) return Status();
  return locations.error(
      control, "listen",
      "no certificate may use it; name some in operators or readers, as CN=NAME");
}

Status check_etcd(const v1::Etcd& etcd, const SourceLocations& locations) {
  for (const std::string& endpoint : etcd.endpoints()) {
    if (is_address(endpoint)) continue;
    return locations.error(
        etcd, "endpoints",
        fmt::format("'{}' is no address; allowed: host:port, as 10.0.0.1:2379", endpoint));
  }
  if (etcd.prefix().empty()) {
    return locations.error(etcd, "prefix", "is empty; it is what all keys begin with");
  }
  if (etcd.certificate().empty() != etcd.key().empty()) {
    const bool lacks_key = etcd.key().empty();
    return locations.error(
        etcd, lacks_key ? "certificate" : "key",
        fmt::format("needs '{}', too; set both, or none", lacks_key ? "key" : "certificate"));
  }
  if (etcd.certificate().empty() || !etcd.server_ca().empty()) return Status();
  return locations.error(etcd, "certificate",
                         "of no use without 'server_ca': without that, connections have no TLS");
}

}  // namespace echoline::config
