// Walks only the folders that a pattern can match. Links are followed. A dangling link, or a link
// to a folder above it, is an error: skipping it would make the data set smaller without notice.
#include "source/local/file_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "source/core/glob.h"

namespace echoline::source {
namespace {

class FileList {
 public:
  explicit FileList(const Address& address) : address_(address) {}

  Result<std::vector<ObjectInfo>> run() {
    // Checked before the disk is touched.
    ECHOLINE_TRY(check_glob(address_.path));
    ECHOLINE_TRY(has_glob(address_.path) || address_.is_tree() ? match("", address_.path)
                                                               : take_literal());
    if (found_.empty())
      return Status(Code::kNotFound,
                    fmt::format("{}: no file matches; check the path", address_.url()));
    // By the whole address, byte by byte: the same order on every host, whatever the folder
    // returns.
    std::sort(found_.begin(), found_.end(),
              [](const ObjectInfo& a, const ObjectInfo& b) { return a.url < b.url; });
    return std::move(found_);
  }

 private:
  Status take_literal() {
    const std::string path = unescape_glob(address_.path);
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return failed(errno, path);
    if (S_ISDIR(status.st_mode))
      return Status(Code::kInvalidArgument,
                    fmt::format("{} is a folder; end it in '/' for everything below it", path));
    if (!S_ISREG(status.st_mode))
      return Status(Code::kInvalidArgument, fmt::format("{} is no regular file", path));
    add(path, status);
    return {};
  }

  // Adds files below `folder` ("" or ending in '/') that match the rest of the pattern.
  Status match(const std::string& folder, std::string_view pattern) {
    if (pattern.empty()) return take_folder(folder);
    const std::size_t slash = pattern.find('/');
    const bool last = slash == std::string_view::npos;
    const std::string_view segment = pattern.substr(0, slash);
    const std::string_view rest = last ? std::string_view() : pattern.substr(slash + 1);
    // No need to read the folder: the name is known.
    if (!has_glob(segment)) {
      std::string name = folder + unescape_glob(segment);
      return last ? take_named(name) : match(name + "/", rest);
    }
    return each_name(folder, [&](const std::string& name) -> Status {
      // Names that do not match cost no system call.
      if (!glob_matches_segment(segment, name)) return {};
      if (last) return take_named(folder + name);
      return is_folder(folder + name) ? match(folder + name + "/", rest) : Status();
    });
  }

  // Adds everything below a folder.
  Status take_folder(const std::string& folder) {
    struct stat status {};
    if (::stat(folder.empty() ? "." : folder.c_str(), &status) != 0) return failed(errno, folder);
    return take_tree(folder, status);
  }

  Status take_tree(const std::string& folder, const struct stat& status) {
    // Only the folders above this one count: two links to one folder are not a loop.
    const std::pair identity(status.st_dev, status.st_ino);
    if (std::find(above_.begin(), above_.end(), identity) != above_.end())
      return Status(
          Code::kInvalidArgument,
          fmt::format("{}: a link leads back up to a folder that it lies in; remove it", folder));
    above_.push_back(identity);
    ECHOLINE_TRY(each_name(folder, [&](const std::string& name) -> Status {
      struct stat found {};
      const std::string path = folder + name;
      if (::stat(path.c_str(), &found) != 0) return failed(errno, path);
      if (S_ISDIR(found.st_mode)) return take_tree(path + "/", found);
      if (S_ISREG(found.st_mode)) add(path, found);
      return {};
    }));
    // Left only after success: after an error the list is dropped.
    above_.pop_back();
    return {};
  }

  // Adds a matching name if it is a file.
  Status take_named(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0)
      // A name in the middle of a pattern need not exist in every folder.
      // It may also have been removed since the folder was read.
      return errno == ENOENT || errno == ENOTDIR ? Status() : failed(errno, path);
    if (S_ISREG(status.st_mode)) add(path, status);
    return {};
  }

  template <typename Function>
  Status each_name(const std::string& folder, const Function& function) {
    std::error_code error;
    std::filesystem::directory_iterator at(folder.empty() ? "." : folder, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error))
      // Names only; whether it is a file is asked with stat, which follows links.
      ECHOLINE_TRY(function(at->path().filename().native()));
    return error ? failed(error.value(), folder) : Status();
  }

  static bool is_folder(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }

  static Status failed(int error, const std::string& path) {
    Status status = errno_status(error, path.empty() ? "." : path);
    const char* next = error == ENOENT ? "; check the path"
                       : error == ENOTDIR
                           ? "; check the path, and whether read.format is a folder's"
                       : error == EACCES ? "; let the user of this process read it"
                                         : "";
    return Status(status.code(), status.message() + next);
  }

  void add(const std::string& path, const struct stat& status) {
    found_.push_back(
        {address_.url_of(path), static_cast<std::uint64_t>(status.st_size), file_version(status)});
  }

  const Address& address_;
  std::vector<ObjectInfo> found_;
  std::vector<std::pair<dev_t, ino_t>> above_;  // the current folder and those above it
};

}  // namespace

std::string file_version(const struct stat& status) {
  return fmt::format("{}-{}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

Result<std::vector<ObjectInfo>> list_files(const Address& address) {
  return FileList(address).run();
}

}  // namespace echoline::source
