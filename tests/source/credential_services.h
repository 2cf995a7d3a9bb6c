// Tests of credentials against the fake services of tests/servers/credential_server.py, with a home
// folder of their own.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "servers/server_process.h"
#include "source/credential_wait.h"
#include "source/credentials/credential_options.h"
#include "source/credentials/google_credentials.h"
#include "source/test_environment.h"
#include "source/web_client.h"

namespace echoline::source {

class CredentialServicesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<ServerProcess>("credential_server.py");
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (server_->missing()) GTEST_SKIP() << "no openssl for the server's key";
    ASSERT_TRUE(server_->ready()) << "tests/servers/credential_server.py did not start";
    endpoint_ = server_->fact("endpoint");
    char name[] = "/tmp/echoline-credentials-XXXXXX";
    home_ = ::mkdtemp(name);
    environment_.set("HOME", home_);
  }
  void TearDown() override { std::filesystem::remove_all(home_); }

  // A file below the home folder; its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = home_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  // A program below the home folder that runs these lines.
  std::string program(const std::string& name, const std::string& lines) const {
    const std::string path = write(name, "#!/bin/sh\n" + lines);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // What the services were asked last, as JSON.
  std::string asked() const { return web_ask("GET", endpoint_ + "/asked").body; }

  static inline std::unique_ptr<ServerProcess> server_;
  TestEnvironment environment_;
  CredentialOptions options_;
  std::string endpoint_;
  std::string home_;
};

class GoogleServicesTest : public CredentialServicesTest {
 protected:
  // Gets a token with the present options and environment.
  Status status() {
    auto source = google_credentials(options_);
    if (!source.ok()) return source.status();
    Status ready = wait_ready(**source);
    token_ = (*source)->current().token;
    return ready;
  }

  std::string token_;
};

}  // namespace echoline::source
