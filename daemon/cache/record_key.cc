#include "cache/record_key.h"

#include <xxhash.h>

#include <string>

namespace echoline::cache {
namespace {

// Each word follows its length, so that two different lists never give the same text.
void add(std::string& text, std::string_view word) {
  text += std::to_string(word.size());
  text += ':';
  text += word;
}

Hash128 hash_of(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

}  // namespace

RecordKey make_key(std::string_view url, std::string_view version, std::uint64_t offset,
                   std::uint64_t bytes) {
  std::string text;
  text.reserve(url.size() + 64);
  add(text, url);
  text += std::to_string(offset);
  text += '+';
  // The length is part of the location: a record that was cut in another way has another key.
  text += std::to_string(bytes);
  return {hash_of(text), XXH3_64bits(version.data(), version.size())};
}

Hash128 hash_words(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) add(text, word);
  return hash_of(text);
}

std::uint64_t checksum(const RecordKey& key, std::span<const std::byte> bytes) {
  // The key is the seed, so no copy of key and bytes is needed.
  // XOR is enough: each word is a hash already.
  const std::uint64_t seed = key.location.high ^ key.location.low ^ key.version;
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace echoline::cache
