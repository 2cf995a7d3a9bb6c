// Programs that the daemon runs: their limits, and what they inherit.
#include "source/credentials/child_process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "base/clock.h"
#include "source/credentials/command_line.h"

namespace echoline::source {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kSecondNs = 1'000'000'000;

Result<std::string> run(const ProcessCall& call) {
  auto process = ChildProcess::start(call);
  if (!process.ok()) return process.status();
  while (true) {
    if (auto result = (*process)->poll()) return *result;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Result<std::string> shell(const std::string& lines) { return run({{"sh", "-c", lines}, {}}); }

TEST(CommandLine, WordsAreSplitAsByPythonsShlex) {
  const auto words = [](std::string_view line) {
    auto split = split_command_line(line);
    return split.ok() ? *split : std::vector<std::string>{"error: " + split.status().message()};
  };
  EXPECT_THAT(words("  a b\t c\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(words("a 'b c' \"d e\" f\\ g"), ElementsAre("a", "b c", "d e", "f g"));
  EXPECT_THAT(words("a''b \"\" '\\n' \"\\n \\\" \\\\\""),
              ElementsAre("ab", "", "\\n", "\\n \" \\"));
  EXPECT_THAT(words("~/x $HOME `y` * #z ;"), ElementsAre("~/x", "$HOME", "`y`", "*", "#z", ";"));
  for (const char* line : {"a 'hush", "a \"hush", "a\\"})
    EXPECT_EQ(split_command_line(line).status().message(),
              "its command line ends within quotes or after a backslash");
  for (const char* line : {"", "  ", "''"})
    EXPECT_EQ(split_command_line(line).status().message(), "its command line names no program");
}

TEST(ChildProcess, ItsOutputIsTaken) {
  EXPECT_EQ(*shell("echo out; echo err >&2"), "out\n");
  EXPECT_EQ(*run({{"cat"}, {}}), "") << "its input is empty";
  EXPECT_EQ(shell("head -c 200000 /dev/zero")->size(), 200000U);
}

TEST(ChildProcess, ItHasTheDaemonsEnvironmentAndNoneOfItsDescriptors) {
  ::setenv("ECHOLINE_TEST_ONE", "1", 1);
  ::setenv("ECHOLINE_TEST_TWO", "1", 1);
  const int open = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  EXPECT_EQ(*run({{"sh", "-c", "echo $ECHOLINE_TEST_ONE $ECHOLINE_TEST_TWO; ls /proc/self/fd"},
                  {{"ECHOLINE_TEST_TWO", "2"}}}),
            "1 2\n0\n1\n2\n3\n");  // 3 is the folder that ls reads
  ::close(open);
  ::unsetenv("ECHOLINE_TEST_ONE");
  ::unsetenv("ECHOLINE_TEST_TWO");
}

TEST(ChildProcess, FailuresAreToldWithoutOutput) {
  EXPECT_THAT(shell("echo hush; exit 7").status().message(), HasSubstr("exit code 7"));
  EXPECT_THAT(shell("kill -9 $$").status().message(), HasSubstr("signal 9"));
  EXPECT_THAT(shell("yes").status().message(), HasSubstr("unreasonably long"));
  EXPECT_THAT(run({{"/nonexistent/tool"}, {}}).status().message(),
              HasSubstr("/nonexistent/tool cannot be started"));
}

TEST(ChildProcess, OneThatTakesTooLongIsKilledWithItsChildren) {
  const std::string file = testing::TempDir() + "echoline-child-" + std::to_string(::getpid());
  const std::uint64_t begin = monotonic_ns();
  const auto result =
      run({{"sh", "-c", "sleep 100 & echo $! > " + file + "; wait"}, {}, kSecondNs});
  EXPECT_THAT(result.status().message(), HasSubstr("did not end within 1 s"));
  EXPECT_LT(monotonic_ns() - begin, 20 * kSecondNs);
  pid_t child = 0;
  std::ifstream(file) >> child;
  ASSERT_GT(child, 0);
  const auto is_alive = [child] {
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(stat, text);
    return !text.empty() && text.find(") Z") == std::string::npos;
  };
  for (int i = 0; i < 1000 && is_alive(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(is_alive());
  std::remove(file.c_str());
}

}  // namespace
}  // namespace echoline::source
