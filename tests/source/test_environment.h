// The environment of the process during a test: of the variables that stores read, only the given
// ones are set.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

extern char** environ;

namespace echoline::source {

class TestEnvironment {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  // No test may use the metadata service of its machine.
  explicit TestEnvironment(const Variables& variables = {}) {
    for (char** at = environ; *at != nullptr; ++at) {
      const std::string line = *at;
      const std::string name = line.substr(0, line.find('='));
      if (is_ours(name)) kept_.emplace_back(name, line.substr(name.size() + 1));
    }
    for (const auto& [name, value] : kept_) ::unsetenv(name.c_str());
    set("AWS_EC2_METADATA_DISABLED", "true");
    set("GCE_METADATA_HOST", "127.0.0.1:1");
    set("HOME", "/nonexistent");
    for (const auto& [name, value] : variables) set(name, value);
  }
  ~TestEnvironment() {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : kept_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  TestEnvironment(const TestEnvironment&) = delete;
  TestEnvironment& operator=(const TestEnvironment&) = delete;

  void set(const std::string& name, const std::string& value) {
    set_.push_back(name);
    ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  static bool is_ours(const std::string& name) {
    for (const char* start :
         {"AWS_", "GOOGLE_", "GCE_", "CLOUDSDK_", "STORAGE_EMULATOR_HOST", "HOME", "SSL_CERT_FILE",
          "CURL_CA_BUNDLE", "HF_", "HUGGING_FACE_", "XDG_CACHE_HOME"})
      if (name.starts_with(start)) return true;
    return name.ends_with("_proxy") || name.ends_with("_PROXY");
  }

  Variables kept_;
  std::vector<std::string> set_;
};

}  // namespace echoline::source
