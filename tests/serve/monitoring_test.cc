// /metrics, /healthz and /readyz over a real socket, and the text of the metrics.
#include "serve/monitor/monitoring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "serve/http_get.h"
#include "serve/memory_engine.h"
#include "serve/monitor/metric_list.h"
#include "serve/monitor/metrics.h"
#include "serve/scratch_folder.h"

namespace echoline::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

class Monitoring : public ::testing::Test {
 protected:
  void SetUp() override {
    engine_.set_stream(MemoryEngine::full_stats("train"));
    auto server = open_monitoring("127.0.0.1:0",
                                  {&engine_, &kept_, [] { return std::size_t{3}; }, &draining_});
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = std::move(server).value();
  }

  HttpAnswer get(const std::string& path) { return http_get(server_->port(), path); }

  ScratchFolder folder_;
  KeptStreams kept_{folder_.file("state")};
  MemoryEngine engine_;
  std::atomic<bool> draining_ = false;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(Monitoring, ServesTheCountersAsPrometheusText) {
  const HttpAnswer answer = get("/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(answer.body, HasSubstr("# TYPE echoline_samples_total counter"));
  EXPECT_THAT(answer.body, HasSubstr("echoline_samples_total{stream=\"train\",kind=\"fresh\"} 40"));
  const std::string decodes = "echoline_image_decodes_total{stream=\"train\",format=";
  EXPECT_THAT(answer.body, HasSubstr(decodes + "\"jpeg\",decoder=\"own\"} 37"));
  EXPECT_THAT(answer.body, HasSubstr(decodes + "\"jpeg\",decoder=\"libjpeg-turbo\"} 3"));
  EXPECT_THAT(answer.body, HasSubstr(decodes + "\"webp\",decoder=\"libwebp\"} 5"));
  EXPECT_THAT(
      answer.body,
      HasSubstr("echoline_consumer_wait_seconds_total{stream=\"train\",consumer=\"default/0\","
                "cause=\"prep\"} 2"));
  EXPECT_THAT(answer.body, HasSubstr("echoline_stage_seconds_total{stream=\"train\",stage=\"prep\","
                                     "state=\"busy\"} 1.5"));
  EXPECT_THAT(answer.body, HasSubstr("echoline_echo_factor{stream=\"train\"} 2.5"));
  EXPECT_THAT(answer.body, HasSubstr("echoline_first_batch_seconds{stream=\"train\"} 0.25"));
  EXPECT_THAT(answer.body, HasSubstr("echoline_memory_bytes{use=\"ring\"} 1000"));
  const std::string losses = "{stream=\"train\",job=\"default\",use=";
  EXPECT_THAT(answer.body,
              HasSubstr("echoline_mix_samples_total{stream=\"train\",source=\"web\"} 70"));
  EXPECT_THAT(answer.body, HasSubstr("echoline_mix_weight{stream=\"train\",source=\"web\"} "));
  EXPECT_THAT(answer.body, HasSubstr("echoline_reported_rows_total" + losses + "\"0\"} 64"));
  EXPECT_THAT(answer.body, HasSubstr("echoline_reported_loss_sum" + losses + "\"0\"} 96.5"));
  EXPECT_THAT(answer.body, HasSubstr("echoline_reported_loss_sum" + losses + "\"15+\"} -1"));
  EXPECT_THAT(answer.body, HasSubstr("echoline_door_connections 3"));
}

TEST_F(Monitoring, ShowsKeptStreamsThatCouldNotBeCreated) {
  kept_.set_failed("lost", Status(Code::kNotFound, "/data/lost.tar: No such file"));
  kept_.set_failed("train", Status(Code::kNotFound, "it was created later"));
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("echoline_stream_ready{stream=\"lost\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr("echoline_stream_ready{stream=\"train\"} 1\n"));
  EXPECT_THAT(metrics, Not(HasSubstr("echoline_stream_records{stream=\"lost\"}")));
  const auto streams = nlohmann::json::parse(get("/status.json").body)["streams"];
  ASSERT_EQ(streams.size(), 2U);
  EXPECT_EQ(streams[1]["name"], "lost");
  EXPECT_EQ(streams[1]["state"], "failed");
  EXPECT_EQ(streams[1]["error"], "/data/lost.tar: No such file");
  EXPECT_THAT(streams[1]["verdict"]["text"].get<std::string>(),
              HasSubstr("could not be created, and is tried again at the next start"));
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_THAT(get("/readyz").body, HasSubstr("stream lost is failed: /data/lost.tar"));
}

TEST_F(Monitoring, ServesRequestTimesAsAHistogramAndWaitsByTheirReason) {
  const std::string text = get("/metrics").body;
  const std::string of = "{stream=\"train\",scheme=\"s3\"";
  for (const std::string& line :
       {"# TYPE echoline_source_request_seconds histogram"s,
        "echoline_source_request_seconds_bucket" + of + ",le=\"0.0025\"} 4\n",
        "echoline_source_request_seconds_bucket" + of + ",le=\"0.01\"} 10\n",
        "echoline_source_request_seconds_bucket" + of + ",le=\"60\"} 10\n",
        "echoline_source_request_seconds_bucket" + of + ",le=\"+Inf\"} 11\n",
        "echoline_source_request_seconds_count" + of + "} 11\n",
        "echoline_source_request_seconds_sum" + of + "} 70.5\n",
        "echoline_source_wait_seconds_total" + of + ",reason=\"throttled\"} 2.5\n",
        "echoline_source_concurrency_limit" + of + "} 128\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(Monitoring, ServesTheWaitsForABatchAndTheTimeOfARowAsHistograms) {
  const std::string text = get("/metrics").body;
  const std::string wait = "echoline_consumer_batch_wait_seconds";
  const std::string of = "{stream=\"train\",consumer=\"default/0\"";
  const std::string row = "echoline_row_seconds";
  for (const std::string& line :
       {"# TYPE " + wait + " histogram\n", wait + "_bucket" + of + ",le=\"0.01\"} 0\n",
        wait + "_bucket" + of + ",le=\"0.025\"} 20\n", wait + "_bucket" + of + ",le=\"+Inf\"} 21\n",
        wait + "_sum" + of + "} 2.4\n", "# TYPE " + row + " histogram\n",
        row + "_bucket{stream=\"train\",kind=\"first\",le=\"0.0025\"} 0\n",
        row + "_bucket{stream=\"train\",kind=\"first\",le=\"0.005\"} 64\n",
        row + "_count{stream=\"train\",kind=\"again\"} 0\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(Monitoring, ExportsTheProcessMetricsOfEveryExporter) {
  const std::string text = get("/metrics").body;
  const auto value = [&text](const std::string& name) {
    const std::size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  };
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_NEAR(value("process_start_time_seconds"), now, 600);
  EXPECT_LE(value("process_start_time_seconds"), now + 2);
  EXPECT_GT(value("process_cpu_seconds_total"), 0);
  EXPECT_GT(value("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(value("process_virtual_memory_bytes"), value("process_resident_memory_bytes"));
  EXPECT_GE(value("process_open_fds"), 4);  // the standard three and this connection
  EXPECT_GT(value("process_max_fds"), value("process_open_fds"));
  EXPECT_GE(value("process_threads"), 5);  // the server has at least four
}

TEST_F(Monitoring, ShowsOnlyTheStateOfAStreamThatIsBeingOpened) {
  engine::StreamStats opening;
  opening.name = "new";
  opening.state = "opening";
  engine_.set_stream(opening);
  const std::string text = get("/metrics").body;
  EXPECT_THAT(text, HasSubstr("echoline_stream_ready{stream=\"new\"} 0\n"));
  const std::string label = "stream=\"new\"";
  EXPECT_EQ(text.find(label), text.rfind(label));
}

TEST_F(Monitoring, SaysAsJsonWhatItSaysAsMetrics) {
  const HttpAnswer answer = get("/status.json");
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: application/json"));
  const nlohmann::json status = nlohmann::json::parse(answer.body);
  EXPECT_EQ(status["format"], 1);
  EXPECT_EQ(status["daemon"]["connections"], 3);
  const nlohmann::json& stream = status["streams"][0];
  EXPECT_EQ(stream["name"], "train");
  EXPECT_EQ(stream["samples_fresh"], 40);
  EXPECT_EQ(stream["echo"]["factor"], 2.5);
  EXPECT_EQ(stream["recent"]["fresh_per_second"], 4);
  EXPECT_EQ(stream["recent"]["stall_share"], 0.25);
  EXPECT_EQ(stream["recent"]["waits"]["fetch"], 0.25);
  EXPECT_EQ(stream["recent"]["stages"][0]["starved"], 0.5);
  EXPECT_EQ(stream["recent"]["cache_hit_share"], nullptr);
  EXPECT_EQ(stream["consumers"][0]["wait_seconds"]["prep"], 2);
  EXPECT_EQ(stream["verdict"]["limit"], "storage");
  EXPECT_EQ(stream["config"], "");
}

TEST_F(Monitoring, ShowsNoPasswordsNorQueriesOfAddresses) {
  v1::Stream stream;
  v1::Read& read = *stream.add_pipeline()->mutable_read();
  read.set_endpoint("http://user:secret@store:9000");
  read.add_url("https://me:secret@host/a@b.tar?signature=secret");
  read.add_url("s3://bucket/x@y?z.tar");
  for (int more = 0; more < 9; ++more) read.add_url("s3://bucket/more");
  engine_.set_definition("train", stream);
  const std::string config =
      nlohmann::json::parse(get("/status.json").body)["streams"][0]["config"];
  EXPECT_THAT(config, Not(HasSubstr("secret")));
  EXPECT_THAT(config, HasSubstr("\"http://store:9000\""));
  EXPECT_THAT(config, HasSubstr("\"https://host/a@b.tar\""));
  EXPECT_THAT(config, HasSubstr("\"s3://bucket/x@y?z.tar\""));
  EXPECT_THAT(config, HasSubstr("\"... and 3 more\""));
}

TEST_F(Monitoring, ShowsNamesAndErrorsAsTextOnItsPage) {
  engine::StreamStats failed = MemoryEngine::full_stats("train");
  failed.state = "failed";
  failed.verdict = {"failed", "</pre><script>alert(\"1\")</script> & more"};
  engine_.set_stream(failed);
  const HttpAnswer answer = get("/");
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/html"));
  EXPECT_THAT(answer.body, HasSubstr("&lt;/pre&gt;&lt;script&gt;alert(&quot;1&quot;)"));
  EXPECT_THAT(answer.body, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(answer.body, Not(HasSubstr("{{")));
}

TEST_F(Monitoring, ShowsEachReasonOfAWaitInWordsOnItsPage) {
  const std::string page = get("/").body;
  for (const char* reason : source::kWaitReasonNames)
    EXPECT_THAT(page,
                ::testing::ContainsRegex(std::string("[ {]") + reason + ": \"(for|to|because) "))
        << reason;
  EXPECT_THAT(page, HasSubstr("for the configured throttle (read.throttle)"));
}

TEST_F(Monitoring, SendsValidJsonForNamesThatAreNotUtf8) {
  engine_.set_stream(MemoryEngine::full_stats("broken \xff name"));
  EXPECT_EQ(nlohmann::json::parse(get("/status.json").body)["streams"].size(), 2U);
}

TEST_F(Monitoring, DropsTheSeriesOfADeletedStream) {
  v1::Stream stream;
  stream.add_pipeline()->mutable_read()->add_url("x");
  ASSERT_TRUE(engine_.create_stream("other", stream, {}).ok());
  EXPECT_THAT(get("/metrics").body, HasSubstr("stream=\"other\""));
  ASSERT_TRUE(engine_.delete_stream("other").ok());
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("stream=\"other\"")));
}

TEST_F(Monitoring, CountsTwoTrainersAtOneRankInOneSeries) {
  engine::StreamStats twins = MemoryEngine::full_stats("twins");
  twins.consumers.push_back(twins.consumers.front());
  engine_.set_stream(twins);
  const std::string text = get("/metrics").body;
  const std::string series =
      "echoline_consumer_batches_total{stream=\"twins\",consumer=\"default/0\"} ";
  EXPECT_THAT(text, HasSubstr(series + "42\n"));
  EXPECT_EQ(text.find(series), text.rfind(series));
  EXPECT_THAT(text, HasSubstr("echoline_consumers{stream=\"twins\"} 2"));
  EXPECT_THAT(text, HasSubstr("echoline_consumer_batch_wait_seconds_count{stream=\"twins\","
                              "consumer=\"default/0\"} 42"));
  EXPECT_THAT(text,
              HasSubstr("echoline_device_uses_total{stream=\"twins\",consumer=\"default/0\"} 40"));
}

TEST_F(Monitoring, IsHealthyWhileItAnswers) { EXPECT_EQ(get("/healthz").status, 200); }

TEST_F(Monitoring, IsReadyWhenEveryStreamIsAndNotWhileDraining) {
  EXPECT_EQ(get("/readyz").status, 200);
  engine::StreamStats opening = MemoryEngine::full_stats("test");
  opening.state = "opening";
  engine_.set_stream(opening);
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_THAT(get("/readyz").body, HasSubstr("stream test is opening"));
  opening.state = "ready";
  engine_.set_stream(opening);
  EXPECT_EQ(get("/readyz").status, 200);
  draining_ = true;
  EXPECT_THAT(get("/readyz").body, HasSubstr("draining"));
}

TEST_F(Monitoring, AnswersOtherPathsAndMethodsWithWhatThereIs) {
  EXPECT_EQ(get("/nothing").status, 404);
  EXPECT_THAT(get("/nothing").body, HasSubstr("/, /healthz, /metrics, /readyz, /status.json"));
  EXPECT_EQ(http_request(server_->port(), "POST", "/metrics").status, 405);
  EXPECT_EQ(http_request(server_->port(), "HEAD", "/metrics").body, "");
}

// RFC 9112, 3.2: all forms of a target except the authority form of CONNECT.
TEST_F(Monitoring, AnswersEveryFormOfATarget) {
  const std::string here = "http://monitor.example.org:" + std::to_string(server_->port());
  EXPECT_EQ(get(here + "/healthz").body, "ok\n");
  EXPECT_EQ(get(here + "/healthz?again=1").status, 200);
  EXPECT_EQ(get(here + "/nothing").status, 404);
  EXPECT_EQ(http_request(server_->port(), "POST", here + "/metrics").status, 405);
  EXPECT_EQ(get("http://monitor.example.org:1/healthz").status, 421);
  EXPECT_EQ(get("https://monitor.example.org/healthz").status, 421);
  const HttpAnswer of_all = http_request(server_->port(), "OPTIONS", "*");
  EXPECT_EQ(of_all.status, 405);
  EXPECT_THAT(of_all.head, HasSubstr("Allow: GET, HEAD"));
  EXPECT_EQ(of_all.body, "only GET and HEAD\n");
  // An invalid target gets one reply, not two.
  for (const char* wrong : {"http://monitor.example.org", "healthz", "ftp://x/healthz"}) {
    EXPECT_EQ(get(wrong).status, 400) << wrong;
    EXPECT_THAT(get(wrong).body, Not(HasSubstr("HTTP/1.1"))) << wrong;
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(http_request(server_->port(), "OPTIONS", "*").status, 405) << i;
  }
}

TEST_F(Monitoring, AnswersWithinSecondsWhile250RequestsNeverComeWhole) {
  std::vector<UniqueFd> halves;
  for (int i = 0; i < 250; ++i) {
    halves.push_back(http_send(server_->port(), "GET /metrics HTTP/1.1\r\nHost: "));
    ASSERT_TRUE(halves.back()) << i;
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(get("/metrics").status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
}

TEST_F(Monitoring, EndsWithinASecondAfterAScrape) {
  get("/metrics");
  const auto start = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST_F(Monitoring, NamesTheAddressThatIsInUseAndTheRemedy) {
  const std::string address = "127.0.0.1:" + std::to_string(server_->port());
  const auto second = open_monitoring(address, {&engine_, &kept_, {}, &draining_});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::kAlreadyExists);
  EXPECT_EQ(
      second.status().message(),
      "metrics address " + address + " is in use; set daemon.metrics to another one, or to off");
}

TEST_F(Monitoring, TwoDaemonsWithoutAnAddressOfTheirOwnBothServe) {
  const auto first = open_monitoring("auto", {&engine_, &kept_, {}, &draining_});
  const auto second = open_monitoring("auto", {&engine_, &kept_, {}, &draining_});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE((*second)->address(), "127.0.0.1:9464");
  EXPECT_EQ((*second)->address(), "127.0.0.1:" + std::to_string((*second)->port()));
}

TEST_F(Monitoring, RefusesAnAddressOfAnotherHost) {
  const auto other = open_monitoring("192.0.2.1:9464", {&engine_, &kept_, {}, &draining_});
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.status().message(), HasSubstr("192.0.2.1:9464"));
}

TEST(MetricList, IsSortedIntoNamesWithBaseUnitsAndEveryOneIsExported) {
  engine::EngineStats stats;
  stats.streams.push_back(MemoryEngine::full_stats("train"));
  stats.etcd = {.answered = 3, .failed = 1};
  DaemonStats daemon;
  daemon.control.has_tls = true;
  daemon.preparation.emplace();
  const std::string text = metrics_text(stats, daemon);
  for (const MetricInfo& metric : kMetrics) {
    const std::string name(metric.name);
    EXPECT_THAT(text, HasSubstr("# HELP " + name + " "));
    const char* kind = metric.kind() == MetricKind::kCounter     ? "counter"
                       : metric.kind() == MetricKind::kHistogram ? "histogram"
                                                                 : "gauge";
    EXPECT_THAT(text, HasSubstr("# TYPE " + name + " " + kind + "\n"));
    EXPECT_TRUE(metric.help.ends_with('.')) << name;
  }
}

}  // namespace
}  // namespace echoline::serve
