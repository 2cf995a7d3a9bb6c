// What gRPC alone carries over one connection: answers of one size, from memory that is always the
// same, received and thrown away. The client's channel is that of a host of preparation servers.
//
//     wire_bench server PORT BYTES [FOLDER]
//     wire_bench client PORT COUNT [FOLDER]
//
// FOLDER has the files of mutual TLS: ca.pem, server.pem, server.key, host.pem, host.key. Without
// it nothing is encrypted. The client asks for COUNT answers, eight at a time, and prints their
// bytes, the seconds, and its CPU time.
#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <malloc.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>

#include "base/bounded_file.h"
#include "engine/remote/channel_arguments.h"

namespace echoline::bench {
namespace {

constexpr int kAtOnce = 8;
constexpr int kClientPingMinMs = 100;

std::string file(const std::string& folder, const char* name) {
  return read_bounded_file(folder + "/" + name, 1 << 20).value();
}

class Call final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Call(const grpc::Slice& bytes) : answer_(&bytes, 1) { StartRead(&question_); }
  void OnReadDone(bool) override {
    StartWriteAndFinish(&answer_, grpc::WriteOptions(), grpc::Status::OK);
  }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer question_;
  grpc::ByteBuffer answer_;
};

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(std::size_t bytes) : bytes_(bytes) {}

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Call(bytes_);
  }

  const grpc::Slice bytes_;
};

int serve(const std::string& address, std::size_t bytes, const std::string& folder) {
  auto credentials = grpc::InsecureServerCredentials();
  if (!folder.empty()) {
    grpc::SslServerCredentialsOptions tls(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_root_certs = file(folder, "ca.pem");
    tls.pem_key_cert_pairs = {{file(folder, "server.key"), file(folder, "server.pem")}};
    credentials = grpc::SslServerCredentials(tls);
  }
  Service service(bytes);
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kClientPingMinMs);
  builder.RegisterCallbackGenericService(&service);
  builder.AddListeningPort(address, credentials);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) {
    fmt::print(stderr, "wire_bench: gRPC could not listen at {}\n", address);
    return 1;
  }
  fmt::print("ready\n");
  std::fflush(stdout);
  server->Wait();
  return 0;
}

std::shared_ptr<grpc::Channel> connect(const std::string& address, const std::string& folder) {
  auto credentials = grpc::InsecureChannelCredentials();
  if (!folder.empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = file(folder, "ca.pem");
    tls.pem_cert_chain = file(folder, "host.pem");
    tls.pem_private_key = file(folder, "host.key");
    credentials = grpc::SslCredentials(tls);
  }
  grpc::ChannelArguments arguments;
  engine::set_channel_arguments("localhost", arguments);
  return grpc::CreateCustomChannel("ipv4:" + address, credentials, arguments);
}

struct Question {
  grpc::ClientContext context;
  grpc::ByteBuffer answer;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
};

class Client {
 public:
  explicit Client(const std::shared_ptr<grpc::Channel>& channel) : stub_(channel) {}

  // The bytes of `count` answers.
  std::uint64_t ask(int count) {
    std::uint64_t bytes = 0;
    int sent = 0;
    for (; sent < std::min(kAtOnce, count); ++sent) send();
    void* tag = nullptr;
    bool ok = false;
    for (int done = 0; done < count && queue_.Next(&tag, &ok); ++done) {
      const std::unique_ptr<Question> question(static_cast<Question*>(tag));
      if (!question->status.ok()) {
        fmt::print(stderr, "wire_bench: {}\n", question->status.error_message());
        std::_Exit(1);
      }
      bytes += question->answer.Length();
      if (sent < count) send(), ++sent;
    }
    return bytes;
  }

 private:
  void send() {
    auto* const question = new Question;
    const grpc::Slice bytes("question");
    question->reader = stub_.PrepareUnaryCall(&question->context, "/bench/answer",
                                              grpc::ByteBuffer(&bytes, 1), &queue_);
    question->reader->StartCall();
    question->reader->Finish(&question->answer, &question->status, question);
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
};

double seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void measure(const std::string& address, int count, const std::string& folder) {
  Client client(connect(address, folder));
  // Connects, and finds the sizes of windows.
  client.ask(4 * kAtOnce);
  const double begin = seconds_of(CLOCK_MONOTONIC);
  const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const std::uint64_t bytes = client.ask(count);
  fmt::print("{{\"bytes\": {}, \"seconds\": {}, \"cpu_seconds\": {}}}\n", bytes,
             seconds_of(CLOCK_MONOTONIC) - begin, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

int main_with(int argc, char** argv) {
  // As the daemon.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  const std::string role = argc > 3 ? argv[1] : "";
  const std::string address = argc > 3 ? std::string("127.0.0.1:") + argv[2] : "";
  const std::string folder = argc > 4 ? argv[4] : "";
  if (role == "server") {
    return serve(address, std::strtoull(argv[3], nullptr, 10), folder);
  }
  if (role == "client") {
    measure(address, std::atoi(argv[3]), folder);
  } else {
    fmt::print(stderr,
               "usage: wire_bench server PORT BYTES [FOLDER] | client PORT COUNT [FOLDER]\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace echoline::bench

int main(int argc, char** argv) { return echoline::bench::main_with(argc, argv); }
