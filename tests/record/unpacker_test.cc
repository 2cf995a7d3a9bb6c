// Every kind of compression is unpacked to the same bytes, however the input and the output are
// cut.
#include "record/index/unpacker.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <ostream>
#include <random>

#include "pack_bytes.h"
#include "record_fixture.h"

namespace echoline::record {
namespace {

using testing::HasSubstr;

struct Unpacked {
  Status status;
  std::string bytes;
  bool complete = false;
};

Unpacked unpack(const std::string& packed, Compression compression, std::size_t in_bytes,
                std::size_t out_bytes) {
  Unpacked all;
  const auto whole = std::as_bytes(std::span(packed));
  auto unpacker = Unpacker::make(whole, compression);
  if (!unpacker.ok()) return {unpacker.status(), {}, false};
  std::vector<std::byte> out(out_bytes);
  for (std::size_t at = 0; at < packed.size(); at += in_bytes) {
    auto in = whole.subspan(at, std::min(in_bytes, packed.size() - at));
    for (std::size_t got = out_bytes; got == out_bytes;) {
      const auto count = (*unpacker)->unpack(in, out);
      if (!count.ok()) return {count.status(), all.bytes, false};
      got = *count;
      all.bytes.append(reinterpret_cast<const char*>(out.data()), got);
      if (all.bytes.size() > 10'000'000) return {Status(Code::kInternal, "no end"), {}, false};
    }
    EXPECT_TRUE(in.empty());
  }
  all.complete = (*unpacker)->complete();
  return all;
}

std::string text_and_noise() {
  std::mt19937 random(7);
  std::string plain;
  while (plain.size() < 150'000) {
    plain += fmt::format("line {} of some text; ", random() % 50);
    if (random() % 9 == 0) {
      for (int i = 0; i < 400; ++i) plain += static_cast<char>(random());
    }
    if (plain.size() > 400 && random() % 5 == 0) plain += plain.substr(plain.size() - 300);
  }
  return plain;
}

struct Kind {
  const char* name;
  Compression compression;
  std::string (*pack)(const std::string& plain);
};

// Names of tests must not contain addresses.
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class Unpackers : public testing::TestWithParam<Kind> {};

TEST_P(Unpackers, AnyCutOfTheInputAndOutputGivesTheSameBytes) {
  for (const std::string& plain : {std::string(), std::string("x"), text_and_noise()}) {
    const std::string packed = GetParam().pack(plain);
    for (const auto& [in, out] : std::vector<std::pair<std::size_t, std::size_t>>{
             {packed.size(), 1 << 18}, {1, 4096}, {1000, 1}, {7, 13}, {packed.size(), 1000}}) {
      const Unpacked unpacked = unpack(packed, GetParam().compression, in, out);
      ASSERT_TRUE(unpacked.status.ok()) << unpacked.status.message();
      EXPECT_TRUE(unpacked.bytes == plain) << in << " " << out;
      EXPECT_TRUE(unpacked.complete);
    }
  }
}

TEST_P(Unpackers, DamageNeverEndsInACrashOrWithoutEnd) {
  const std::string packed = GetParam().pack(text_and_noise().substr(0, 3000));
  for (std::size_t bytes = 0; bytes < packed.size(); bytes += 11) {
    const Unpacked cut = unpack(packed.substr(0, bytes), GetParam().compression, 100, 100);
    EXPECT_FALSE(cut.status.ok() && cut.complete) << bytes;
  }
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string wrong = packed;
    wrong[random() % wrong.size()] ^= static_cast<char>(1 + random() % 255);
    (void)unpack(wrong, GetParam().compression, 1 + random() % 500, 1 + random() % 500);
  }
  const Unpacked more = unpack(packed + "more", GetParam().compression, 1 << 20, 1 << 20);
  EXPECT_EQ(more.status.code(), Code::kDataLoss);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Unpackers,
    testing::Values(Kind{"zlib", Compression::kZlib,
                         [](const std::string& plain) { return zlib_bytes(plain); }},
                    Kind{"zstd", Compression::kZstd,
                         [](const std::string& plain) { return zstd_bytes(plain); }},
                    Kind{"bzip2", Compression::kBzip2,
                         [](const std::string& plain) { return bzip2_bytes(plain); }},
                    Kind{"brotli", Compression::kBrotli,
                         [](const std::string& plain) { return brotli_bytes(plain); }},
                    Kind{"snappy", Compression::kSnappy,
                         [](const std::string& plain) { return snappy_bytes(plain); }}),
    [](const auto& kind) { return std::string(kind.param.name); });

// Made by Snappy 1.2 (python-snappy): 40 lines of text and all values of a byte.
TEST(SnappyUnpackers, SnappysOwnOutputIsUnderstood) {
  const std::string packed_hex =
      "8110b073616d706c652030206f662061207461626c65207769746820776f7264732074686174207265706561742c"
      "2073092c0031aa2c000034aa2c000039aa2c00043136aa2d00043235aa2d000033ae5a000034aeb4000036ae0d01"
      "0038ae66010033aae0000032ae8600043437aa5a00043732aa2d00ae2c000033ae0c010036ae5a000039b21a02ae"
      "67010037b25203aeb4000035ae87000039b2ce02ae1b020039ae95010034b2b400ae87000035ae68010038aaa102"
      "0036ae1b020032ae28030038ae87000035ae0d01043232aae1000038b2bc04aeee010033ae3b010031ae5a000038"
      "aecf020036922d00f0ff00";
  std::string packed;
  for (std::size_t i = 0; i < packed_hex.size(); i += 2) {
    packed += static_cast<char>(std::stoi(packed_hex.substr(i, 2), nullptr, 16));
  }
  std::string plain;
  for (int i = 0; i < 40; ++i) {
    plain += fmt::format("sample {} of a table with words that repeat, ", i * i % 97);
  }
  for (int i = 0; i < 256; ++i) plain += static_cast<char>(i);
  packed += plain.substr(plain.size() - 255);  // of the last literal, whose zero is above
  const Unpacked unpacked = unpack(packed, Compression::kSnappy, 50, 64);
  ASSERT_TRUE(unpacked.status.ok()) << unpacked.status.message();
  EXPECT_EQ(unpacked.bytes, plain);
  EXPECT_TRUE(unpacked.complete);
}

TEST(SnappyUnpackers, WhatReachesOutOfTheFileIsRefused) {
  const auto status = [](const std::string& packed) {
    return unpack(packed, Compression::kSnappy, 100, 100).status;
  };
  // A copy of four bytes from two before; then a copy of more than the length says.
  EXPECT_TRUE(status(std::string("\x06\x04"
                                 "ab\x01\x02",
                                 6))
                  .ok());
  EXPECT_EQ(status(std::string("\x06\x04"
                               "ab\x01\x03",
                               6))
                .code(),
            Code::kDataLoss);
  EXPECT_EQ(status(std::string("\x06\x04"
                               "ab\x01\x00",
                               6))
                .code(),
            Code::kDataLoss);
  EXPECT_EQ(status(std::string("\x05\x04"
                               "ab\x01\x02",
                               6))
                .code(),
            Code::kDataLoss);
  EXPECT_EQ(status(std::string("\xFF\xFF\xFF\xFF\xFF\x01", 6)).code(), Code::kDataLoss);
  std::string far = "\xFF\xFF\x07";  // 128 KiB - 1, of which 70,000 are a literal
  far += std::string("\xF8\x6F\x11\x01", 4) + std::string(70'000, 'x') +
         std::string("\x03\x01\x00\x01\x00", 5);
  EXPECT_EQ(status(far).code(), Code::kUnimplemented);
}

TEST(BrotliUnpackers, AWindowThatNoBudgetKnowsOfIsRefused) {
  const std::string plain = text_and_noise();
  EXPECT_TRUE(unpack(brotli_bytes(plain, 23), Compression::kBrotli, 5000, 5000).bytes == plain);
  const Unpacked wide = unpack(brotli_bytes(plain, 24), Compression::kBrotli, 5000, 5000);
  EXPECT_EQ(wide.status.code(), Code::kUnimplemented);
  EXPECT_THAT(wide.status.message(), HasSubstr("window of 16 MiB"));
}

}  // namespace
}  // namespace echoline::record
