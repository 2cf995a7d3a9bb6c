// The key of a record's bytes in every cache. All daemons on all hosts compute the same key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace echoline::cache {

// A 128-bit hash; collisions are taken to be impossible.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const Hash128&) const = default;
};

struct Hash128Hasher {
  std::size_t operator()(const Hash128& hash) const { return hash.low; }
};

// A cache finds a value by its location, and uses it only if the version matches. So the value of a
// changed object is replaced instead of staying in the cache.
struct RecordKey {
  Hash128 location;           // of object, offset and length
  std::uint64_t version = 0;  // of the object: its ETag, or size and mtime of a local file
  bool operator==(const RecordKey&) const = default;
};

// `bytes` is the record's length.
RecordKey make_key(std::string_view url, std::string_view version, std::uint64_t offset,
                   std::uint64_t bytes);

// Hash of a list of words; used to name a data set.
Hash128 hash_words(std::span<const std::string_view> words);

// Checksum of a value and its key. It covers the key, so that the bytes of one record are never
// accepted as those of another.
std::uint64_t checksum(const RecordKey& key, std::span<const std::byte> bytes);

}  // namespace echoline::cache
