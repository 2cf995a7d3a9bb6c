// The environment is read when a source is opened, never later.
#include "source/credentials/environment.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/unique_fd.h"

namespace echoline::source {
namespace {

// Keys and tokens are far smaller; this bounds what a wrong path costs.
constexpr std::size_t kFileBytesMax = 1 << 20;

}  // namespace

std::string from_environment(std::initializer_list<const char*> names) {
  for (const char* name : names)
    // An empty variable counts as not set, as in the stores' own tools.
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) return value;
  return {};
}

std::string first_set(const std::string& configured, std::initializer_list<const char*> names) {
  return configured.empty() ? from_environment(names) : configured;
}

std::string in_home(const char* path) {
  const std::string home = from_environment("HOME");
  return home.empty() ? home : home + "/" + path;
}

Result<std::string> read_text_file(const std::string& path) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return errno_status(errno, path);
  // One byte more than allowed shows that a file is too long.
  std::string text(kFileBytesMax + 1, 0);
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_status(errno, path);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size > kFileBytesMax)
    return Status(Code::kInvalidArgument, fmt::format("{} is unreasonably long", path));
  text.resize(size);
  return text;
}

bool file_exists(const std::string& path) {
  return !path.empty() && ::access(path.c_str(), F_OK) == 0;
}

}  // namespace echoline::source
