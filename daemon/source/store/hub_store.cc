// Redirects are followed here and not by libcurl: the address is kept for later reads, and which
// request has the token does not depend on the library's version.
#include "source/store/hub_store.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/log.h"
#include "source/core/hub_address.h"
#include "source/http/escape.h"
#include "source/http/store_answer.h"
#include "source/store/hub_answer.h"

namespace echoline::source {
namespace {

constexpr const char* kHub = "https://huggingface.co";
// In one request for sizes; the answer has about 200 bytes for each.
constexpr std::size_t kNamesMax = 200;
// A signed address has about 1.5 KiB.
constexpr std::size_t kTargetBytesMax = 8 << 10;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// A signed address whose time is over, or that was withdrawn.
bool is_expired(int status) {
  return status == 401 || status == 403 || status == 404 || status == 410;
}

constexpr std::string_view kTermsNeeded =
    "the data set is gated: accept its terms on its page, and set HF_TOKEN to a token of that "
    "account";

std::string_view hint(int status, std::string_view error, bool anonymous) {
  if (error == "GatedRepo")
    return anonymous ? kTermsNeeded
                     : "the data set is gated: accept its terms on its page with the account of "
                       "the token, and let the token read gated repositories";
  if (error == "RevisionNotFound")
    return "there is no such branch, tag or commit; a / in its name is written %2F";
  if (error == "EntryNotFound") return "there is no such file or folder in this revision";
  if (status == 401 && !anonymous)
    return "the token is not accepted; check HF_TOKEN or the file of `hf auth login`";
  if (status == 401 || status == 403 || status == 404)
    return anonymous ? "check the name of the data set; if it is private or gated, set HF_TOKEN"
                     : "check the name of the data set, and whether this token may read it";
  return hint_by_status(status);
}

}  // namespace

Result<std::unique_ptr<ObjectStore>> HubStore::open(HubOptions options) {
  ECHOLINE_ASSIGN(Endpoint endpoint,
                  parse_endpoint(options.endpoint.empty() ? kHub : options.endpoint));
  // A token is not signed for one request: who reads it can use it.
  if (endpoint.is_insecure() && !options.credentials->is_anonymous())
    return Status(Code::kInvalidArgument,
                  fmt::format("endpoint {}: the token could be overheard on the way there; use "
                              "https, or `credentials: anonymous`",
                              endpoint.url()));
  return std::unique_ptr<ObjectStore>(new HubStore(std::move(options), std::move(endpoint)));
}

bool HubStore::is_at_endpoint(std::string_view url) const {
  // Another spelling of the same server only costs the token.
  const Result<Endpoint> other = endpoint_of_url(url);
  return other.ok() && other->url() == endpoint_.url();
}

HttpRequest HubStore::request(std::string url) const {
  HttpRequest request;
  // Read for each request: the token may be replaced while the stream runs.
  const std::string token = options_.credentials->current().token;
  if (!token.empty() && is_at_endpoint(url))
    request.headers.emplace_back("authorization", "Bearer " + token);
  // Without compression: ranges and lengths are those of the file.
  request.headers.emplace_back("accept-encoding", "identity");
  request.url = std::move(url);
  return request;
}

HttpRequest HubStore::pin(const std::string& bucket) {
  const HubRevision wanted = hub_revision(bucket);
  // Only this member: the whole description lists all files.
  return request(fmt::format("{}/api/datasets/{}/revision/{}?expand=sha", endpoint_.url(),
                             wanted.name, uri_escape(percent_decoded(wanted.revision), false)));
}

Status HubStore::take_pin(const std::string& bucket, std::string_view body) {
  ECHOLINE_ASSIGN(std::string commit, parse_hub_commit(body));
  const HubRevision wanted = hub_revision(bucket);
  if (wanted.revision != commit)
    log_info("source", "hf://datasets/{}: revision {} is commit {}; @{} in the address pins it",
             wanted.name, wanted.revision, commit, commit);
  commits_[bucket] = std::move(commit);
  return {};
}

std::string HubStore::api_url(const std::string& bucket, std::string_view what) const {
  return fmt::format("{}/api/datasets/{}/{}/{}", endpoint_.url(), hub_revision(bucket).name, what,
                     commits_.at(bucket));
}

std::string HubStore::file_url(const Address& address, const std::string& version) const {
  return fmt::format("{}/datasets/{}/resolve/{}/{}", endpoint_.url(),
                     hub_revision(address.bucket).name, version, uri_escape(address.path, true));
}

// The commit is in the version, so another source of the same stream reads the same bytes.
HttpRequest HubStore::get(const Address& address, const std::string& version, std::uint64_t begin,
                          std::uint64_t end, std::time_t) {
  std::string url = file_url(address, version);
  if (const std::string* target = targets_.find(url)) url = *target;
  HttpRequest read = request(std::move(url));
  // HTTP ranges include their last byte.
  read.headers.emplace_back("range", fmt::format("bytes={}-{}", begin, end - 1));
  return read;
}

std::string HubStore::target_of(const HttpResponse& response) const {
  std::string target(response.header("location"));
  const Result<Endpoint> from = endpoint_of_url(response.url);
  if (!from.ok() || target.size() > kTargetBytesMax) return {};
  // Without a host it is on the same server; the storage of small files has such addresses.
  if (target.starts_with("/") && !target.starts_with("//")) target.insert(0, from->url());
  const Result<Endpoint> to = endpoint_of_url(target);
  // A redirect must not give up TLS.
  return to.ok() && (to->is_tls() || !endpoint_.is_tls()) ? target : std::string();
}

bool HubStore::moves(const Address& address, const std::string& version,
                     const HttpResponse& response) {
  const std::string file = file_url(address, version);
  if (is_redirect(response.status)) {
    std::string target = target_of(response);
    if (target.empty()) return false;
    note_accepted(response);
    targets_.put(file, std::move(target));
    return true;
  }
  if (is_at_endpoint(response.url) || !is_expired(response.status)) return false;
  targets_.drop(file, response.url);
  return true;
}

HttpRequest HubStore::list(const ListQuery& query, std::time_t) {
  if (!query.names.empty()) {
    HttpRequest sizes = request(api_url(query.bucket, "paths-info"));
    sizes.method = "POST";
    sizes.headers.emplace_back("content-type", "application/json");
    sizes.body = nlohmann::json{{"paths", query.names}, {"expand", false}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
    return sizes;
  }
  std::string url = api_url(query.bucket, "tree");
  // The folder that all matches are in; the rest of the prefix is compared later.
  if (const std::size_t slash = query.prefix.rfind('/'); slash != std::string::npos)
    url += "/" + uri_escape(std::string_view(query.prefix).substr(0, slash), false);
  NamedValues words = {{"expand", "false"},
                       {"recursive", query.delimiter.empty() ? "true" : "false"}};
  if (!query.continuation.empty()) words.emplace_back("cursor", query.continuation);
  return request(url + "?" + escaped_query(words));
}

std::size_t HubStore::names_max() const { return kNamesMax; }

Result<ListPage> HubStore::parse_list(const ListQuery& query, const HttpResponse& response,
                                      std::string_view body) const {
  ECHOLINE_ASSIGN(ListPage page, parse_hub_tree(body, commits_.at(query.bucket)));
  if (query.names.empty()) page.next = hub_cursor(response);
  page.truncated = !page.next.empty();
  return page;
}

HttpRequest HubStore::stat(const Address&, StatMethod, std::time_t) {
  ECHOLINE_CHECK(false);
  return {};
}

Result<ListEntry> HubStore::parse_stat(const HttpResponse&, std::string_view) const {
  return Status(Code::kUnimplemented, "sizes on the Hub come from listings");
}

// Never called: open_source refuses to write to the Hub.
HttpRequest HubStore::put(const Address&, const std::string&, std::time_t) {
  ECHOLINE_CHECK(false);
  return {};
}

// The storage behind a redirect does not know commits; its address was made for this one.
std::string HubStore::version_of(const HttpResponse& response) const {
  return std::string(response.header("x-repo-commit"));
}

Verdict HubStore::refuse_storage(const HttpResponse& response) const {
  const Result<Endpoint> at = endpoint_of_url(response.url);
  const std::string host = at.ok() ? at->host : "the storage";
  Status refusal(Code::kUnavailable,
                 fmt::format("{}, to which the Hub redirects, answered {}: check that proxies let "
                             "it through",
                             host, response.status));
  const bool may_pass = retry_by_status(response.status) || is_expired(response.status);
  if (may_pass) return {std::move(refusal), true};
  return {Status(code_of_status(response.status), refusal.message())};
}

Verdict HubStore::refuse(const HttpResponse& response, std::string_view body, Access) const {
  const int status = response.status;
  std::string text = fmt::format("the Hub answered {}", status);
  if (is_redirect(status)) {
    const std::string name = hub_moved_to(response.header("location"));
    text += name.empty() || name == hub_moved_to(response.url)
                ? ": a redirect that can't be followed (to http, or in a circle)"
                : fmt::format(": the data set is now {}; write that name", name);
    return {Status(Code::kInvalidArgument, std::move(text))};
  }
  if (!is_at_endpoint(response.url)) return refuse_storage(response);
  if (const std::string words = hub_error_text(response, body); !words.empty())
    // Errors can repeat parts of the request.
    text += fmt::format(" ({})", options_.credentials->scrubbed(words));
  const bool anonymous = options_.credentials->is_anonymous();
  if (status == 429)
    text += anonymous ? ": its rate limit; HF_TOKEN raises it" : ": its rate limit";
  if (retry_by_status(status)) return {Status(Code::kUnavailable, std::move(text)), true};
  if (const auto advice = hint(status, response.header("x-error-code"), anonymous); !advice.empty())
    text += fmt::format(": {}", advice);
  Status refusal(code_of_status(status), std::move(text));
  // 403 is about rights, not about the token, so a new one would not help.
  if (status == 401) return options_.credentials->reject(std::move(refusal));
  return {std::move(refusal)};
}

}  // namespace echoline::source
