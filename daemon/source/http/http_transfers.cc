// libcurl multi interface with socket callbacks: with hundreds of connections, checking all of them
// at each event would cost more than the transfers. Everything runs in step(), on the caller's
// thread.
#include "source/http/http_transfers.h"

#include <curl/curl.h>
#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <unordered_map>

#include "base/check.h"
#include "base/clock.h"
#include "source/http/http_head.h"
#include "source/http/poll_set.h"

namespace echoline::source {
namespace {

// Receive buffers of all connections together.
constexpr std::size_t kBufferBytesAll = 16 << 20;

// Options have several types. A refused option is a bug (a too old library or a bad value).
template <typename T>
void set(CURL* easy, CURLoption option, T value) {
  ECHOLINE_CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

// One request in flight. libcurl holds its address, so it must not move.
struct Transfer {
  std::uint64_t id = 0;
  HttpSink* sink = nullptr;
  Easy easy;
  HeaderList headers;
  HttpHead head;
  std::uint64_t last_byte_ns = 0;
  curl_off_t sent = 0;   // of the body
  int socket_error = 0;  // errno of a socket that could not be created
  bool responded = false;
  bool stopped = false;
  bool head_is_long = false;  // longer than HttpHead takes
  std::array<char, CURL_ERROR_SIZE> error{};

  // Passes the response to the sink once, before the first byte of the body.
  bool respond() {
    if (!responded) {
      responded = true;
      curl_off_t seconds = 0;
      // libcurl parses both forms of the header, seconds and date.
      curl_easy_getinfo(easy.get(), CURLINFO_RETRY_AFTER, &seconds);
      HttpResponse& response = head.response();
      response.retry_after_s = static_cast<std::uint64_t>(std::max<curl_off_t>(seconds, 0));
      if (seconds <= 0 && response.status == 429)
        response.retry_after_s = rate_limit_window_s(response.header("ratelimit"));
      char* url = nullptr;
      curl_easy_getinfo(easy.get(), CURLINFO_EFFECTIVE_URL, &url);
      if (url != nullptr) response.url = url;
      stopped = !sink->on_response(head.response());
    }
    return !stopped;
  }
};

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  const std::size_t bytes = size * count;
  Transfer& transfer = *static_cast<Transfer*>(user);
  transfer.last_byte_ns = monotonic_ns();
  // Any other count ends the transfer, with an error of libcurl.
  transfer.head_is_long = !transfer.head.take({data, bytes});
  return transfer.head_is_long ? 0 : bytes;
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  transfer.last_byte_ns = monotonic_ns();
  const std::size_t bytes = size * count;
  if (transfer.respond())
    transfer.stopped = !transfer.sink->on_body(std::as_bytes(std::span(data, bytes)));
  // The count must differ from `bytes`, also for an empty piece.
  return transfer.stopped ? bytes + 1 : bytes;  // any other count ends the transfer
}

// Sent bytes count as activity, so that a long upload is no stall.
int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t sent) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (sent != transfer.sent) transfer.last_byte_ns = monotonic_ns();
  transfer.sent = sent;
  return 0;
}

// libcurl would report only that it could not connect.
curl_socket_t on_open_socket(void* user, curlsocktype, curl_sockaddr* address) {
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0) static_cast<Transfer*>(user)->socket_error = errno;
  return fd < 0 ? CURL_SOCKET_BAD : fd;
}

std::string error_text(const Transfer& transfer, CURLcode code) {
  if (transfer.socket_error == EMFILE || transfer.socket_error == ENFILE)
    return errno_text(transfer.socket_error);
  // libcurl reports a line of more than 100 KiB, which it does not hand over, like this.
  if (transfer.head_is_long || (code == CURLE_OUT_OF_MEMORY && !transfer.responded))
    return "the header of the answer does not end within 64 KiB; is this the address of a store?";
  return transfer.error[0] != 0 ? transfer.error.data() : curl_easy_strerror(code);
}

HttpEnd end_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnd::kComplete;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
      return HttpEnd::kUnreachable;
    case CURLE_OPERATION_TIMEDOUT:
      return HttpEnd::kStalled;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return HttpEnd::kUntrusted;
    default:
      return HttpEnd::kBroken;
  }
}

void set_body(CURL* easy, const HttpRequest& request, Transfer& transfer) {
  set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  // Copied: the request need not outlive this call.
  set(easy, CURLOPT_COPYPOSTFIELDS, request.body.c_str());
  set(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  set(easy, CURLOPT_NOPROGRESS, 0L);
  set(easy, CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(easy, CURLOPT_XFERINFODATA, &transfer);
}

// A redirect from https must stay on https: requests can contain credentials.
void follow_redirects(CURL* easy, const HttpRequest& request) {
  set(easy, CURLOPT_FOLLOWLOCATION, 1L);
  set(easy, CURLOPT_MAXREDIRS, 8L);
  set(easy, CURLOPT_REDIR_PROTOCOLS_STR,
      request.url.starts_with("https:") ? "https" : "http,https");
}

// Rounds up, so that libcurl never waits less than asked for.
long to_ms(std::uint64_t ns) {
  const std::uint64_t ms = ns / 1'000'000 + (ns % 1'000'000 != 0);
  return static_cast<long>(std::min<std::uint64_t>(ms, std::numeric_limits<int>::max()));
}

}  // namespace

class HttpTransfers::Loop {
 public:
  explicit Loop(const HttpOptions& options) : options_(options) {
    // Once per process, before any handle; C++ makes this thread-safe.
    static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
    ECHOLINE_CHECK(global == CURLE_OK);
    multi_ = curl_multi_init();
    ECHOLINE_CHECK(multi_ != nullptr);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Loop::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Loop::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    const auto connections = static_cast<long>(options.connections_max);
    // Both: connections in use, and connections kept for the next requests.
    curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, connections);
  }

  // Handles must leave the multi handle before either is destroyed.
  ~Loop() {
    for (auto& [id, transfer] : transfers_) curl_multi_remove_handle(multi_, transfer->easy.get());
    transfers_.clear();
    curl_multi_cleanup(multi_);
  }

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void start(std::uint64_t id, const HttpRequest& request, HttpSink& sink) {
    auto transfer = std::make_unique<Transfer>();
    transfer->id = id;
    transfer->sink = &sink;
    transfer->easy = take_easy();
    transfer->last_byte_ns = monotonic_ns();
    prepare(*transfer, request);
    ECHOLINE_CHECK(curl_multi_add_handle(multi_, transfer->easy.get()) == CURLM_OK);
    ECHOLINE_CHECK(transfers_.emplace(id, std::move(transfer)).second);
  }

  void cancel(std::uint64_t id) {
    if (const auto found = transfers_.find(id); found != transfers_.end()) remove(found);
  }

  void step(std::uint64_t deadline_ns, std::vector<HttpResult>& ended) {
    const std::size_t before = ended.size();
    // First the timer: it may be overdue, and its results need no wait.
    run_timer();
    take_ended(ended);
    // Results are ready: collect other events, but do not wait.
    if (ended.size() > before) deadline_ns = 0;
    if (!transfers_.empty())
      // libcurl needs its timer, and stalls must be found in time.
      deadline_ns = std::min({deadline_ns, timer_ns_, monotonic_ns() + check_ns()});
    for (const epoll_event& event : sockets_.wait(deadline_ns)) act(event);
    run_timer();
    take_ended(ended);
    end_stalled(ended);
  }

  void wake() { sockets_.wake(); }

 private:
  using Transfers = std::unordered_map<std::uint64_t, std::unique_ptr<Transfer>>;

  Easy take_easy() {
    if (spare_.empty()) {
      Easy easy(curl_easy_init());
      ECHOLINE_CHECK(easy != nullptr);
      return easy;
    }
    Easy easy = std::move(spare_.back());
    spare_.pop_back();
    // Options of the last request are gone; connections and caches stay.
    curl_easy_reset(easy.get());
    return easy;
  }

  void prepare(Transfer& transfer, const HttpRequest& request) {
    CURL* easy = transfer.easy.get();
    for (const auto& [name, value] : request.headers)
      transfer.headers.reset(curl_slist_append(transfer.headers.release(),
                                               fmt::format("{}: {}", name, value).c_str()));
    set(easy, CURLOPT_URL, request.url.c_str());
    if (request.method == "HEAD") set(easy, CURLOPT_NOBODY, 1L);
    if (request.method == "POST" || request.method == "PUT") set_body(easy, request, transfer);
    if (request.follows_redirects) follow_redirects(easy, request);
    if (request.bypasses_proxy) set(easy, CURLOPT_NOPROXY, "*");
    set(easy, CURLOPT_HTTPHEADER, transfer.headers.get());
    // Keys may contain "/../": libcurl must not normalise them.
    set(easy, CURLOPT_PATH_AS_IS, 1L);
    // HTTP/2 would share one connection, and with it one rate.
    set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    set(easy, CURLOPT_USERAGENT, "echoline");
    // Signals for timeouts would hit other threads of the process.
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    set(easy, CURLOPT_CONNECTTIMEOUT_MS, to_ms(options_.stall_ns));
    // The option fails, and is not needed, if the handle still has its buffer from an earlier
    // transfer.
    const std::size_t buffer = kBufferBytesAll / options_.connections_max;
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE,
                     static_cast<long>(std::clamp<std::size_t>(buffer, 16 << 10, 512 << 10)));
    if (!options_.ca_file.empty()) set(easy, CURLOPT_CAINFO, options_.ca_file.c_str());
    set(easy, CURLOPT_ERRORBUFFER, transfer.error.data());
    set(easy, CURLOPT_OPENSOCKETFUNCTION, &on_open_socket);
    set(easy, CURLOPT_OPENSOCKETDATA, &transfer);
    set(easy, CURLOPT_HEADERFUNCTION, &on_header);
    set(easy, CURLOPT_HEADERDATA, &transfer);
    set(easy, CURLOPT_WRITEFUNCTION, &on_body);
    set(easy, CURLOPT_WRITEDATA, &transfer);
    set(easy, CURLOPT_PRIVATE, &transfer);
  }

  // libcurl reports here which events of a socket it waits for.
  static int on_socket(CURL*, curl_socket_t fd, int what, void* user, void*) {
    std::uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
    static_cast<Loop*>(user)->sockets_.watch(fd, events);
    // `what` is CURL_POLL_REMOVE: events stay 0, and the descriptor leaves the set.
    return 0;
  }

  // libcurl reports here when it wants to be called next; negative: not at all.
  static int on_timer(CURLM*, long ms, void* user) {
    static_cast<Loop*>(user)->timer_ns_ =
        ms < 0 ? UINT64_MAX : monotonic_ns() + static_cast<std::uint64_t>(ms) * 1'000'000;
    return 0;
  }

  void run_timer() {
    if (timer_ns_ > monotonic_ns()) return;
    timer_ns_ = UINT64_MAX;
    // The timer is reset first: the call below may set a new one.
    int running = 0;
    // Time-outs and retries of libcurl's own, such as a second address of the host.
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }

  void act(const epoll_event& event) {
    int mask = 0;
    // A hang-up is found by reading.
    if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) mask |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) mask |= CURL_CSELECT_OUT;
    if ((event.events & EPOLLERR) != 0) mask |= CURL_CSELECT_ERR;
    int running = 0;
    curl_multi_socket_action(multi_, event.data.fd, mask, &running);
  }

  void take_ended(std::vector<HttpResult>& ended) {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      void* user = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &user);
      finish(static_cast<Transfer*>(user)->id, message->data.result, ended);
    }
  }

  void finish(std::uint64_t id, CURLcode code, std::vector<HttpResult>& ended) {
    // A transfer that was cancelled has left the multi handle and sends no message.
    const auto found = transfers_.find(id);
    Transfer& transfer = *found->second;
    // For a response with a body this was done at its first byte.
    if (code == CURLE_OK) transfer.respond();  // a response without a body
    HttpResult result{id, transfer.stopped ? HttpEnd::kStopped : end_of(code), {}};
    if (result.end != HttpEnd::kComplete && result.end != HttpEnd::kStopped)
      result.error = error_text(transfer, code);
    // Only a complete response leaves the connection in a clean state.
    if (result.end == HttpEnd::kComplete) spare_.push_back(detach(transfer));
    ended.push_back(std::move(result));
    transfers_.erase(found);
  }

  // libcurl measures stalls in whole seconds and by rate; this check is exact to the byte and to a
  // fraction of a second.
  void end_stalled(std::vector<HttpResult>& ended) {
    const std::uint64_t now = monotonic_ns();
    if (now < stall_check_ns_) return;
    // Not at each step: the list can have hundreds of transfers.
    stall_check_ns_ = now + check_ns();
    for (auto at = transfers_.begin(); at != transfers_.end();) {
      const auto next = std::next(at);
      if (now > at->second->last_byte_ns + options_.stall_ns) {
        ended.push_back(
            {at->first, HttpEnd::kStalled,
             fmt::format("no byte for {:.1f} s", static_cast<double>(options_.stall_ns) / 1e9)});
        remove(at);
      }
      at = next;
    }
  }

  std::uint64_t check_ns() const { return options_.stall_ns / 8 + 1; }

  // Removes the handle from the loop. Its connection can be reused if the response is complete.
  Easy detach(Transfer& transfer) {
    curl_multi_remove_handle(multi_, transfer.easy.get());
    return std::move(transfer.easy);
  }

  void remove(Transfers::iterator at) {
    detach(*at->second);
    transfers_.erase(at);
  }

  HttpOptions options_;
  PollSet sockets_;
  std::uint64_t timer_ns_ = UINT64_MAX;  // when libcurl wants to be called without an event
  CURLM* multi_ = nullptr;
  Transfers transfers_;
  std::vector<Easy> spare_;
  std::uint64_t stall_check_ns_ = 0;
};

HttpTransfers::HttpTransfers(const HttpOptions& options) : loop_(std::make_unique<Loop>(options)) {}
HttpTransfers::~HttpTransfers() = default;

void HttpTransfers::start(std::uint64_t id, const HttpRequest& request, HttpSink& sink) {
  loop_->start(id, request, sink);
}
void HttpTransfers::cancel(std::uint64_t id) { loop_->cancel(id); }
void HttpTransfers::step(std::uint64_t deadline_ns, std::vector<HttpResult>& ended) {
  loop_->step(deadline_ns, ended);
}
void HttpTransfers::wake() { loop_->wake(); }

}  // namespace echoline::source
