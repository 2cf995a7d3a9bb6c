// Uses civetweb directly: prometheus-cpp's server cannot serve other paths, throws when it cannot
// bind, and takes two seconds to stop because it keeps connections alive.
#include "serve/monitor/http.h"

#include <civetweb.h>
#include <fmt/core.h>
#include <netdb.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace echoline::serve {
namespace {

// civetweb must be initialised once per process, before the first server.
void init_once() {
  static std::once_flag flag;
  std::call_once(flag, [] { mg_init_library(MG_FEATURES_DEFAULT); });
}

// Connects and closes at once; `host` is a numeric address, "[::1]" for IPv6.
void connect_once(std::string host, std::uint16_t port) {
  // getaddrinfo takes IPv6 addresses without brackets.
  std::erase_if(host, [](char c) { return c == '[' || c == ']'; });
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  // Never asks a name server.
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  if (::getaddrinfo(host.c_str(), service.c_str(), &hints, &found) != 0) return;
  const UniqueFd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // A failure is ignored: then the server stops a little later.
  if (fd) (void)::connect(fd.get(), found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
}

constexpr const char* kRequestMs = "500";
// Connections that wait for a thread. Of more, the kernel drops the first packet, and the client
// tries again after a second.
constexpr const char* kBacklog = "1024";

class CivetServer final : public HttpServer {
 public:
  explicit CivetServer(HttpHandlers handlers) : handlers_(std::move(handlers)) {}
  CivetServer(const CivetServer&) = delete;
  CivetServer& operator=(const CivetServer&) = delete;
  ~CivetServer() override {
    // listen() failed or was not called.
    if (context_ == nullptr) return;
    // The library's accepting thread checks its stop flag when it wakes: every two seconds, or when
    // a connection arrives. So connections make it stop at once.
    const std::uint16_t port_now = port();
    std::atomic<bool> stopped = false;
    std::thread stopper([this, &stopped] {
      mg_stop(context_);
      stopped = true;
    });
    while (!stopped) {
      connect_once(host_, port_now);
      // Again and again: a connection may come just before the thread looks at its flag.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stopper.join();
  }

  Status listen(const std::string& address) {
    const std::string threads = std::to_string(kHttpThreads);
    const std::vector<const char*> options = {
        // No connection is kept alive, because the server would wait for it when it stops.
        "listening_ports", address.c_str(), "num_threads", threads.c_str(), "listen_backlog",
        kBacklog, "enable_keep_alive", "no",
        // Accept any host in requests whose target is a complete URL.
        "enable_auth_domain_check", "no", "request_timeout_ms", kRequestMs, "linger_timeout_ms",
        "100", nullptr};
    mg_callbacks callbacks{};
    // Drops the library's log messages; mg_start2 returns the errors.
    callbacks.log_message = [](const mg_connection*, const char*) { return 1; };
    callbacks.connection_close = answer_unhandled;
    callbacks.http_error = [](mg_connection* connection, int /*status*/, const char*) {
      // Marks the connection as answered (answer_unhandled).
      mg_set_user_connection_data(connection, connection);
      return 1;  // the library sends its own reply
    };
    char text[256] = "";
    mg_init_data init{};
    init.callbacks = &callbacks;
    init.user_data = this;
    init.configuration_options = const_cast<const char**>(options.data());
    mg_error_data error{};
    error.text = text;
    error.text_buffer_size = sizeof text;
    // The library reports some errors only by errno.
    errno = 0;
    host_ = address.substr(0, std::min(address.rfind(':'), address.size()));
    context_ = mg_start2(&init, &error);
    if (context_ == nullptr) return refused(address, text, errno);
    mg_set_request_handler(context_, "/", &CivetServer::handle, this);
    return Status();
  }

  std::uint16_t port() const override {
    mg_server_port ports[1]{};
    // With port 0 the system has chosen one.
    const int count = mg_get_server_ports(context_, 1, ports);
    return count < 1 ? std::uint16_t{0} : static_cast<std::uint16_t>(ports[0].port);
  }

  std::string address() const override { return fmt::format("{}:{}", host_, port()); }

 private:
  static Status refused(const std::string& address, const char* text, int error) {
    if (error == EADDRINUSE) {
      return Status(
          Code::kAlreadyExists,
          fmt::format("metrics address {} is in use; set daemon.metrics to another one, or "
                      "to off",
                      address));
    }
    return Status(Code::kInvalidArgument,
                  fmt::format("metrics address {} cannot be served ({}); set daemon.metrics to "
                              "another one, or to off",
                              // The library's text, else that of errno.
                              address, *text == '\0' && error != 0 ? errno_text(error) : text));
  }

  // The library calls no handler for a target without a path of this server, "*" or a URL with
  // another port, and would close without a reply. When the connection closes, only the first bytes
  // of method and target are certain to be intact.
  // Called for every connection that closes, also after an ordinary reply.
  static void answer_unhandled(const mg_connection* connection) {
    const mg_request_info* request = mg_get_request_info(connection);
    if (request == nullptr || request->local_uri != nullptr || request->request_uri == nullptr ||
        mg_get_user_connection_data(connection) != nullptr)
      return;
    auto* open = const_cast<mg_connection*>(connection);
    // A reply to HEAD has only the head.
    const bool with_body = std::strcmp(request->request_method, "HEAD") != 0;
    if (std::strcmp(request->request_uri, "*") == 0) send(open, only_reads(), with_body);
    if (::strncasecmp(request->request_uri, "http", 4) == 0) {
      send(open, {.status = 421, .body = "this server has another port\n"}, with_body);
    }
  }

  static HttpReply only_reads() { return {.status = 405, .body = "only GET and HEAD\n"}; }

  static void send(mg_connection* connection, const HttpReply& reply, bool with_body) {
    // No caching: each reply shows this moment. The other headers keep browsers from running the
    // reply as something else.
    const std::string head = fmt::format(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}"
        "Content-Security-Policy: {}\r\nX-Content-Type-Options: nosniff\r\n"
        "Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        reply.status, mg_get_response_code_text(connection, reply.status), reply.content_type,
        reply.body.size(), reply.status == 405 ? "Allow: GET, HEAD\r\n" : "", reply.policy);
    mg_write(connection, head.data(), head.size());
    if (with_body) mg_write(connection, reply.body.data(), reply.body.size());
  }

  // On the library's threads, several at a time.
  static int handle(mg_connection* connection, void* data) {
    const auto* self = static_cast<const CivetServer*>(data);
    const mg_request_info* request = mg_get_request_info(connection);
    const std::string_view method = request->request_method;
    HttpReply reply;
    // Only exact paths: there are no files.
    const auto found = self->handlers_.find(request->local_uri);
    if (method != "GET" && method != "HEAD") {
      reply = only_reads();
    } else if (found == self->handlers_.end()) {
      reply.status = 404;
      reply.body = "nothing here; there is " + self->paths() + "\n";
    } else {
      reply = found->second();
    }
    send(connection, reply, method != "HEAD");
    return reply.status;
  }

  std::string paths() const {
    std::string text;
    for (const auto& [path, handler] : handlers_) text += (text.empty() ? "" : ", ") + path;
    return text;
  }

  const HttpHandlers handlers_;
  std::string host_;
  mg_context* context_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::open(const std::string& address,
                                                     HttpHandlers handlers) {
  init_once();
  auto server = std::make_unique<CivetServer>(std::move(handlers));
  ECHOLINE_TRY(server->listen(address));
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace echoline::serve
