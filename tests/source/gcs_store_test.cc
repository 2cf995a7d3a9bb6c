// Requests to Google, and how hostile answers are handled.
#include "source/store/gcs_store.h"

#include <gmock/gmock.h>

#include "source/store/gcs_answer.h"

namespace echoline::source {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::unique_ptr<ObjectStore> store(const std::string& token = "") {
  auto opened =
      GcsStore::open({"", std::make_shared<CredentialSource>(Credentials{"", "", token, 0})});
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  return std::move(opened).value();
}

std::string header(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers)
    if (key == name) return value;
  return "";
}

TEST(GcsStore, AReadNamesRangeGenerationAndToken) {
  const auto request = store("t")->get(*parse_address("gs://photos/a/b c"), "17", 5, 8, 0);
  EXPECT_EQ(request.url,
            "https://storage.googleapis.com/storage/v1/b/photos/o/a%2Fb%20c?"
            "alt=media&ifGenerationMatch=17");
  EXPECT_EQ(header(request, "range"), "bytes=5-7");
  EXPECT_EQ(header(request, "authorization"), "Bearer t");
  EXPECT_EQ(header(request, "accept-encoding"), "gzip");
  EXPECT_EQ(header(store()->get(*parse_address("gs://photos/a"), "", 5, 8, 0), "authorization"),
            "");
}

TEST(GcsStore, AWriteIsAnUploadThatNamesTheObject) {
  const auto request = store("t")->put(*parse_address("gs://photos/a/b c"), "content", 0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url,
            "https://storage.googleapis.com/upload/storage/v1/b/photos/o?"
            "name=a%2Fb%20c&uploadType=media");
  EXPECT_EQ(header(request, "authorization"), "Bearer t");
  EXPECT_EQ(request.body, "content");
}

TEST(GcsStore, AListingEscapesWhatItAsksFor) {
  ListQuery query;
  query.bucket = "photos";
  query.prefix = "a b/";
  query.delimiter = "/";
  query.continuation = "x+/=";
  EXPECT_THAT(
      store()->list(query, 0).url,
      AllOf(HasSubstr("/storage/v1/b/photos/o?delimiter=%2F&"), HasSubstr("prefix=a%20b%2F"),
            HasSubstr("pageToken=x%2B%2F%3D"), HasSubstr("maxResults=1000")));
}

TEST(GcsStore, WhatMayPassIsWorthARetryAndMessagesHoldNoToken) {
  const auto refused = [](int status, const std::string& body) {
    HttpResponse response;
    response.status = status;
    return store("hush")->refuse(response, body, Access::kRead);
  };
  for (const int status : {408, 429, 500, 502, 503, 504}) EXPECT_TRUE(refused(status, "").retry);
  for (const int status : {400, 401, 403, 404, 412, 416}) EXPECT_FALSE(refused(status, "").retry);
  EXPECT_THAT(refused(403, R"({"error": {"message": "hush may not\n"}})").status.message(),
              AllOf(HasSubstr("(... may not )"), HasSubstr("Storage Object Viewer")));
}

TEST(GcsAnswer, OnlyListsOfObjectsWithSizeAndGenerationAreTaken) {
  const auto good = parse_gcs_list(
      R"({"kind": "storage#objects", "nextPageToken": "n", "prefixes": ["a/"],
          "items": [{"name": "a", "size": "5", "generation": "7"}]})");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->next, "n");
  EXPECT_EQ(good->entries.at(0).bytes, 5U);
  EXPECT_EQ(good->entries.at(0).version, "7");
  for (const char* item : {"5", "{}", R"({"name": "a", "size": 5, "generation": "7"})",
                           R"({"name": "a", "size": "-5", "generation": "7"})",
                           R"({"name": "a", "size": "5", "generation": "x"})",
                           R"({"name": "", "size": "5", "generation": "7"})"})
    EXPECT_EQ(parse_gcs_list(R"({"kind": "storage#objects", "items": [)" + std::string(item) + "]}")
                  .status()
                  .code(),
              Code::kDataLoss)
        << item;
  for (const char* body : {"", "{", "[]", "null", "<html>", R"({"items": []})",
                           R"({"kind": "storage#objects", "items": {}})"})
    EXPECT_EQ(parse_gcs_list(body).status().code(), Code::kDataLoss) << body;
  EXPECT_FALSE(parse_gcs_object("[]").ok());
  EXPECT_EQ(gcs_error_text("[1]"), "");
  EXPECT_EQ(gcs_error_text(R"({"error": "x"})"), "");
}

TEST(GcsAnswer, DeepNestingIsNoTrouble) {
  EXPECT_FALSE(parse_gcs_list(std::string(1 << 20, '[')).ok());
}

}  // namespace
}  // namespace echoline::source
