// Megatron's pairs of .bin and .idx files: sequences, refusals, and rows that are packed with them.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "record/megatron/best_fit.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

template <typename T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

template <typename T>
std::vector<T> numbers_of(const std::string& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// An index file as Megatron's IndexedDatasetBuilder writes it.
std::string index_file(std::uint8_t type, std::size_t each,
                       const std::vector<std::int32_t>& lengths) {
  std::vector<std::int64_t> pointers, documents(lengths.size() + 1);
  std::int64_t at = 0;
  for (const std::int32_t length : lengths) {
    pointers.push_back(at);
    at += length * static_cast<std::int64_t>(each);
  }
  std::iota(documents.begin(), documents.end(), 0);
  const std::vector<std::uint64_t> version{1}, counts{lengths.size(), documents.size()};
  return std::string("MMIDIDX\0\0", 9) + bytes_of(version) + static_cast<char>(type) +
         bytes_of(counts) + bytes_of(lengths) + bytes_of(pointers) + bytes_of(documents);
}

class Megatron : public RecordTest {
 protected:
  // Tokens 0, 1, 2, ... in sequences of these lengths.
  void write_pair(const std::string& name, const std::vector<std::int32_t>& lengths) const {
    std::vector<std::uint16_t> tokens(std::accumulate(lengths.begin(), lengths.end(), 0U));
    std::iota(tokens.begin(), tokens.end(), 0);
    write(name + ".bin", bytes_of(tokens));
    write(name + ".idx", index_file(8, 2, lengths));
  }
  v1::Read packed(const std::string& name, std::uint64_t length, const std::string& method) const {
    v1::Read read = read_of({path(name)}, "megatron");
    read.mutable_pack()->set_length(length);
    read.mutable_pack()->set_method(method);
    read.mutable_pack()->set_padding(7);
    return read;
  }
  std::string refusal(const std::string& name = "a.bin") const {
    return open(read_of({path(name)}, "megatron")).set.status().message();
  }
};

TEST_F(Megatron, ARecordIsASequenceAndEmptyOnesAreNone) {
  write_pair("a", {3, 0, 1, 2, 0});
  write_pair("b", {4});
  const Opened opened = open(read_of({path("")}));  // both files of the folder, detected
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  EXPECT_EQ((*opened.set)->format(), "megatron");
  const std::vector<CutRecord> records = opened.cut_all();
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[2].key, "a.bin:2");
  EXPECT_EQ(records[3].key, "b.bin:0");
  EXPECT_EQ(numbers_of<std::uint16_t>(records[0].fields.at("tokens")),
            (std::vector<std::uint16_t>{0, 1, 2}));
  EXPECT_EQ(numbers_of<std::uint16_t>(records[2].fields.at("tokens")),
            (std::vector<std::uint16_t>{4, 5}));
  EXPECT_EQ((*opened.set)->index().record_bytes_max(), 8U);
  EXPECT_EQ((*opened.set)->index().record_bytes_total(), 20U);
}

TEST_F(Megatron, FilesThatDoNotBelongTogetherAreRefusedByName) {
  write_pair("a", {3, 2});
  const std::string index = read("a.idx"), tokens = read("a.bin");
  write("a.bin", tokens.substr(2));
  EXPECT_THAT(refusal(),
              HasSubstr("a.idx: sequence 1 has 2 tokens where the .bin file has 1 left"));
  write("a.bin", tokens + "xx");
  EXPECT_THAT(refusal(), HasSubstr("sequences have 10 bytes in all, the .bin file has 12"));
  write("a.bin", tokens);
  write("a.idx", index.substr(0, index.size() - 1));
  EXPECT_THAT(refusal(), HasSubstr("a.idx: 2 sequences and 3 documents do not fit into 81 bytes"));
  const auto changed = [&](std::size_t at, char byte) {
    std::string other = index;
    other[at] = byte;
    write("a.idx", other);
    return refusal();
  };
  EXPECT_THAT(changed(0, 'X'), HasSubstr("a.idx: no index file of Megatron"));
  EXPECT_THAT(changed(9, 2), HasSubstr("version 2 is not read"));
  EXPECT_THAT(changed(17, 7), HasSubstr("tokens of type 7"));
  EXPECT_THAT(changed(34 + 4 * 2 + 8, 4), HasSubstr("sequence 1 is at byte 4 and not at 6"));
  EXPECT_THAT(changed(34 + 3, static_cast<char>(0x80)), HasSubstr("sequence 0 has -21474"));
  EXPECT_THAT(changed(index.size() - 8, 5), HasSubstr("document 2 begins at sequence 5 of 2"));
  write("a.idx", index);
  EXPECT_THAT(refusal("a.idx"), HasSubstr("a.idx is no .bin file"));
  EXPECT_THAT(open(read_of({path("a.idx")})).set.status().message(), HasSubstr("no .bin file"));
  write("b.bin", tokens);
  EXPECT_THAT(refusal("b.bin"), HasSubstr("needs an index file for each .bin file"));
}

TEST_F(Megatron, RowsAreCutFromTheTokensOfAllDocuments) {
  write_pair("a", {3, 0, 1, 5, 2});
  const Opened opened = open(packed("a.bin", 4, "cut"));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  const std::vector<CutRecord> rows = opened.cut_all();
  ASSERT_EQ(rows.size(), 3U);
  const auto& first = rows[0].fields;
  EXPECT_EQ(numbers_of<std::int32_t>(first.at("tokens")), (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(numbers_of<std::int64_t>(first.at("labels")),
            (std::vector<std::int64_t>{1, 2, -100, -100}));
  EXPECT_EQ(numbers_of<std::int32_t>(first.at("segments")),
            (std::vector<std::int32_t>{1, 1, 1, 2}));
  EXPECT_EQ(numbers_of<std::int32_t>(first.at("positions")),
            (std::vector<std::int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(first.at("loss_mask"), std::string("\1\1\0\0", 4));
  const auto& last = rows[2].fields;
  EXPECT_EQ(numbers_of<std::int32_t>(last.at("tokens")), (std::vector<std::int32_t>{8, 9, 10, 7}));
  EXPECT_EQ(numbers_of<std::int32_t>(last.at("segments")), (std::vector<std::int32_t>{1, 2, 2, 0}));
  EXPECT_EQ(numbers_of<std::int64_t>(last.at("labels")),
            (std::vector<std::int64_t>{-100, 10, -100, -100}));
  EXPECT_EQ(rows[2].key, "a.bin:2");
}

TEST_F(Megatron, BestFitRowsAreGatheredFromTheirDocuments) {
  write_pair("a", {2, 3, 1, 6, 2});  // 6 is a row of 4 and a rest of 2
  const Opened opened = open(packed("a.bin", 4, "best_fit"));
  ASSERT_TRUE(opened.set.ok()) << opened.set.status().message();
  std::vector<std::vector<std::int32_t>> rows, segments;
  for (const CutRecord& row : opened.cut_all()) {
    ASSERT_TRUE(row.status.ok()) << row.status.message();
    rows.push_back(numbers_of<std::int32_t>(row.fields.at("tokens")));
    segments.push_back(numbers_of<std::int32_t>(row.fields.at("segments")));
  }
  EXPECT_EQ(rows, (std::vector<std::vector<std::int32_t>>{
                      {0, 1, 10, 11}, {2, 3, 4, 5}, {6, 7, 8, 9}, {12, 13, 7, 7}}));
  EXPECT_EQ(segments[0], (std::vector<std::int32_t>{1, 1, 2, 2}));
  EXPECT_EQ(segments[3], (std::vector<std::int32_t>{1, 1, 0, 0}));
  EXPECT_EQ((*opened.set)->index().record_bytes_total(), 28U);
  const auto text = [](const Opened& set) { return (*set.set)->metadata_text(); };
  EXPECT_NE(text(opened), text(open(packed("a.bin", 4, "cut"))));
  write_pair("a", {2, 3, 1, 2, 6});
  EXPECT_NE(text(opened), text(open(packed("a.bin", 4, "best_fit"))));
}

TEST(BestFit, EveryTokenIsInOneRowAndRowsAreFull) {
  std::mt19937 random(3);
  for (const std::uint32_t row_tokens : {2U, 31U, 1024U}) {
    std::vector<std::uint64_t> begin{0};
    for (int i = 0; i < 3000; ++i) begin.push_back(begin.back() + 1 + random() % 700);
    const auto rows = fill_rows(begin, row_tokens);
    ASSERT_TRUE(rows.ok());
    std::vector<bool> seen(begin.back());
    std::uint64_t piece = 0, first_before = 0;
    for (const std::uint64_t end : rows->row_end) {
      ASSERT_LT(piece, end);
      ASSERT_LE(first_before, rows->begin[piece]);
      first_before = rows->begin[piece];
      std::uint64_t tokens = 0;
      for (; piece < end; ++piece) {
        tokens += rows->tokens[piece];
        for (std::uint32_t i = 0; i < rows->tokens[piece]; ++i) {
          ASSERT_FALSE(seen[rows->begin[piece] + i]);
          seen[rows->begin[piece] + i] = true;
        }
      }
      ASSERT_LE(tokens, row_tokens);
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
    // No algorithm needs fewer than the tokens fill; best fit comes near with so many documents.
    EXPECT_LE(rows->row_end.size(), begin.back() / row_tokens + begin.back() / row_tokens / 50 + 1);
  }
}

}  // namespace
}  // namespace echoline::record
