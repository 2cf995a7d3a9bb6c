// A temporary folder for one test; the destructor removes it with its content.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace echoline::serve {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = "/tmp/echoline-serve-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace echoline::serve
