#include "config/preparation.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "config/control.h"
#include "config/pipeline.h"

namespace echoline::config {
namespace {

constexpr std::string_view kDns = "dns:///";

// The key of the first TLS file that is missing; "" if none is.
std::string missing_file(const v1::Serve& serve) {
  if (serve.certificate().empty()) return "certificate";
  if (serve.key().empty()) return "key";
  return serve.client_ca().empty() ? "client_ca" : "";
}

bool any_stream_is_served(const v1::Config& config) {
  return std::any_of(config.streams().begin(), config.streams().end(),
                     [](const auto& entry) { return prepare_step(entry.second) != nullptr; });
}

bool has_steps_before_prepare(const v1::Stream& stream) {
  const auto is_transform = [](const v1::Step& step) { return is_augmentation(step.step_case()); };
  return std::ranges::any_of(up_to_prepare(stream).pipeline(), is_transform);
}

Status check_allowed(const v1::Serve& serve, const SourceLocations& locations) {
  if (serve.allow().empty()) {
    return locations.error(serve, "listen",
                           "'allow' is missing: name the certificates that may ask, as CN=NAME");
  }
  for (const std::string& entry : serve.allow()) {
    if (names_certificate(entry)) continue;
    return locations.error(serve, "allow",
                           fmt::format("'{}' names no certificate; allowed: CN=NAME, DNS:NAME, "
                                       "URI:ADDRESS, email:ADDRESS",
                                       entry));
  }
  return Status();
}

}  // namespace

std::string server_address(const std::string& server) {
  const std::string address = server.starts_with(kDns) ? server.substr(kDns.size()) : server;
  return is_address(address) && address.find('/') == std::string::npos ? address : "";
}

Status check_serve(const v1::Config& config, const SourceLocations& locations) {
  const v1::Serve& serve = config.daemon().serve();
  if (serve.listen().empty()) {
    const std::string idle = !serve.allow().empty()         ? "allow"
                             : !serve.certificate().empty() ? "certificate"
                             : !serve.key().empty()         ? "key"
                             : !serve.client_ca().empty()   ? "client_ca"
                                                            : "";
    if (idle.empty()) return Status();
    return locations.error(serve, idle, "of no use without 'listen'; set that, or leave this out");
  }
  if (!is_address(serve.listen())) {
    return locations.error(
        serve, "listen",
        fmt::format("'{}' is no address; allowed: host:port, as 0.0.0.0:9466", serve.listen()));
  }
  if (const std::string missing = missing_file(serve); !missing.empty()) {
    return locations.error(
        serve, "listen",
        fmt::format("'{}' is missing: a preparation server speaks TLS with certificates on both "
                    "sides, and nothing else; set certificate, key and client_ca",
                    missing));
  }
  ECHOLINE_TRY(check_allowed(serve, locations));
  // Streams that are created later may have one, but a server without any is most likely a mistake.
  if (any_stream_is_served(config) || config.streams().empty()) return Status();
  return locations.error(serve, "listen",
                         "no stream has a 'prepare' step, so there is nothing to serve; add one "
                         "after 'decode'");
}

Status check_prepare(const v1::Stream& stream, const SourceLocations& locations) {
  const v1::Prepare* prepare = prepare_step(stream);
  if (prepare == nullptr) return Status();
  for (const std::string& server : prepare->servers()) {
    if (!server_address(server).empty()) continue;
    return locations.error(
        *prepare, "servers",
        fmt::format("'{}' is no address; allowed: host:port, dns:///host:port", server));
  }
  for (std::size_t source = 0; source < reads_of(stream).size(); ++source) {
    for (const auto& [name, field] : decode_of(stream, source).fields()) {
      if (!field.fast()) continue;
      return locations.error(field, "fast",
                             "decodes for one crop, but a preparation server decodes whole "
                             "pictures; leave it out");
    }
  }
  // A server's cache keeps decoded samples, a host's cache prepared ones.
  if (has_steps_before_prepare(stream) && caches_decoded(stream) && caches_before_prepare(stream)) {
    return locations.error(
        *cache_step(stream), "memory",
        "keeps decoded samples, and other steps follow before 'prepare': move "
        "'cache' after 'read' (on the servers) or after 'prepare' (on the host)");
  }
  return Status();
}

}  // namespace echoline::config
