// Parses the tables of offsets in docs/ring_format.md and compares them with the compiled structs.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "echoline/shm/door.h"
#include "echoline/shm/ring_layout.h"
#include "layout_members.h"

namespace echoline::shm {
namespace {

using MemberLayout = std::pair<std::size_t, std::size_t>;  // offset, bytes

std::map<std::string, MemberLayout> places_in_code() {
  std::map<std::string, MemberLayout> places;
#define ECHOLINE_ADD_ROW(type, member, offset, bytes) \
  places[#type "." #member] = {offsetof(type, member), sizeof(type::member)};
  ECHOLINE_LAYOUT_ROWS(ECHOLINE_ADD_ROW)
#undef ECHOLINE_ADD_ROW
  return places;
}

// Rows "| offset | bytes | `member` | ..." below a heading "### Struct (N bytes)".
std::map<std::string, MemberLayout> places_in_document(std::map<std::string, std::size_t>& sizes) {
  std::ifstream stream(std::string(ECHOLINE_SOURCE_DIR) + "/docs/ring_format.md");
  std::map<std::string, MemberLayout> places;
  std::string structure;
  std::string line;
  while (std::getline(stream, line)) {
    char name[64];
    std::size_t first = 0;
    std::size_t second = 0;
    if (std::sscanf(line.c_str(), "### %63s (%zu bytes)", name, &first) == 2) {
      structure = name;
      sizes[structure] = first;
    } else if (std::sscanf(line.c_str(), "| %zu | %zu | `%63[a-z0-9_]` |", &first, &second, name) ==
               3) {
      places[structure + "." + name] = {first, second};
    }
  }
  return places;
}

TEST(Document, ListsEveryMemberAtItsOffset) {
  std::map<std::string, std::size_t> sizes;
  EXPECT_EQ(places_in_document(sizes), places_in_code());
}

TEST(Document, NamesTheSizeOfEveryStruct) {
  std::map<std::string, std::size_t> sizes;
  (void)places_in_document(sizes);
  const std::map<std::string, std::size_t> expected{{"RingHeader", sizeof(RingHeader)},
                                                    {"FieldEntry", sizeof(FieldEntry)},
                                                    {"Descriptor", sizeof(Descriptor)},
                                                    {"WriterPage", sizeof(WriterPage)},
                                                    {"LossFigures", sizeof(LossFigures)},
                                                    {"FactorLog", sizeof(FactorLog)},
                                                    {"FactorLogEntry", sizeof(FactorLogEntry)},
                                                    {"WeightLog", sizeof(WeightLog)},
                                                    {"WeightLogEntry", sizeof(WeightLogEntry)},
                                                    {"CursorPage", sizeof(CursorPage)},
                                                    {"AttachRequest", sizeof(AttachRequest)},
                                                    {"AttachReply", sizeof(AttachReply)},
                                                    {"Notice", sizeof(Notice)},
                                                    {"FactorEntry", sizeof(FactorEntry)},
                                                    {"WeightEntry", sizeof(WeightEntry)}};
  EXPECT_EQ(sizes, expected);
}

}  // namespace
}  // namespace echoline::shm
