#include "base/shown_address.h"

#include <algorithm>

namespace echoline {

// The path can contain an '@', so only an '@' before the path counts.
std::string shown_address(std::string address) {
  const std::size_t scheme = address.find("://");
  // Only these addresses can contain a password or a query.
  if (scheme == std::string::npos || !address.starts_with("http")) return address;
  const std::size_t begin = scheme + 3;
  // Where the host ends; the address may end there.
  const std::size_t host_end = std::min(address.find_first_of("/?", begin), address.size());
  const std::size_t at = address.rfind('@', host_end);
  if (at != std::string::npos && at >= begin) address.erase(begin, at + 1 - begin);
  if (const std::size_t query = address.find('?'); query != std::string::npos) address.erase(query);
  return address;
}

std::string store_of(const std::string& address) {
  const std::string shown = shown_address(address);
  const std::size_t scheme = shown.find("://");
  if (scheme == std::string::npos || shown.starts_with("file:")) return "file";
  return shown.substr(0, shown.find_first_of("/?", scheme + 3));
}

}  // namespace echoline
