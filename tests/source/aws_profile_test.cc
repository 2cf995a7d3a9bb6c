// The files that AWS's tools share, in the forms that users write.
#include "source/credentials/aws_profile.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace echoline::source {
namespace {

constexpr const char* kCredentials =
    "# a comment\n"
    "[default]\n"
    "aws_access_key_id = KEY\r\n"
    "AWS_SECRET_ACCESS_KEY=a/b+c==\n"
    "\n"
    "[dev]\n"
    "aws_access_key_id=DEV   # of the team\n"
    "aws_secret_access_key = with#sign\n"
    "s3 =\n"
    "    max_concurrent_requests = 7\n"
    "region = eu-west-1\n";

TEST(AwsProfile, SettingsAreThoseOfTheirSection) {
  const Settings settings = parse_settings(kCredentials, "default");
  EXPECT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings.at("aws_access_key_id"), "KEY");
  EXPECT_EQ(settings.at("aws_secret_access_key"), "a/b+c==");
}

TEST(AwsProfile, CommentsEndValuesOnlyAfterASpaceAndNestedLinesAreLeftOut) {
  const Settings settings = parse_settings(kCredentials, "dev");
  EXPECT_EQ(settings.at("aws_access_key_id"), "DEV");
  EXPECT_EQ(settings.at("aws_secret_access_key"), "with#sign");
  EXPECT_EQ(settings.at("region"), "eu-west-1");
  EXPECT_FALSE(settings.contains("max_concurrent_requests"));
}

TEST(AwsProfile, WhatIsNoSettingsFileHasNoSettings) {
  for (const char* text : {"", "[", "[]", "]", "=", "[default", "[default]", "[default]\n=\n\n[x",
                           "aws_access_key_id = outside"})
    EXPECT_LE(parse_settings(text, "default").size(), 1U) << text;
}

TEST(AwsProfile, BothFilesAreReadAndThatOfTheCredentialsWins) {
  char name[] = "/tmp/echoline-profile-XXXXXX";
  const std::string folder = ::mkdtemp(name);
  const AwsFiles files{folder + "/credentials", folder + "/config"};
  std::ofstream(files.credentials) << kCredentials;
  std::ofstream(files.config) << "[ profile  dev ]\nregion = us-west-2\noutput = json\n"
                                 "[default]\nregion = ap-south-1\n";
  const auto dev = read_profile(files, "dev");
  ASSERT_TRUE(dev.ok());
  EXPECT_EQ(dev->at("region"), "eu-west-1");
  EXPECT_EQ(dev->at("output"), "json");
  EXPECT_EQ(read_profile(files, "default")->at("region"), "ap-south-1");
  EXPECT_TRUE(read_profile(files, "nobody")->empty());
  std::remove(files.credentials.c_str());
  std::remove(files.config.c_str());
  EXPECT_TRUE(read_profile(files, "dev")->empty());
  ::rmdir(folder.c_str());
}

}  // namespace
}  // namespace echoline::source
