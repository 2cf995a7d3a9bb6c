// The name of a record's bytes wherever they are kept: the same in every daemon on every host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace echoline::cache {

// Where the bytes stand: object and offset, as 128 bits of hash.
struct Place {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const Place&) const = default;
};

struct PlaceHash {
  std::size_t operator()(const Place& place) const { return place.low; }
};

// A value is found by its place and good only if its version is the one asked for, so that the
// value of a changed object is replaced instead of staying for ever.
struct RecordKey {
  Place place;
  std::uint64_t version = 0;  // of the object: its ETag, or size and mtime of a local file
  bool operator==(const RecordKey&) const = default;
};

// `bytes`: length of the record, which is part of where it stands.
RecordKey make_key(std::string_view url, std::string_view version, std::uint64_t offset,
                   std::uint64_t bytes);

// Hash of a list of words, for the name of a data set.
Place hash_words(std::span<const std::string_view> words);

// Checksum of a value that also holds its key: the bytes of one record never pass for another's.
std::uint64_t checksum(const RecordKey& key, std::span<const std::byte> bytes);

}  // namespace echoline::cache
