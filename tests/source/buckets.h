// The real servers of object stores that tests read from, behind one interface.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "echoline/v1/config.pb.h"
#include "servers/server_process.h"
#include "source/http/escape.h"
#include "source/open/open_source.h"
#include "source/reading.h"
#include "source/s3_put.h"
#include "source/test_environment.h"
#include "source/web_client.h"

namespace echoline::source {

// One bucket, "photos", on a server that stops with this object. Its credentials are in the
// environment until then.
class Bucket {
 public:
  virtual ~Bucket() = default;

  virtual bool missing() const = 0;  // not installed
  virtual bool ready() const = 0;
  virtual void put(const std::string& key, const std::string& bytes) = 0;
  virtual std::string root() const = 0;  // "s3://photos/"
  virtual std::string endpoint() const = 0;

  v1::Read read_step(const std::string& path) const {
    v1::Read read;
    read.add_url(root() + path);
    read.set_endpoint(endpoint());
    return read;
  }

  std::unique_ptr<Source> open(const std::string& path = "*") const {
    return open_read(read_step(path));
  }
  static std::unique_ptr<Source> open_read(const v1::Read& read, Access access = Access::kRead) {
    auto source = open_source(read, access);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source.ok() ? std::move(source).value() : nullptr;
  }

  ObjectInfo info(Source& source, const std::string& key) const {
    const auto listed = source.list(root() + key);
    EXPECT_TRUE(listed.ok()) << listed.status().message();
    return listed.ok() ? listed->at(0) : ObjectInfo();
  }

  // The names below the bucket that a pattern lists.
  std::vector<std::string> keys(Source& source, const std::string& pattern) const {
    const auto listed = source.list(root() + pattern);
    EXPECT_TRUE(listed.ok()) << listed.status().message();
    std::vector<std::string> names;
    if (listed.ok())
      for (const ObjectInfo& object : *listed) names.push_back(object.url.substr(root().size()));
    return names;
  }
};

// SeaweedFS, which checks signatures.
class S3Bucket : public Bucket {
 public:
  S3Bucket() {
    if (!ready()) return;
    environment_.set("AWS_ACCESS_KEY_ID", credentials().access_key);
    environment_.set("AWS_SECRET_ACCESS_KEY", credentials().secret_key);
    client_ = std::make_unique<S3Put>(endpoint(), credentials());
  }

  bool missing() const override { return server_.missing(); }
  bool ready() const override { return server_.ready(); }
  std::string root() const override { return "s3://photos/"; }
  std::string endpoint() const override { return server_.fact("endpoint"); }
  void put(const std::string& key, const std::string& bytes) override {
    ASSERT_EQ(client_->object("photos", key, bytes), 200) << key;
  }

  Credentials credentials() const {
    return {server_.fact("access_key"), server_.fact("secret_key"), "", 0};
  }
  std::string reader_key() const { return server_.fact("reader_key"); }
  std::string port() const { return server_.fact("port"); }

 private:
  const ServerProcess server_{"s3_server.py", {"--bucket", "photos"}};
  TestEnvironment environment_;
  std::unique_ptr<S3Put> client_;
};

// fake-gcs-server behind a proxy that checks tokens; a fake of Google's token service issues them.
class GcsBucket : public Bucket {
 public:
  GcsBucket() {
    if (ready()) environment_.set("GOOGLE_APPLICATION_CREDENTIALS", tokens_.fact("key_file"));
  }

  bool missing() const override { return server_.missing() || tokens_.missing(); }
  bool ready() const override { return server_.ready() && tokens_.ready(); }
  std::string root() const override { return "gs://photos/"; }
  std::string endpoint() const override { return server_.fact("endpoint"); }
  void put(const std::string& key, const std::string& bytes) override {
    const std::string url =
        direct() + "/upload/storage/v1/b/photos/o?uploadType=media&name=" + uri_escape(key, false);
    ASSERT_EQ(web_ask("POST", url, bytes, {"content-type: application/octet-stream"}).status, 200)
        << key;
  }

  // The server without the proxy.
  std::string direct() const { return server_.fact("direct"); }
  // The proxy rejects all tokens with a lower number.
  void set_least_token(int number) const {
    web_ask("GET", endpoint() + "/gate?least=" + std::to_string(number));
  }
  int tokens_issued() const {
    return std::stoi(web_ask("GET", tokens_.fact("endpoint") + "/count").body);
  }

 private:
  const ServerProcess server_{"gcs_server.py", {"--tokens"}};
  const ServerProcess tokens_{"credential_server.py"};
  TestEnvironment environment_;
};

}  // namespace echoline::source
