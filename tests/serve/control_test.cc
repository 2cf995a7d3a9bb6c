// The control service over a real socket, as clients use it.
#include "serve/control/control.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/unique_fd.h"
#include "config/load.h"
#include "config/pipeline.h"
#include "echoline/v1/control.grpc.pb.h"
#include "serve/memory_engine.h"
#include "serve/scratch_folder.h"

namespace echoline::serve {
namespace {

using ::testing::HasSubstr;

v1::Stream small_stream(const std::string& url) {
  const auto config =
      config::parse_config("streams: {a: {pipeline: [{read: {url: " + url +
                               "}}, {decode: {i: {key: jpg, as: rgb}}}, {batch: {size: 2}}]}}",
                           "t.yaml");
  return config->streams().at("a");
}

const std::atomic<bool> kNotDraining{false};

Result<std::unique_ptr<ControlServer>> open_server(const std::string& path, MemoryEngine& engine,
                                                   KeptStreams& kept) {
  return ControlServer::open(path, {},
                             {&engine, &kept, [] { return std::size_t{3}; }, &kNotDraining});
}

class Control : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = open_server(path_, engine_, kept_);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = std::move(server).value();
    stub_ = v1::Control::NewStub(
        grpc::CreateChannel("unix:" + path_, grpc::InsecureChannelCredentials()));
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  }

  grpc::Status create(const std::string& name, const v1::Stream& stream) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    v1::CreateStreamRequest request;
    request.set_name(name);
    *request.mutable_stream() = stream;
    v1::CreateStreamResponse response;
    return stub_->CreateStream(&context, request, &response);
  }

  ScratchFolder folder_;
  const std::string path_ = folder_.file("control.sock");
  MemoryEngine engine_;
  KeptStreams kept_{folder_.file("state")};
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<v1::Control::Stub> stub_;
  grpc::ClientContext context_;
};

TEST_F(Control, CreatesListsAndDeletesStreams) {
  ASSERT_TRUE(create("train", small_stream("x")).ok());
  engine_.set_stream(MemoryEngine::full_stats("train"));
  v1::ListStreamsResponse list;
  ASSERT_TRUE(stub_->ListStreams(&context_, {}, &list).ok());
  ASSERT_EQ(list.streams_size(), 1);
  const v1::StreamStatus& stream = list.streams(0);
  EXPECT_EQ(stream.name(), "train");
  EXPECT_EQ(stream.records(), 500U);
  EXPECT_EQ(stream.fields(0).dtype(), "uint8");
  EXPECT_EQ(stream.fields(0).shape_size(), 3);
  EXPECT_EQ(stream.consumers(0).step(), 2U);
  EXPECT_DOUBLE_EQ(stream.consumers(0).wait_seconds(), 3.5);
  EXPECT_EQ(stream.memory_bytes(), 1230U);
  EXPECT_EQ(stream.records_bad().at("corrupt"), 2U);
  grpc::ClientContext context;
  v1::DeleteStreamRequest request;
  request.set_name("train");
  v1::DeleteStreamResponse response;
  EXPECT_TRUE(stub_->DeleteStream(&context, request, &response).ok());
  EXPECT_TRUE(engine_.stats().streams.empty());
}

TEST_F(Control, CompletesAndChecksWhatItIsGiven) {
  v1::Stream sparse;
  sparse.add_pipeline()->mutable_read()->add_url("x");
  auto& field = (*sparse.add_pipeline()->mutable_decode()->mutable_fields())["i"];
  field.set_key("jpg");
  field.set_as("rgb");
  sparse.add_pipeline()->mutable_batch()->set_size(4);
  ASSERT_TRUE(create("train", sparse).ok());
  EXPECT_EQ(config::publish_step(engine_.stream("train")).slots(), 8U);
  EXPECT_EQ(config::batch_step(engine_.stream("train")).last(), "drop");
  sparse.mutable_pipeline(2)->mutable_batch()->set_size(0);
  const grpc::Status refused = create("other", sparse);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refused.error_message(),
            "stream 'other': key 'size': 0 is out of range; allowed: 1 to 1048576");
}

TEST_F(Control, KeepsCodesAndMessagesOfTheEngine) {
  EXPECT_EQ(create("train", small_stream("missing")).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(create("train", small_stream("missing")).error_message(),
            "stream 'train': missing: no such file");
  ASSERT_TRUE(create("train", small_stream("x")).ok());
  EXPECT_TRUE(create("train", small_stream("x")).ok());
  EXPECT_EQ(create("train", small_stream("y")).error_code(), grpc::StatusCode::ALREADY_EXISTS);
}

TEST_F(Control, HandsOutStatesAndKeys) {
  ASSERT_TRUE(create("train", small_stream("x")).ok());
  v1::GetStateRequest state_request;
  state_request.set_name("train");
  v1::GetStateResponse state;
  ASSERT_TRUE(stub_->GetState(&context_, state_request, &state).ok());
  EXPECT_EQ(state.state_json().at("default"), R"({"epoch":1,"row":64})");
  grpc::ClientContext context;
  v1::GetKeysRequest request;
  request.set_name("train");
  request.add_sample_ids(7);
  v1::GetKeysResponse keys;
  ASSERT_TRUE(stub_->GetKeys(&context, request, &keys).ok());
  EXPECT_EQ(keys.keys(0), "key7");
  for (int i = 0; i < 100'001; ++i) request.add_sample_ids(1);
  grpc::ClientContext too_many;
  EXPECT_EQ(stub_->GetKeys(&too_many, request, &keys).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

// A call without generated code: that of the standard services is not installed everywhere.
grpc::ByteBuffer raw_call(const std::string& path, const std::string& method) {
  grpc::GenericStub stub(grpc::CreateChannel("unix:" + path, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  grpc::CompletionQueue queue;
  const grpc::Slice nothing("");
  grpc::ByteBuffer answer;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&nothing, 1), &queue);
  call->StartCall();
  call->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return answer;
}

std::string health(const std::string& path) {
  grpc::Slice answer;
  EXPECT_TRUE(raw_call(path, "/grpc.health.v1.Health/Check").DumpToSingleSlice(&answer).ok());
  return {answer.begin(), answer.end()};
}

TEST_F(Control, AnswersTheStandardHealthCheck) {
  // HealthCheckResponse{status: NOT_SERVING, SERVING}.
  EXPECT_EQ(health(path_), std::string("\x08\x02"));
  server_->set_serving(true);
  EXPECT_EQ(health(path_), std::string("\x08\x01"));
  server_->set_serving(false);
  EXPECT_EQ(health(path_), std::string("\x08\x02"));
}

TEST_F(Control, HasASocketForUserAndGroupThatGoesWithIt) {
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0600U);
  server_.reset();
  EXPECT_NE(::stat(path_.c_str(), &found), 0);
}

TEST_F(Control, DoesNotTakeTheSocketOfALivingDaemon) {
  const auto second = open_server(path_, engine_, kept_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::kAlreadyExists);
  EXPECT_THAT(second.status().message(), HasSubstr("is served by another daemon"));
  v1::ListStreamsResponse list;
  EXPECT_TRUE(stub_->ListStreams(&context_, {}, &list).ok());
}

TEST_F(Control, EndsWithinTwoSecondsWhileClientsAreConnected) {
  v1::ListStreamsResponse list;
  ASSERT_TRUE(stub_->ListStreams(&context_, {}, &list).ok());
  const auto start = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

UniqueFd bound_socket(const std::string& path, int kind) {
  UniqueFd made(::socket(AF_UNIX, kind, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  EXPECT_EQ(::bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return made;
}

TEST(ControlSocket, OfADeadDaemonIsTakenOverAndAFileIsNot) {
  const ScratchFolder folder;
  MemoryEngine engine;
  const std::string path = folder.file("control.sock");
  bound_socket(path, SOCK_STREAM);
  KeptStreams kept(folder.file("state"));
  EXPECT_TRUE(open_server(path, engine, kept).ok());
  std::ofstream(path) << "precious";
  const auto refused = open_server(path, engine, kept);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), HasSubstr("is no socket and is not touched"));
}

TEST(ControlSocket, OfALivingServerIsLeftToItWhateverItsKind) {
  const ScratchFolder folder;
  MemoryEngine engine;
  KeptStreams kept(folder.file("state"));
  for (const int kind : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const std::string path = folder.file("control" + std::to_string(kind));
    const UniqueFd alive = bound_socket(path, kind);
    ASSERT_EQ(::listen(alive.get(), 1), 0);
    const auto refused = open_server(path, engine, kept);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), Code::kAlreadyExists) << refused.status().message();
  }
}

TEST(ControlSocket, WithTooLongAPathIsRefusedWithTheLimit) {
  MemoryEngine engine;
  KeptStreams kept("/none");
  const auto refused = open_server("/tmp/" + std::string(200, 'x'), engine, kept);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), HasSubstr("1 to 107 bytes"));
}

}  // namespace
}  // namespace echoline::serve
