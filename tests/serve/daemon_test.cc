// The daemon as a process: start, readiness, one-line errors, and a stop in bounded time. It runs
// the daemon's main() with the engine of these tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "serve/monitor/http.h"
#include "serve/process.h"
#include "serve/scratch_folder.h"

namespace echoline::serve {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Daemon : public ::testing::Test {
 protected:
  // Writes a configuration whose stream reads `url`; metrics are off.
  std::string config(const std::string& url, const std::string& metrics = "\"off\"") {
    const std::string path = folder_.file("stream.yaml");
    std::ofstream(path)
        << "daemon:\n  runtime_dir: " << runtime() << "\n  state_dir: " << folder_.file("state")
        << "\n  metrics: " << metrics
        << "\nstreams:\n  train:\n    pipeline:\n      - read: {url: " << url
        << "}\n      - decode: {i: {key: jpg, as: rgb}}\n      - batch: {size: 2}\n";
    return path;
  }

  std::string runtime() const { return folder_.file("run"); }

  std::vector<std::string> command(const std::string& config_path) const {
    return {ECHOLINED_WIRING, "--config", config_path};
  }

  // The control socket is there before the streams are opened, and signals are heard before it.
  void wait_until_starting() {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!std::filesystem::exists(runtime() + "/control.sock") &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
  }

  // Runs to the end and expects one line of error on stderr after the log lines.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& line) {
    Process daemon(arguments, "");
    EXPECT_EQ(daemon.wait(10s), 1);
    EXPECT_THAT(daemon.output(), HasSubstr("echolined: " + line));
  }

  ScratchFolder folder_;
};

TEST_F(Daemon, SaysWhenItIsReadyAndDrainsOnSigterm) {
  Process daemon(command(config("x")), folder_.file("notify"));
  ASSERT_EQ(daemon.notification(10s), "READY=1");
  EXPECT_TRUE(std::filesystem::exists(runtime() + "/door.sock"));
  EXPECT_TRUE(std::filesystem::exists(runtime() + "/control.sock"));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.notification(10s), "STOPPING=1");
  EXPECT_EQ(daemon.wait(10s), 0);
  EXPECT_TRUE(std::filesystem::is_empty(runtime()));
}

TEST_F(Daemon, MakesItsFoldersWithTightModes) {
  Process daemon(command(config("x")), folder_.file("notify"));
  ASSERT_EQ(daemon.notification(10s), "READY=1");
  struct stat found {};
  ASSERT_EQ(::stat(runtime().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0027U, 0U);
  ASSERT_EQ(::stat(folder_.file("state").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0027U, 0U);
}

TEST_F(Daemon, StopsOnASignalWhileItIsStillStarting) {
  Process daemon(command(config("slow")), folder_.file("notify"));
  wait_until_starting();
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.wait(10s), 0);
  EXPECT_EQ(daemon.notification(0ms), "");
  EXPECT_TRUE(std::filesystem::is_empty(runtime()));
}

// tests/process/stop_test.py has the case of a later second signal.
TEST_F(Daemon, TreatsTwoSignalsAtOnceAsOneRequestToStop) {
  Process daemon(command(config("slow")), folder_.file("notify"));
  wait_until_starting();
  // Two different signals: the kernel merges two pending ones of the same number.
  daemon.signal(SIGTERM);
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.wait(5s), 0);
  EXPECT_TRUE(std::filesystem::is_empty(runtime()));
}

TEST_F(Daemon, StartsOverWhatAKilledOneLeft) {
  const std::vector<std::string> arguments = command(config("x"));
  {
    Process first(arguments, folder_.file("notify"));
    ASSERT_EQ(first.notification(10s), "READY=1");
    first.signal(SIGKILL);
    first.wait(5s);
  }
  EXPECT_TRUE(std::filesystem::exists(runtime() + "/control.sock"));
  Process second(arguments, folder_.file("notify2"));
  EXPECT_EQ(second.notification(10s), "READY=1");
}

TEST_F(Daemon, SaysInOneLineWhyAStreamCannotBeOpened) {
  const std::string path = config("missing");
  expect_refused(command(path), path + ":8:21: stream 'train': missing: no such file\n");
  EXPECT_TRUE(std::filesystem::is_empty(runtime()));
}

TEST_F(Daemon, SaysInOneLineThatTheMetricsPortIsTaken) {
  const auto holder = HttpServer::open("127.0.0.1:0", {});
  ASSERT_TRUE(holder.ok());
  const std::string address = "127.0.0.1:" + std::to_string((*holder)->port());
  const std::string path = config("x", address);
  expect_refused(command(path), path + ":4:12: metrics address " + address +
                                    " is in use; set daemon.metrics to another one, or to off\n");
}

TEST_F(Daemon, RefusesARuntimeFolderThatEverybodyCanWriteTo) {
  std::filesystem::create_directory(runtime());
  std::filesystem::permissions(runtime(), std::filesystem::perms::all);
  expect_refused(command(config("x")), runtime() + " can be written to by everybody (mode 777)");
}

TEST_F(Daemon, DistinguishesConfigurationErrorsFromWrongUsage) {
  const std::string path = folder_.file("bad.yaml");
  std::ofstream(path) << "demon: {}\n";
  expect_refused({ECHOLINED_WIRING, "--config", path}, path + ":1:1: key 'demon': unknown");
  Process usage({ECHOLINED_WIRING, "--confg", path}, "");
  EXPECT_EQ(usage.wait(10s), 2);
  Process none({ECHOLINED_WIRING}, "");
  EXPECT_EQ(none.wait(10s), 2);
  EXPECT_THAT(none.output(), HasSubstr("--config is required"));
  for (const char* flag : {"--help", "--version"}) {
    Process asked({ECHOLINED_WIRING, flag}, "");
    EXPECT_EQ(asked.wait(10s), 0);
  }
}

TEST_F(Daemon, TakesValuesFromTheCommandLine) {
  std::vector<std::string> arguments = command(config("x"));
  arguments.insert(arguments.end(), {"--set", "daemon.workers=5000"});
  expect_refused(arguments, "--set daemon.workers=5000: key 'workers': 5000 is out of range");
}

}  // namespace
}  // namespace echoline::serve
