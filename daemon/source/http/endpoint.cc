// Loopback is recognised by name or number; anything else counts as the network.
#include "source/http/endpoint.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include "source/core/address.h"

namespace echoline::source {

bool Endpoint::is_insecure() const {
  const bool bracketed = host.starts_with('[');
  const std::string_view name =
      // Without the port. In an IPv6 address colons come before it.
      std::string_view(host).substr(0, bracketed ? host.find(']') + 1 : host.find(':'));
  // A name may begin with "127.", too.
  in_addr address{};
  const bool is_number = ::inet_pton(AF_INET, std::string(name).c_str(), &address) == 1;
  return scheme != "https" && name != "localhost" && name != "[::1]" &&
         !(is_number && name.starts_with("127."));
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  std::string_view rest = text;
  if (rest.ends_with('/')) rest.remove_suffix(1);
  for (const std::string_view scheme : {"http", "https"}) {
    const std::string start = fmt::format("{}://", scheme);
    if (rest.starts_with(start) && is_host(rest.substr(start.size())))
      return Endpoint{std::string(scheme), std::string(rest.substr(start.size()))};
  }
  return Status(Code::kInvalidArgument,
                fmt::format("endpoint \"{}\": write it as http://host:port or https://host",
                            // Text before '@' can contain a password.
                            text.substr(text.rfind('@') + 1)));
}

Result<Endpoint> endpoint_of_url(std::string_view url) {
  const std::size_t host = url.find("://");
  return parse_endpoint(
      url.substr(0, host == std::string_view::npos ? host : url.find_first_of("/?", host + 3)));
}

}  // namespace echoline::source
