// The version of an object is its generation: each write creates a new one, even of the same bytes.
#include "source/store/gcs_store.h"

#include <fmt/core.h>

#include "source/http/escape.h"
#include "source/http/store_answer.h"
#include "source/store/gcs_answer.h"

namespace echoline::source {
namespace {

constexpr const char* kGoogle = "https://storage.googleapis.com";

// The JSON API takes the name as one path segment, with its slashes encoded.
std::string object_path(const Address& address) {
  return fmt::format("/storage/v1/b/{}/o/{}", uri_escape(address.bucket, false),
                     uri_escape(address.path, false));
}

constexpr std::string_view kNotPublic =
    "the bucket is not public; set `credentials: auto`, or at STORAGE_EMULATOR_HOST, where that is "
    "anonymous, `credentials: file`";

std::string_view hint(int status, bool anonymous, Access wanted) {
  if (status == 401)
    return anonymous ? kNotPublic
                     : "the token is not accepted; check the key file or the service account";
  if (status == 403 && !anonymous && wanted == Access::kWrite)
    return "this account may not write it; give it the role Storage Object User, and to a "
           "machine's "
           "account the access scope devstorage.read_write";
  if (status == 403)
    return anonymous ? kNotPublic
                     : "this account may not read it; give it the role Storage Object Viewer";
  if (status == 404)
    return "check the name, the bucket and the endpoint; of a folder, end the name with /";
  return hint_by_status(status);
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> GcsStore::open(GcsOptions options) {
  ECHOLINE_ASSIGN(Endpoint endpoint,
                  parse_endpoint(options.endpoint.empty() ? kGoogle : options.endpoint));
  // A token is not signed for one request: who reads it can use it.
  if (endpoint.is_insecure() && !options.credentials->is_anonymous())
    return Status(Code::kInvalidArgument,
                  fmt::format("endpoint {}: tokens could be overheard on the way there; use "
                              "https, or `credentials: anonymous`",
                              endpoint.url()));
  return std::unique_ptr<ObjectStore>(new GcsStore(std::move(options), std::move(endpoint)));
}

HttpRequest GcsStore::request(const std::string& target) const {
  HttpRequest request;
  request.url = endpoint_.url() + target;
  // Read for each request: the token is renewed while the stream runs.
  const std::string token = options_.credentials->current().token;
  if (!token.empty()) request.headers.emplace_back("authorization", "Bearer " + token);
  return request;
}

HttpRequest GcsStore::get(const Address& address, const std::string& version, std::uint64_t begin,
                          std::uint64_t end, std::time_t) {
  NamedValues query = {{"alt", "media"}};
  // Compares the generation on the server, so that a replaced object is an error and no mixture.
  if (!version.empty()) query.emplace_back("ifGenerationMatch", version);
  HttpRequest read = request(object_path(address) + "?" + escaped_query(query));
  // HTTP ranges include their last byte.
  read.headers.emplace_back("range", fmt::format("bytes={}-{}", begin, end - 1));
  // Without this header, objects stored with gzip encoding are decompressed on the way, and ranges
  // are ignored.
  read.headers.emplace_back("accept-encoding", "gzip");
  return read;
}

HttpRequest GcsStore::stat(const Address& address, StatMethod, std::time_t) {
  // Only these two members: the full resource is long.
  return request(object_path(address) + "?fields=size%2Cgeneration");
}

Result<ListEntry> GcsStore::parse_stat(const HttpResponse&, std::string_view body) const {
  return parse_gcs_object(body);
}

HttpRequest GcsStore::list(const ListQuery& query, std::time_t) {
  NamedValues words = {{"maxResults", std::to_string(query.entries_max)},
                       // Only what ListPage needs, because pages are long.
                       {"fields", "kind,nextPageToken,items(name,size,generation)"}};
  if (!query.prefix.empty()) words.emplace_back("prefix", query.prefix);
  if (!query.delimiter.empty()) words.emplace_back("delimiter", query.delimiter);
  if (!query.continuation.empty()) words.emplace_back("pageToken", query.continuation);
  return request(
      fmt::format("/storage/v1/b/{}/o?{}", uri_escape(query.bucket, false), escaped_query(words)));
}

HttpRequest GcsStore::put(const Address& address, const std::string& bytes, std::time_t) {
  HttpRequest write =
      request(fmt::format("/upload/storage/v1/b/{}/o?{}", uri_escape(address.bucket, false),
                          escaped_query({{"name", address.path}, {"uploadType", "media"}})));
  // One request with the whole object: readers see all of it or nothing.
  write.method = "POST";
  write.headers.emplace_back("content-type", "application/octet-stream");
  write.body = bytes;
  return write;
}

std::string GcsStore::version_of(const HttpResponse& response) const {
  return std::string(response.header("x-goog-generation"));
}

Result<ListPage> GcsStore::parse_list(const ListQuery&, const HttpResponse&,
                                      std::string_view body) const {
  return parse_gcs_list(body);
}

Verdict GcsStore::refuse(const HttpResponse& response, std::string_view body, Access wanted) const {
  const int status = response.status;
  std::string text = fmt::format("the store answered {}", status);
  if (const std::string words = gcs_error_text(body); !words.empty())
    // Errors can repeat parts of the request.
    text += fmt::format(" ({})", options_.credentials->scrubbed(words));
  if (retry_by_status(status)) return {Status(Code::kUnavailable, std::move(text)), true};
  const std::string_view advice = hint(status, options_.credentials->is_anonymous(), wanted);
  if (!advice.empty()) text += fmt::format(": {}", advice);
  Status refusal(code_of_status(status), std::move(text));
  // 403 is about rights, not about the token, so new credentials would not help.
  if (status == 401) return options_.credentials->reject(std::move(refusal));
  return {std::move(refusal)};
}

}  // namespace echoline::source
