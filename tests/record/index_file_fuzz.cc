// Arbitrary bytes as an index file with valid magic, sizes and checksum: refused, or consistent and
// the same when written again.
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "record/index/file_index.h"
#include "record/index/stored_index.h"

namespace {

void put(std::string& out, std::uint64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// The fuzzer chooses the counts and the content; random files would never have a matching size.
std::string make_file(std::string_view data) {
  const auto number = [&data](std::size_t at, unsigned below) {
    return static_cast<unsigned char>(data[at]) % std::uint64_t{below};
  };
  const std::uint64_t shards = number(0, 5), records = number(1, 9);
  const std::uint64_t text = number(2, 40), keys = number(3, 40);
  const bool checksums = data[3] % 2 == 1, extended = data[2] % 2 == 1;
  const std::uint64_t parts = extended ? number(1, 4) : 0;
  std::string file = echoline::record::encode_index({}).substr(0, 16);  // magic and layout
  if (checksums) file[8] = 3;
  if (extended) file[8] = 4;
  if (extended && checksums) file[12] = 2;
  for (const std::uint64_t count : {shards, records, text, keys}) put(file, count);
  if (extended) put(file, parts);
  std::string body(data.substr(4));
  body.resize(
      shards * (extended ? 48 : 40) + parts * 24 + text + records * (checksums ? 28 : 24) + keys,
      '\0');
  file += body;
  put(file, XXH3_64bits(file.data(), file.size()));
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace echoline::record;
  const std::string_view raw(reinterpret_cast<const char*>(data), size);
  (void)decode_index(std::as_bytes(std::span(raw))).ok();
  if (size < 4) return 0;
  const std::string file = make_file(raw);
  const auto index = decode_index(std::as_bytes(std::span(file)));
  if (!index.ok()) return 0;
  std::size_t key_bytes = 0;
  for (std::size_t i = 0; i < index->records.size(); ++i) key_bytes += index->records.key(i).size();
  if (key_bytes != index->records.keys.size()) std::abort();
  if (!index->records.checksum.empty() && index->records.checksum.size() != index->records.size()) {
    std::abort();
  }
  if (encode_index(*index) != file) std::abort();
  for (std::size_t i = 0; i < index->shards.size(); ++i) {
    FileIndex files;
    if (!files.restore(*index, i).ok()) continue;
    for (const Shard& shard : files.shards()) {
      if (!shard.object.url.starts_with(index->shards[i].object.url)) std::abort();
    }
  }
  return 0;
}
