#include "cli/output_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ios>
#include <system_error>

namespace echoline::cli {
namespace {

Status failed(const std::string& option, const std::string& path) {
  return errno_status(errno == 0 ? EIO : errno, path).with_context(option);
}

}  // namespace

Status check_output(const std::string& option, const std::string& path) {
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(path, ignored);
  const std::ofstream file(path, std::ios::app);
  if (!file) return failed(option, path);
  if (is_new) std::filesystem::remove(path, ignored);
  return {};
}

Status write_output(const std::string& option, const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? Status() : failed(option, path);
}

}  // namespace echoline::cli
