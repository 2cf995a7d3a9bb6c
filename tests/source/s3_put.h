// Writes objects to the test's S3 server, signed by the code under test.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "source/credentials/aws_sign.h"

namespace echoline::source {

// One connection, one thread.
class S3Put {
 public:
  S3Put(std::string endpoint, Credentials credentials)
      : endpoint_(std::move(endpoint)),
        credentials_(std::move(credentials)),
        easy_(curl_easy_init()) {}
  ~S3Put() { curl_easy_cleanup(easy_); }
  S3Put(const S3Put&) = delete;
  S3Put& operator=(const S3Put&) = delete;

  // The status of the answer; 200 is success.
  long object(const std::string& bucket, const std::string& key, const std::string& bytes) {
    return put("/" + bucket + "/" + key, bytes);
  }
  long bucket(const std::string& name) { return put("/" + name, ""); }

 private:
  long put(const std::string& path, const std::string& bytes) {
    SignRequest request;
    request.method = "PUT";
    request.host = endpoint_.substr(endpoint_.find("://") + 3);
    request.path = path;
    request.payload_sha256 = sha256_hex(bytes);
    request.region = "us-east-1";
    curl_slist* headers = curl_slist_append(nullptr, "Expect:");
    for (const auto& [name, value] : signed_headers(request, credentials_, std::time(nullptr)))
      headers = curl_slist_append(headers, (name + ": " + value).c_str());
    curl_easy_reset(easy_);
    const std::string url = endpoint_ + escaped_target(path, {});
    curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, "PUT");
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, bytes.data());
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(bytes.size()));
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(
        easy_, CURLOPT_WRITEFUNCTION,
        +[](char*, std::size_t size, std::size_t count, void*) { return size * count; });
    long status = 0;
    if (curl_easy_perform(easy_) == CURLE_OK)
      curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    return status;
  }

  const std::string endpoint_;
  const Credentials credentials_;
  CURL* const easy_;
};

}  // namespace echoline::source
