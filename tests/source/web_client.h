// A plain HTTP client for tests: configures test servers and queries what they received.
#pragma once

#include <curl/curl.h>

#include <string>
#include <vector>

namespace echoline::source {

struct WebAnswer {
  long status = 0;
  std::string body;
};

inline WebAnswer web_ask(const std::string& method, const std::string& url,
                         const std::string& body = "",
                         const std::vector<std::string>& headers = {}) {
  WebAnswer answer;
  CURL* easy = curl_easy_init();
  curl_slist* list = curl_slist_append(nullptr, "Expect:");
  for (const std::string& header : headers) list = curl_slist_append(list, header.c_str());
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method.c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
  if (method != "GET") {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &answer.body);
  curl_easy_setopt(
      easy, CURLOPT_WRITEFUNCTION,
      +[](char* data, std::size_t size, std::size_t count, void* text) {
        static_cast<std::string*>(text)->append(data, size * count);
        return size * count;
      });
  if (curl_easy_perform(easy) == CURLE_OK)
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_slist_free_all(list);
  curl_easy_cleanup(easy);
  return answer;
}

}  // namespace echoline::source
