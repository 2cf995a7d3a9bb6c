// The data set of one stream: the index of its records, and how a record is cut into fields. Each
// format implements it in its own folder (record/NAME).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "record/core/index.h"

namespace echoline::record {

// One named part of a record: "jpg", "cls", "tokens", ... The bytes point into the record or into
// Fields::scratch.
struct FieldBytes {
  std::string_view name;
  std::span<const std::byte> bytes;
};

// The fields of one record. Reused from record to record, so that cutting does not allocate.
struct Fields {
  std::vector<FieldBytes> fields;
  // Names and values that are not in the record's bytes (for example a class).
  std::string scratch;

  // The first field with a name of "a;b;c", in that order of preference; null if there is none.
  const FieldBytes* find(std::string_view keys) const;
};

// Consecutive records and shards of an index.
struct Part {
  std::uint64_t first_record = 0;
  std::uint64_t records = 0;
  std::uint64_t shards = 0;
};

// Immutable once opened, and any thread may call it. The header of each format's folder says which
// fields and keys its records have.
class DataSet {
 public:
  virtual ~DataSet() = default;
  virtual const Index& index() const = 0;
  virtual std::string_view format() const = 0;
  // Cuts the bytes of a record into fields. The bytes have passed their checksum, so a failure
  // means that the record is bad (docs/semantics.md, Failures).
  virtual Status cut(std::uint64_t record, std::span<const std::byte> bytes,
                     Fields& fields) const = 0;

  // Refuses to decode the field `key` as elements of type `as`, where the files state another type
  // (kInvalidArgument).
  virtual Status check_field(std::string_view /*key*/, std::string_view /*as*/) const { return {}; }

  // Values of fields that are not in the objects' bytes: classes, the columns of a list. Equal
  // values give equal text; the fingerprint of a stream contains it.
  virtual std::string metadata_text() const { return {}; }

  // The sources of a mixture, in their order. Other data sets have one part.
  virtual std::vector<Part> source_parts() const {
    return {{0, index().record_count(), index().shard_count()}};
  }
  // The number of the part that has a record.
  virtual std::size_t part_of(std::uint64_t /*record*/) const { return 0; }
  // Records are only numbers, from which users' code makes samples.
  virtual bool makes_samples() const { return false; }
  // False for compressed shards: an order over all records would unpack each shard again and again,
  // so it is refused.
  virtual bool random_access() const { return true; }
  // Writes the index next to the data, for other hosts and for starts without a state folder. The
  // source is that of the data set, open for writing. Returns the number of files. kInvalidArgument
  // for a format that needs no index file.
  virtual Result<std::uint64_t> publish(source::Source& source) const;
  // Wraps the source through which extents are read: extents of compressed shards count unpacked
  // bytes.
  virtual std::unique_ptr<source::Source> reading(std::unique_ptr<source::Source> source) const {
    return source;
  }
  // The same for the source of one part.
  virtual std::unique_ptr<source::Source> reading_part(std::unique_ptr<source::Source> source,
                                                       std::size_t /*part*/) const {
    return reading(std::move(source));
  }
};

}  // namespace echoline::record
