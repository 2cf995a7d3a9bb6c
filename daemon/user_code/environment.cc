// A list of what passes, not of what is removed: secrets have any name.
#include "user_code/environment.h"

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

extern char** environ;

namespace echoline::user_code {
namespace {

constexpr std::string_view kPassed[] = {
    "PATH",   "HOME",       "USER",       "LOGNAME",     "LANG",         "LANGUAGE",        "TZ",
    "TMPDIR", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH",
};
constexpr const char* kSet[] = {
    // As many processes as workers: threads of their libraries would only compete.
    "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "NUMEXPR_NUM_THREADS=1",
    "RAYON_NUM_THREADS=1", "TOKENIZERS_PARALLELISM=false",
    "CUDA_VISIBLE_DEVICES=", "PYTHONHASHSEED=0", "PYTHONUNBUFFERED=1",
    // Freed arrays stay in the process, for those of the next sample: else each sample's pages are
    // taken from the kernel, filled with zeros, and given back. These are the highest values that
    // malloc of glibc finds by itself.
    "MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=67108864"};

// Not looked up in PATH, whose folders can belong to the user.
constexpr const char* kSetpriv = "/usr/bin/setpriv";
constexpr const char* kEnv = "/usr/bin/env";

bool loads_code(std::string_view line) {
  return line.starts_with("LD_") || line.starts_with("GCONV_PATH=");
}

bool passes(std::string_view name, const std::vector<std::string>& variables) {
  return std::find(std::begin(kPassed), std::end(kPassed), name) != std::end(kPassed) ||
         name.starts_with("LC_") ||
         std::find(variables.begin(), variables.end(), name) != variables.end();
}

}  // namespace

std::vector<std::string> worker_environment(const std::vector<std::string>& variables) {
  std::vector<std::string> lines;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view line = *at;
    if (passes(line.substr(0, line.find('=')), variables)) lines.emplace_back(line);
  }
  for (const std::string_view line : kSet) {
    const std::string_view name = line.substr(0, line.find('='));
    // Who names such a variable wants its own value.
    if (std::find(variables.begin(), variables.end(), name) == variables.end())
      lines.emplace_back(line);
  }
  return lines;
}

Result<std::optional<Account>> account_of(const std::string& user) {
  if (user.empty()) return std::optional<Account>();
  if (::geteuid() != 0) {
    return Status(Code::kInvalidArgument,
                  "only a daemon that runs as root can run workers as another user");
  }
  std::vector<char> text(16 << 10);
  passwd entry{};
  passwd* found = nullptr;
  ::getpwnam_r(user.c_str(), &entry, text.data(), text.size(), &found);
  if (found == nullptr)
    return Status(Code::kInvalidArgument, fmt::format("there is no user {} on this host", user));
  if (::access(kSetpriv, X_OK) != 0)
    return Status(Code::kInvalidArgument,
                  fmt::format("needs {}: install the package util-linux", kSetpriv));
  return std::optional<Account>({found->pw_uid, found->pw_gid, found->pw_dir});
}

std::vector<std::string> words_to_become(const Account& account,
                                         std::vector<std::string>& environment) {
  std::vector<std::string> words = {kSetpriv,
                                    "--reuid",
                                    std::to_string(account.uid),
                                    "--regid",
                                    std::to_string(account.gid),
                                    "--init-groups",
                                    "--",
                                    kEnv,
                                    "HOME=" + account.home};
  std::ranges::copy_if(environment, std::back_inserter(words), loads_code);
  std::erase_if(environment, loads_code);
  return words;
}

std::string interpreter_or_default(const std::string& configured) {
  if (!configured.empty()) return configured;
  const char* chosen = std::getenv("ECHOLINE_PYTHON");
  return chosen == nullptr || *chosen == '\0' ? "python3" : chosen;
}

}  // namespace echoline::user_code
