// The protocol: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/
#include "base/journal.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"

namespace echoline {
namespace {

static_assert(std::endian::native == std::endian::little, "the protocol counts in little endian");

constexpr std::string_view kSocketPath = "/run/systemd/journal/socket";

sockaddr_un journal_address() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, kSocketPath.data(), kSocketPath.size());
  return address;
}

}  // namespace

// A child process can inherit the variable and have another stderr, so the two are compared.
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  return stream != nullptr && ::fstat(STDERR_FILENO, &status) == 0 &&
         fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

std::string journal_entry(std::span<const JournalField> fields) {
  std::string entry;
  for (const auto& [name, value] : fields) {
    entry += name;
    if (value.find('\n') == std::string_view::npos) {
      entry += '=';
    } else {
      const std::uint64_t bytes = value.size();
      entry += '\n';
      entry.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    }
    entry += value;
    entry += '\n';
  }
  return entry;
}

bool send_to_journal(std::span<const JournalField> fields) {
  static const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  static const sockaddr_un address = journal_address();
  const std::string entry = journal_entry(fields);
  return ::sendto(socket.get(), entry.data(), entry.size(), MSG_NOSIGNAL,
                  reinterpret_cast<const sockaddr*>(&address), sizeof address) >= 0;
}

}  // namespace echoline
