// docs/ring_format.md says what the compiler says: its tables of offsets are parsed and compared.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <utility>

#include "echoline/shm/door.h"
#include "echoline/shm/ring_layout.h"
#include "layout_members.h"

namespace echoline::shm {
namespace {

using Place = std::pair<std::size_t, std::size_t>;  // offset, bytes

std::map<std::string, Place> places_in_code() {
  std::map<std::string, Place> places;
#define ECHOLINE_ADD_ROW(type, member, offset, bytes) \
  places[#type "." #member] = {offsetof(type, member), sizeof(type::member)};
  ECHOLINE_LAYOUT_ROWS(ECHOLINE_ADD_ROW)
#undef ECHOLINE_ADD_ROW
  return places;
}

// Rows "| offset | bytes | `member` | ..." below a heading "### Struct (N bytes)".
std::map<std::string, Place> places_in_document(std::map<std::string, std::size_t>& sizes) {
  std::ifstream stream(std::string(ECHOLINE_SOURCE_DIR) + "/docs/ring_format.md");
  const std::regex heading(R"(### (\w+) \((\d+) bytes\))");
  const std::regex row(R"(\| *(\d+) *\| *(\d+) *\| *`(\w+)` *\|.*)");
  std::map<std::string, Place> places;
  std::string structure;
  std::string line;
  std::smatch match;
  while (std::getline(stream, line)) {
    if (std::regex_match(line, match, heading)) {
      structure = match[1];
      sizes[structure] = std::stoul(match[2]);
    } else if (std::regex_match(line, match, row)) {
      places[structure + "." + match[3].str()] = {std::stoul(match[1]), std::stoul(match[2])};
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
  const std::map<std::string, std::size_t> expected{
      {"RingHeader", sizeof(RingHeader)},   {"FieldEntry", sizeof(FieldEntry)},
      {"Descriptor", sizeof(Descriptor)},   {"WriterPage", sizeof(WriterPage)},
      {"CursorPage", sizeof(CursorPage)},   {"AttachRequest", sizeof(AttachRequest)},
      {"AttachReply", sizeof(AttachReply)}, {"Notice", sizeof(Notice)},
      {"FactorEntry", sizeof(FactorEntry)}};
  EXPECT_EQ(sizes, expected);
}

}  // namespace
}  // namespace echoline::shm
