// Calls of the control service that wait, stay open, or have side effects.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "config/load.h"
#include "echoline/v1/control.grpc.pb.h"
#include "serve/control/control.h"
#include "serve/control/control_roles.h"
#include "serve/control/control_service.h"
#include "serve/control/watchers.h"
#include "serve/memory_engine.h"
#include "serve/scratch_folder.h"

namespace echoline::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Clock = std::chrono::steady_clock;

class ControlCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = ControlServer::open(
        path_, {}, {&engine_, &kept_, [] { return std::size_t{3}; }, &draining_, &started_});
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = std::move(server).value();
    stub_ = v1::Control::NewStub(
        grpc::CreateChannel("unix:" + path_, grpc::InsecureChannelCredentials()));
  }

  static void limit(grpc::ClientContext& context, std::chrono::milliseconds time = 10s) {
    context.set_deadline(std::chrono::system_clock::now() + time);
  }

  grpc::Status create(const std::string& url, bool persist, std::chrono::milliseconds time = 10s) {
    grpc::ClientContext context;
    limit(context, time);
    const auto config =
        config::parse_config("streams: {train: {pipeline: [{read: {url: " + url +
                                 "}}, {decode: {i: {key: jpg, as: rgb}}}, {batch: {size: 2}}]}}",
                             "t.yaml");
    v1::CreateStreamRequest request;
    request.set_name("train");
    *request.mutable_stream() = config->streams().at("train");
    request.set_persist(persist);
    v1::CreateStreamResponse response;
    return stub_->CreateStream(&context, request, &response);
  }

  grpc::Status remove(const std::string& name, bool allow_missing = false) {
    grpc::ClientContext context;
    limit(context);
    v1::DeleteStreamRequest request;
    request.set_name(name);
    request.set_allow_missing(allow_missing);
    v1::DeleteStreamResponse response;
    return stub_->DeleteStream(&context, request, &response);
  }

  bool lists_persisted() {
    grpc::ClientContext context;
    limit(context);
    v1::ListStreamsResponse list;
    EXPECT_TRUE(stub_->ListStreams(&context, {}, &list).ok());
    return list.streams(0).persisted();
  }

  static v1::WatchStatsRequest watch_request(std::uint32_t interval_ms,
                                             const std::string& name = "") {
    v1::WatchStatsRequest request;
    request.set_interval_ms(interval_ms);
    request.set_name(name);
    return request;
  }

  // The status of a watch that must be refused.
  grpc::Status refused_watch(const v1::WatchStatsRequest& request) {
    grpc::ClientContext context;
    limit(context);
    v1::WatchStatsResponse seen;
    const auto reader = stub_->WatchStats(&context, request);
    EXPECT_FALSE(reader->Read(&seen));
    return reader->Finish();
  }

  ScratchFolder folder_;
  const std::string path_ = folder_.file("control.sock");
  MemoryEngine engine_;
  KeptStreams kept_{folder_.file("state")};
  std::atomic<bool> draining_{false};
  std::atomic<bool> started_{true};
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<v1::Control::Stub> stub_;
};

TEST_F(ControlCalls, APersistedStreamIsKeptUntilItIsDeleted) {
  ASSERT_TRUE(create("x", false).ok());
  EXPECT_FALSE(lists_persisted());
  ASSERT_TRUE(create("x", true).ok());
  EXPECT_TRUE(lists_persisted());
  EXPECT_EQ(KeptStreams(folder_.file("state")).load({}).size(), 1U);
  ASSERT_TRUE(remove("train").ok());
  EXPECT_TRUE(KeptStreams(folder_.file("state")).load({}).empty());
  EXPECT_EQ(remove("train").error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(remove("train", /*allow_missing=*/true).ok());
  EXPECT_EQ(remove("../x").error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ControlCalls, AKeptStreamThatCouldNotBeCreatedCanBeDeleted) {
  const auto config = config::parse_config(
      "streams: {lost: {pipeline: [{read: {url: x}}, {decode: {i: {key: jpg, as: rgb}}}, "
      "{batch: {size: 2}}]}}",
      "t.yaml");
  ASSERT_TRUE(kept_.keep("lost", config->streams().at("lost")).ok());
  kept_.set_failed("lost", Status(Code::kNotFound, "no data"));
  grpc::ClientContext context;
  limit(context);
  v1::ListStreamsResponse list;
  ASSERT_TRUE(stub_->ListStreams(&context, {}, &list).ok());
  ASSERT_EQ(list.streams_size(), 1);
  EXPECT_EQ(list.streams(0).state(), "failed");
  EXPECT_EQ(list.streams(0).error(), "no data");
  EXPECT_TRUE(list.streams(0).persisted());
  EXPECT_TRUE(remove("lost").ok());
  EXPECT_TRUE(kept_.failures().empty());
  EXPECT_EQ(remove("lost").error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ControlCalls, ACreationWhoseCallerLeavesMakesNothing) {
  const auto begin = Clock::now();
  EXPECT_EQ(create("slow", true, 200ms).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  // The engine needs two seconds for it. After the cancellation the stream must not exist.
  std::this_thread::sleep_until(begin + 3s);
  EXPECT_TRUE(engine_.stats().streams.empty());
  EXPECT_FALSE(kept_.contains("train"));
}

TEST_F(ControlCalls, DrainingWaitsForThePatienceAndEndsWithItsCaller) {
  ASSERT_TRUE(create("x", false).ok());
  v1::DrainRequest request;
  request.set_name("train");
  request.set_patience_ms(100);
  v1::DrainResponse response;
  grpc::ClientContext context;
  limit(context);
  ASSERT_TRUE(stub_->Drain(&context, request, &response).ok());
  EXPECT_FALSE(response.drained());
  request.set_patience_ms(60'001);
  grpc::ClientContext too_long;
  EXPECT_EQ(stub_->Drain(&too_long, request, &response).error_message(),
            "patience_ms: 60001 is too long; allowed: 0 to 60000");
  request.set_patience_ms(60'000);
  grpc::ClientContext leaves;
  limit(leaves, 200ms);
  EXPECT_FALSE(stub_->Drain(&leaves, request, &response).ok());
  const auto begin = Clock::now();
  server_.reset();
  EXPECT_LT(Clock::now() - begin, 5s);
}

TEST_F(ControlCalls, InFlightEndWithTheServerAndLeaveNothingBehind) {
  engine_.set_definition("other", {});
  auto creation =
      std::async(std::launch::async, [this] { return create("slow", /*persist=*/true, 30s); });
  v1::DrainResponse response;
  auto drain = std::async(std::launch::async, [&] {
    v1::DrainRequest request;
    request.set_name("other");
    request.set_patience_ms(60'000);
    grpc::ClientContext context;
    limit(context, 30s);
    return stub_->Drain(&context, request, &response);
  });
  while (engine_.waiting_calls() < 2) std::this_thread::sleep_for(1ms);
  server_.reset();
  EXPECT_EQ(engine_.waiting_calls(), 0) << "a call uses the engine after the server's end";
  EXPECT_TRUE(drain.get().ok()) << "it ends before calls are cancelled";
  EXPECT_FALSE(response.drained());
  EXPECT_FALSE(creation.get().ok());
  EXPECT_TRUE(engine_.stats().streams.empty());
  EXPECT_FALSE(kept_.contains("train"));
}

TEST_F(ControlCalls, ChangingTheFactorSaysWhereEachPassHasItFrom) {
  engine_.set_definition("train", {});
  v1::SetEchoRequest request;
  request.set_name("train");
  request.set_factor_thousandths(1500);
  grpc::ClientContext context;
  limit(context);
  v1::SetEchoResponse response;
  ASSERT_TRUE(stub_->SetEcho(&context, request, &response).ok());
  ASSERT_EQ(response.starts_size(), 1);
  EXPECT_EQ(response.starts(0).jobs(0), "a");
  EXPECT_EQ(response.starts(0).epoch(), 2U);
  EXPECT_EQ(response.starts(0).block(), 1500U);
  EXPECT_EQ(response.starts(0).row(), 640U);
}

TEST_F(ControlCalls, AFactorThatCannotBeIsRefusedWithTheEnginesReason) {
  engine_.set_definition("train", {});
  v1::SetEchoRequest request;
  request.set_name("train");
  grpc::ClientContext context;
  limit(context);
  v1::SetEchoResponse response;
  const grpc::Status refused = stub_->SetEcho(&context, request, &response);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(refused.error_message(), "the factor is below 1");
}

TEST_F(ControlCalls, ChangingWeightsSaysWhereEachPassHasThemFrom) {
  engine_.set_definition("train", {});
  v1::SetWeightsRequest request;
  request.set_name("train");
  v1::SetWeightsResponse response;
  const auto call = [&] {
    grpc::ClientContext context;
    limit(context);
    return stub_->SetWeights(&context, request, &response);
  };
  EXPECT_EQ(call().error_message(), "no source of that name");
  (*request.mutable_weights_thousandths())["web"] = 500;
  ASSERT_TRUE(call().ok());
  ASSERT_EQ(response.starts_size(), 1);
  EXPECT_EQ(response.starts(0).jobs(0), "a");
  EXPECT_EQ(response.starts(0).epoch(), 2U);
  EXPECT_EQ(response.starts(0).row(), 500U);
}

TEST_F(ControlCalls, ThePlaceOfEchoIsForgottenInsteadOfAChange) {
  v1::SetEchoRequest request;
  request.set_name("train");
  request.set_forget_place(true);
  const auto code = [&] {
    grpc::ClientContext context;
    limit(context);
    v1::SetEchoResponse response;
    return stub_->SetEcho(&context, request, &response).error_code();
  };
  EXPECT_EQ(code(), grpc::StatusCode::NOT_FOUND);
  engine_.set_definition("train", {});
  EXPECT_EQ(code(), grpc::StatusCode::OK) << "although the factor is 0";
}

TEST_F(ControlCalls, WorkersAreKeptAwakeForAMinuteAtMost) {
  const auto message = [&](std::uint32_t duration_ms) {
    v1::KeepAwakeRequest request;
    request.set_duration_ms(duration_ms);
    grpc::ClientContext context;
    limit(context);
    v1::KeepAwakeResponse response;
    return stub_->KeepAwake(&context, request, &response).error_message();
  };
  EXPECT_EQ(message(60'000), "not for 60000 ms") << "the engine's answer";
  EXPECT_EQ(message(60'001), "duration_ms: 60001 is too long; allowed: 0 to 60000");
}

// A new call that changes something needs its own line here.
TEST_F(ControlCalls, WhatChangesSomethingIsLoggedWithTheStreamAndTheCaller) {
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(create("x", false).ok());
  EXPECT_TRUE(remove("train").ok());
  EXPECT_FALSE(remove("no\nsuch").ok());
  v1::DrainRequest drain;
  drain.set_name("train");
  v1::DrainResponse drained;
  grpc::ClientContext of_drain;
  EXPECT_FALSE(stub_->Drain(&of_drain, drain, &drained).ok());
  v1::SetEchoRequest set_echo;
  set_echo.set_name("train");
  v1::SetEchoResponse set;
  grpc::ClientContext of_set;
  EXPECT_FALSE(stub_->SetEcho(&of_set, set_echo, &set).ok());
  v1::SetWeightsRequest set_weights;
  set_weights.set_name("train");
  v1::SetWeightsResponse weights;
  grpc::ClientContext of_weights;
  EXPECT_FALSE(stub_->SetWeights(&of_weights, set_weights, &weights).ok());
  v1::KeepAwakeRequest keep_awake;
  keep_awake.set_name("train");
  v1::KeepAwakeResponse kept;
  grpc::ClientContext of_awake;
  EXPECT_FALSE(stub_->KeepAwake(&of_awake, keep_awake, &kept).ok());
  const std::string log = ::testing::internal::GetCapturedStderr();
  const std::string uid = std::to_string(::geteuid());
  const auto* service =
      v1::Stream::descriptor()->file()->pool()->FindServiceByName("echoline.v1.Control");
  for (int i = 0; i < service->method_count(); ++i) {
    const std::string name = service->method(i)->name();
    if (may_call({Role::kReader, ""}, "/echoline.v1.Control/" + name).ok()) continue;
    EXPECT_THAT(
        log, ContainsRegex("control: stream train: user .*" + uid + "\\)? calls " + name + "\n"));
  }
  EXPECT_THAT(log, HasSubstr("control: stream no\uFFFDsuch: user "));
}

TEST_F(ControlCalls, WatchingSendsTheDaemonAndItsStreamsInEachInterval) {
  engine_.set_stream(MemoryEngine::full_stats("train"));
  grpc::ClientContext context;
  limit(context);
  const auto reader = stub_->WatchStats(&context, watch_request(100));
  v1::WatchStatsResponse first;
  v1::WatchStatsResponse second;
  ASSERT_TRUE(reader->Read(&first));
  draining_ = true;
  ASSERT_TRUE(reader->Read(&second));
  EXPECT_FALSE(first.daemon().draining());
  EXPECT_TRUE(second.daemon().draining());
  EXPECT_GE(second.monotonic_ns(), first.monotonic_ns() + 100'000'000);
  EXPECT_EQ(first.daemon().door_connections(), 3U);
  EXPECT_EQ(first.daemon().memory_bytes_by_use().at("ring"), 1000U);
  ASSERT_EQ(first.streams_size(), 1);
  const v1::StreamStatus& stream = first.streams(0);
  EXPECT_EQ(stream.slots().free(), 5U);
  EXPECT_EQ(stream.source().requests_ok(), 11U);
  EXPECT_DOUBLE_EQ(stream.source().wait_seconds().at("throttled"), 2.5);
  EXPECT_EQ(stream.source().latency().counts_size(), stream.source().latency().bounds_size() + 1);
  ASSERT_EQ(stream.source().rates_size(), 1);
  const v1::EndpointRates& rates = stream.source().rates(0);
  EXPECT_EQ(rates.endpoint(), "http://store:1");
  EXPECT_TRUE(rates.short_answers());
  EXPECT_DOUBLE_EQ(rates.points(0).in_flight(), 16);
  EXPECT_DOUBLE_EQ(rates.points(0).bytes_per_second(), 4e6);
  EXPECT_DOUBLE_EQ(rates.points(0).answer_bytes(), 1e5);
  EXPECT_EQ(rates.points(0).windows(), 3U);
  EXPECT_LT(rates.points(0).age_seconds(), 30);
  EXPECT_EQ(stream.caches(0).failures().at("full"), 1U);
  EXPECT_DOUBLE_EQ(stream.consumers(0).wait_seconds_by_cause().at("prep"), 2);
  EXPECT_EQ(stream.consumers(0).changes(0).block(), 12U);
  EXPECT_EQ(stream.consumers(0).changes(0).factor_thousandths(), 1500U);
}

// gRPC's clients do not accept longer ones.
TEST_F(ControlCalls, NamesAndMessagesAreCutInErrors) {
  const std::string name(10'000, 'x');
  EXPECT_EQ(refused_watch(watch_request(0, name)).error_message(),
            "no stream '" + std::string(200, 'x') + "...'");
  v1::CreateStreamRequest request;
  request.set_name(name);
  v1::CreateStreamResponse response;
  grpc::ClientContext context;
  EXPECT_THAT(stub_->CreateStream(&context, request, &response).error_message(),
              StartsWith("stream '" + std::string(200, 'x') + "...': is no stream name"));
  const std::string message = to_grpc(Status(Code::kInternal, name)).error_message();
  EXPECT_EQ(message, std::string(2000, 'x') + "...");
}

TEST_F(ControlCalls, WatchingOneStreamEndsWithIt) {
  engine_.set_stream(MemoryEngine::full_stats("other"));
  ASSERT_TRUE(create("x", false).ok());
  grpc::ClientContext context;
  limit(context);
  const auto reader = stub_->WatchStats(&context, watch_request(100, "train"));
  v1::WatchStatsResponse seen;
  ASSERT_TRUE(reader->Read(&seen));
  ASSERT_EQ(seen.streams_size(), 1);
  EXPECT_EQ(seen.streams(0).name(), "train");
  ASSERT_TRUE(remove("train").ok());
  while (reader->Read(&seen)) {
  }
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(ControlCalls, WatchingIsRefusedForUnknownStreamsAndIntervalsOutOfRange) {
  EXPECT_EQ(refused_watch(watch_request(0, "train")).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refused_watch(watch_request(99)).error_message(),
            "interval_ms: 99 is out of range; allowed: 100 to 60000");
  EXPECT_EQ(refused_watch(watch_request(60'001)).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ControlCalls, ATraceComesInPartsAndEndsByItself) {
  ASSERT_TRUE(create("x", false).ok());
  const auto trace = [this](const std::string& name, std::uint32_t duration_ms,
                            std::vector<v1::WatchTraceResponse>& parts) {
    grpc::ClientContext context;
    limit(context);
    v1::WatchTraceRequest request;
    request.set_name(name);
    request.set_duration_ms(duration_ms);
    const auto reader = stub_->WatchTrace(&context, request);
    v1::WatchTraceResponse part;
    while (reader->Read(&part)) parts.push_back(part);
    return reader->Finish();
  };
  std::vector<v1::WatchTraceResponse> parts;
  EXPECT_EQ(trace("train", 60'001, parts).error_message(),
            "duration_ms: 60001 is out of range; allowed: 100 to 60000");
  EXPECT_EQ(trace("other", 100, parts).error_code(), grpc::StatusCode::NOT_FOUND);
  ASSERT_TRUE(parts.empty());
  ASSERT_TRUE(trace("train", 100, parts).ok());
  ASSERT_GE(parts.size(), 2U);
  EXPECT_EQ(parts.front().tracks(0).name(), "slot 0");
  EXPECT_EQ(parts.back().tracks_size(), 0);
  EXPECT_EQ(parts.back().dropped(), 7U);
  EXPECT_GE(parts.back().end_ns(), parts.back().begin_ns() + 100'000'000);
  const v1::TraceSpan& span = parts.back().spans(0);
  EXPECT_EQ(span.duration_ns(), 1000U);
  EXPECT_EQ(span.values(0).number(), parts.size() - 1);
  EXPECT_EQ(span.values(1).text(), "s3://bucket/key");
}

TEST_F(ControlCalls, WatchersAreBoundedLeaveTheirSeatAndEndWithTheDaemon) {
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::WatchStatsResponse>>> readers;
  v1::WatchStatsResponse seen;
  grpc::ChannelArguments another;
  another.SetInt("another", 1);
  const auto stub = v1::Control::NewStub(
      grpc::CreateCustomChannel("unix:" + path_, grpc::InsecureChannelCredentials(), another));
  const auto watch = [&] {
    limit(*contexts.emplace_back(std::make_unique<grpc::ClientContext>()), 60s);
    readers.push_back(stub->WatchStats(contexts.back().get(), watch_request(60'000)));
    return readers.back()->Read(&seen);
  };
  for (std::size_t i = 0; i < kWatchersPerCallerMax; ++i) ASSERT_TRUE(watch());
  const grpc::Status refused = refused_watch(watch_request(0));
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), StartsWith("user "));
  EXPECT_THAT(refused.error_message(),
              HasSubstr(" has 8 watchers already, the most of one caller; end one of them first"));
  // A watcher that leaves frees its lease long before its interval is over.
  contexts.front()->TryCancel();
  const auto until = Clock::now() + 10s;
  while (!watch() && Clock::now() < until) std::this_thread::sleep_for(50ms);
  EXPECT_LT(Clock::now(), until);
  const auto begin = Clock::now();
  server_.reset();
  EXPECT_LT(Clock::now() - begin, 5s);
  const grpc::Status ended = readers.back()->Finish();
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ended.error_message(), "the daemon is going down");
}

TEST(WatchLeases, AreLimitedPerCallerAndInAll) {
  Watchers watchers;
  std::vector<WatchLease> leases;
  const auto take = [&](const std::string& caller) {
    auto lease = watchers.admit(caller);
    if (lease.ok()) leases.push_back(std::move(lease).value());
    return lease.status();
  };
  for (int i = 0; i < 100; ++i) (void)take("user alice");
  EXPECT_EQ(leases.size(), kWatchersPerCallerMax);
  EXPECT_EQ(take("user alice").code(), Code::kResourceExhausted);
  for (std::size_t i = 0; leases.size() < kWatchersMax; ++i) {
    ASSERT_TRUE(take("the certificate CN=" + std::to_string(i / 2)).ok());
  }
  EXPECT_EQ(take("user bob").message(), "32 are watching already; end one of them first");
  leases.pop_back();
  EXPECT_TRUE(take("user bob").ok());
}

TEST_F(ControlCalls, ChangeNothingWhileTheDaemonStartsOrStops) {
  started_ = false;
  grpc::Status status = create("/data", true);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("its own streams come first"));
  EXPECT_EQ(remove("train", true).error_code(), grpc::StatusCode::UNAVAILABLE);
  started_ = true;
  draining_ = true;
  status = create("/data", true);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("stopping"));
  EXPECT_FALSE(kept_.contains("train"));
}

}  // namespace
}  // namespace echoline::serve
