// Released parts of the schema do not change: nothing is removed, renumbered, renamed or given
// another type. golden/echoline.v1.txt is the last release. ECHOLINE_UPDATE_SCHEMA=1 adds new parts
// to it and still refuses breaking changes.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "echoline/v1/control.pb.h"
#include "echoline/v1/options.pb.h"
#include "proto/schema_lines.h"

namespace echoline {
namespace {

using google::protobuf::DescriptorProto;
using google::protobuf::FileDescriptorSet;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kGolden = ECHOLINE_SOURCE_DIR "/tests/proto/golden/echoline.v1.txt";

FileDescriptorSet schema_of_today() {
  FileDescriptorSet schema;
  for (const auto* file : {v1::Config::descriptor()->file(), v1::StreamStatus::descriptor()->file(),
                           v1::Unit_descriptor()->file(), v1::Resize::descriptor()->file(),
                           v1::AudioCrop::descriptor()->file(), v1::Read::descriptor()->file(),
                           v1::Python::descriptor()->file(), v1::TraceSpan::descriptor()->file(),
                           v1::EndpointRates::descriptor()->file()})
    file->CopyTo(schema.add_file());
  return schema;
}

std::vector<std::string> released() {
  std::vector<std::string> lines;
  std::ifstream file(kGolden);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

DescriptorProto& message(FileDescriptorSet& schema, const std::string& name) {
  for (auto& file : *schema.mutable_file()) {
    for (auto& one : *file.mutable_message_type()) {
      if (one.name() == name) return one;
    }
  }
  throw std::runtime_error("no message " + name);
}

std::vector<std::string> broken_by(const std::function<void(FileDescriptorSet&)>& change) {
  FileDescriptorSet schema = schema_of_today();
  const std::vector<std::string> before = schema_lines(schema);
  change(schema);
  return breakages(before, schema_lines(schema));
}

TEST(Schema, KeepsWhatWasReleased) {
  const std::vector<std::string> now = schema_lines(schema_of_today());
  ASSERT_FALSE(now.empty());
  EXPECT_THAT(breakages(released(), now), IsEmpty())
      << "these lines of " << kGolden << " are no longer true. Give a new field a new number; "
      << "reserve number and name of one that goes.";
  if (std::getenv("ECHOLINE_UPDATE_SCHEMA") == nullptr || HasFailure()) return;
  std::ofstream golden(kGolden);
  golden << "# The schema as last released; proto_test compares. At a release, once it passes:\n"
            "# ECHOLINE_UPDATE_SCHEMA=1 build/release/tests/proto/proto_test\n";
  for (const std::string& line : now) golden << line << '\n';
}

TEST(Schema, HasAGoldenRelease) { EXPECT_GT(released().size(), 200U); }

TEST(Schema, FollowsTheStyleGuide) { EXPECT_THAT(style_errors(schema_of_today()), IsEmpty()); }

TEST(SchemaRules, TakeAdditions) {
  EXPECT_THAT(broken_by([](FileDescriptorSet& schema) {
                auto& field = *message(schema, "Daemon").add_field();
                field.set_name("news");
                field.set_number(99);
                schema.add_file()->set_name("echoline/v1/more.proto");
              }),
              IsEmpty());
}

TEST(SchemaRules, SeeARemovedFieldUnlessItIsReserved) {
  const auto remove_seed = [](FileDescriptorSet& schema) {
    message(schema, "Stream").mutable_field()->DeleteSubrange(0, 1);
  };
  EXPECT_THAT(broken_by(remove_seed),
              ElementsAre("field echoline.v1.Stream 1 seed OPTIONAL UINT64"));
  const auto reserve_number = [&](FileDescriptorSet& schema) {
    remove_seed(schema);
    auto& range = *message(schema, "Stream").add_reserved_range();
    range.set_start(1);
    range.set_end(2);
  };
  EXPECT_THAT(broken_by(reserve_number), ElementsAre(HasSubstr("seed")));
  EXPECT_THAT(broken_by([&](FileDescriptorSet& schema) {
                reserve_number(schema);
                message(schema, "Stream").add_reserved_name("seed");
              }),
              IsEmpty());
}

TEST(SchemaRules, SeeEveryChangeOfAField) {
  using Change = std::function<void(google::protobuf::FieldDescriptorProto&)>;
  const std::vector<Change> changes = {
      [](auto& field) { field.set_name("seeds"); },
      [](auto& field) { field.set_number(17); },
      [](auto& field) { field.set_type(field.TYPE_UINT32); },
      [](auto& field) { field.set_label(field.LABEL_REPEATED); },
      [](auto& field) { field.set_proto3_optional(false); },
  };
  for (const Change& change : changes) {
    EXPECT_THAT(broken_by([&](FileDescriptorSet& schema) {
                  change(*message(schema, "Stream").mutable_field(0));
                }),
                ElementsAre("field echoline.v1.Stream 1 seed OPTIONAL UINT64"));
  }
}

TEST(SchemaRules, SeeAFieldThatLeavesItsOneof) {
  EXPECT_THAT(broken_by([](FileDescriptorSet& schema) {
                message(schema, "Step").mutable_field(0)->clear_oneof_index();
              }),
              ElementsAre(HasSubstr("read SINGLE .echoline.v1.Read in step")));
}

TEST(SchemaRules, SeeRemovedAndChangedMessagesValuesCallsAndFiles) {
  EXPECT_THAT(broken_by([](FileDescriptorSet& schema) {
                message(schema, "BadRecords").set_name("WrongRecords");
              }),
              ElementsAre(HasSubstr("field echoline.v1.BadRecords 1"),
                          HasSubstr("field echoline.v1.BadRecords 2"),
                          HasSubstr("message echoline.v1.BadRecords")));
  EXPECT_THAT(broken_by([](FileDescriptorSet& schema) {
                schema.mutable_file(2)->mutable_enum_type(0)->mutable_value(3)->set_number(99);
              }),
              ElementsAre("value echoline.v1.Unit 3 RATE"));
  const auto call = [](FileDescriptorSet& schema) {
    return schema.mutable_file(1)->mutable_service(0)->mutable_method(0);
  };
  const auto stream_back = [&](FileDescriptorSet& schema) {
    call(schema)->set_server_streaming(true);
  };
  EXPECT_THAT(broken_by(stream_back), ElementsAre(HasSubstr("rpc echoline.v1.Control Create")));
  EXPECT_THAT(broken_by([&](FileDescriptorSet& schema) {
                call(schema)->set_input_type(".echoline.v1.Stream");
              }),
              ElementsAre(HasSubstr("rpc echoline.v1.Control Create")));
  EXPECT_FALSE(broken_by([](FileDescriptorSet& schema) {
                 schema.mutable_file()->DeleteSubrange(2, 1);
               }).empty());
}

TEST(SchemaRules, SeeRemovedReservations) {
  const std::vector<std::string> before = {"reserved echoline.v1.Stream 9"};
  EXPECT_THAT(breakages(before, schema_lines(schema_of_today())), ElementsAre(before[0]));
}

TEST(SchemaRules, KnowNamesThatAreOutOfStyle) {
  FileDescriptorSet schema = schema_of_today();
  message(schema, "Stream").set_name("stream_of");
  message(schema, "Daemon").mutable_field(0)->set_name("runtimeDir");
  schema.mutable_file(2)->mutable_enum_type(0)->mutable_value(1)->set_name("bytes");
  schema.mutable_file(1)->mutable_service(0)->mutable_method(0)->set_name("create");
  // A call's name determines the names of its messages.
  EXPECT_EQ(style_errors(schema).size(), 6U);
}

}  // namespace
}  // namespace echoline
