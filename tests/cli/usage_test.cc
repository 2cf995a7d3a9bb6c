// Exit codes and messages that need no daemon and no data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "cli/command_run.h"
#include "cli/control_client.h"
#include "config/paths.h"
#include "serve/scratch_folder.h"

namespace echoline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Usage, ThatIsWrongEndsWith2AndSaysSoOnStderr) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"shw"},
      {"show"},
      {"read"},
      {"read", "train", "--join", "never"},
      {"read", "train", "--batches", "2", "--epochs", "1"},
      {"read", "train", "--reattach", "10"},
      {"read", "train", "--world-size", "0"},
      {"pack", "x"},
      {"check"},
      {"list", "--josn"},
      {"top", "--interval", "5ms"},
      {"top", "--count", "0"},
      {"drain"},
      {"drain", "train", "--patience", "5"},
      {"check", "a.yaml", "--set", "workers"},
      {"index", "a.tar", "--format", "tra"},
      {"index", "ftp://host/a.tar"},
      {"list", "--address", "host"},
      {"list", "--address", "host:1"},
      {"list", "--tls-ca", "ca.pem"},
      {"show", "train", "--step", "99999999999999999999"},
      {"show", "train", "--step", "1", "--batch-size", "0"},
      {"analyze", "train", "--what-if", "speed=2"},
      {"set-echo", "train"},
      {"set-echo", "train", "0.5"},
      {"set-echo", "train", "1001"},
      {"set-weights", "train", "web"},
      {"set-weights", "train", "web=1", "web=2"},
      {"read", "train", "--rank", "2", "--world-size", "2"},
      {"read", "train", "--batch-size", "0"},
      {"read", "train", "--job", ""},
      {"pack", "x", "-o", "y", "--name", "a/b"},
      {"pack", "x", "-o", "y", "--shard-size", "0"},
      {"pack", "x", "-o", "y", "--shard-records", "-1"},
      {"pack", "x", "-o", "y", "--shard-size", "big"}};
  for (const auto& arguments : wrong) {
    const CommandResult result = run_command(arguments);
    EXPECT_EQ(result.status, 2) << ::testing::PrintToString(arguments);
    EXPECT_NE(result.err, "");
  }
}

TEST(Usage, OfACountBelowOneNamesTheLeastAndNoOtherBound) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> counts = {
      {{"read", "train", "--batches"}, "--batches"},
      {{"read", "train", "--epochs"}, "--epochs"},
      {{"read", "train", "--world-size"}, "--world-size"},
      {{"top", "--count"}, "--count"}};
  for (const auto& [arguments, option] : counts) {
    for (const std::string count : {"0", "-1"}) {
      std::vector<std::string> call = arguments;
      call.push_back(count);
      const CommandResult result = run_command(call);
      EXPECT_EQ(result.status, 2);
      EXPECT_THAT(result.err, HasSubstr(option + ": " + count + " is too small; the least is 1\n"));
    }
    std::vector<std::string> call = arguments;
    call.emplace_back("many");
    EXPECT_THAT(run_command(call).err, HasSubstr(option + " = many"));
  }
}

TEST(Usage, OfIndexWithAnOptionThatWouldBeIgnoredIsRefused) {
  const auto refused = [](const std::vector<std::string>& arguments) {
    const CommandResult result = run_command(arguments);
    EXPECT_EQ(result.status, 2) << ::testing::PrintToString(arguments);
    return result.err;
  };
  EXPECT_THAT(refused({"index", "s3://bucket/*.tar", "--set", "read.profile=photos"}),
              StartsWith("echoline index: --set read.profile=photos is for a configuration, and "
                         "s3://bucket/*.tar is an address; write"));
  EXPECT_THAT(refused({"index", "train.yaml", "--endpoint", "http://host"}),
              HasSubstr("--set streams.NAME.pipeline.read.endpoint=http://host"));
  EXPECT_THAT(refused({"index", "train.yaml", "--format", "mds"}), HasSubstr("read.format"));
  EXPECT_THAT(refused({"index", "/data", "--endpoint", "http://host"}),
              HasSubstr("--endpoint is for s3://, gs:// and hf://, not for /data"));
  EXPECT_THAT(refused({"index", "gs://bucket/a", "--region", "x"}), HasSubstr("for s3://"));
}

TEST(Usage, OfIndexWithAnAddressThatCannotBeSaysItOnceAndWithoutItsPassword) {
  EXPECT_THAT(run_command({"index", "http://me:hush@localhost/x"}).err,
              StartsWith("echoline: address \"http://...@...\": a user"));
  EXPECT_THAT(run_command({"index", "/no/such/*.tar"}).err,
              StartsWith("echoline: /no/such/: No such file"));
}

TEST(Usage, OfAMisspeltNameSuggestsTheNearestOne) {
  const std::string misspelt = run_command({"shw", "train"}).err;
  EXPECT_THAT(misspelt,
              StartsWith("echoline: there is no command 'shw'; commands: check, index, "));
  EXPECT_THAT(misspelt, HasSubstr("pack; did you mean 'show'?"));
  EXPECT_THAT(run_command({"foo"}).err, HasSubstr("no command 'foo'; commands: check, index, "));
  EXPECT_THAT(run_command({"foo"}).err, Not(HasSubstr("did you mean")));
  EXPECT_THAT(run_command({"--versoin"}).err, HasSubstr("did you mean '--version'?"));
  EXPECT_THAT(run_command({"list", "--josn"}).err, StartsWith("echoline list: "));
  EXPECT_THAT(run_command({"list", "--josn"}).err, HasSubstr("did you mean '--json'?"));
}

TEST(Usage, WithoutACommandListsTheCommands) {
  const CommandResult result = run_command({});
  EXPECT_THAT(result.err, StartsWith("echoline: which command?"));
  for (const char* command : {"check", "index", "list", "show", "read", "pack"}) {
    EXPECT_THAT(result.err, HasSubstr(std::string("\n  ") + command));
  }
}

TEST(Usage, HelpAndVersionOfEveryCommandEndWith0) {
  for (const char* flag : {"--help", "--version"}) {
    EXPECT_EQ(run_command({flag}).status, 0);
    for (const char* command :
         {"check", "index", "list", "show", "state", "top", "create", "delete", "read", "pack"}) {
      const CommandResult result = run_command({command, flag});
      EXPECT_EQ(result.status, 0) << command;
      EXPECT_NE(result.out, "");
    }
  }
  EXPECT_THAT(run_command({"--version"}).out, StartsWith("echoline "));
}

TEST(Usage, OfADaemonThatIsNotThereNamesTheSocketAndTheNextStep) {
  const serve::ScratchFolder folder;
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"list"}, {"show", "a"}, {"state", "a"}, {"delete", "a"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--runtime-dir", folder.path()});
    const CommandResult result = run_command(arguments);
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.err, HasSubstr("no daemon answers at " + folder.file("control.sock")));
    EXPECT_THAT(result.err, HasSubstr("echolined --config"));
  }
  const CommandResult read =
      run_command({"read", "a", "--reattach", "0", "--runtime-dir", folder.path()});
  EXPECT_EQ(read.status, 1);
  EXPECT_THAT(read.err, HasSubstr(folder.path()));
}

TEST(Usage, OfABadConfigurationGivesItsPlace) {
  const serve::ScratchFolder folder;
  const std::string path = folder.file("bad.yaml");
  std::ofstream(path) << "streams:\n  a:\n    pipline: []\n";
  const CommandResult result = run_command({"check", path});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, StartsWith("echoline: " + path + ":3:5: key 'pipline': unknown"));
  EXPECT_EQ(result.out, "");
}

TEST(Output, HasNoControlCharactersOfOthers) {
  const serve::ScratchFolder folder;
  const std::string path = folder.file("a\x1b[2J\u009b.yaml");
  const CommandResult missing = run_command({"check", path});
  std::ofstream(path) << "daemon: {}\n";
  for (const std::string& text :
       {missing.err, run_command({"check", path}).out, run_command({"\x1b[2J\u009b"}).err}) {
    EXPECT_THAT(text, HasSubstr("\uFFFD[2J\uFFFD"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

TEST(RuntimeFolder, OfDaemonAndTrainersIsTheSameInASession) {
  const serve::ScratchFolder folder;
  std::filesystem::create_directory(folder.file("echoline"));
  std::ofstream(folder.file("echoline/door.sock")) << "";
  ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  EXPECT_EQ(runtime_dir_of(""), config::default_runtime_dir());
  ::setenv("ECHOLINE_RUNTIME_DIR", "/tmp/elsewhere", 1);
  EXPECT_EQ(runtime_dir_of(""), "/tmp/elsewhere");
  EXPECT_EQ(config::default_runtime_dir(), "/tmp/elsewhere");
  EXPECT_EQ(runtime_dir_of("/given"), "/given");
  ::unsetenv("ECHOLINE_RUNTIME_DIR");
  ::unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace
}  // namespace echoline::cli
