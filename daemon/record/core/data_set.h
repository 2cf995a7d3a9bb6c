// A format knows how records lie in their shards: it builds the index and cuts a record's bytes
// into fields.
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

// One file of a record: "jpg", "cls", "tokens", ...; points into the record's bytes.
struct FieldBytes {
  std::string_view name;
  std::span<const std::byte> bytes;
};

// The fields of one record; reused from record to record, so that cutting allocates nothing.
struct Fields {
  std::vector<FieldBytes> fields;
  // Room for names and values that do not stand in the record's bytes (a folder's class).
  std::string scratch;

  // The first field whose name is one of "a;b;c" in that order of preference; null if none.
  const FieldBytes* find(std::string_view keys) const;
};

// What `cut` makes of a record, by format.
//
// webdataset: the files of the record by extension, which is all that follows the first dot of the
// basename, lower-cased. Consecutive files with one path up to that dot are one record, and that
// path is its key; an extension that comes twice starts the next record. Folders, links, hidden
// files, names without a dot and "__meta__" files belong to none. ustar, pax, GNU long names and
// base-256 sizes are read. A truncated shard's last record stays in the index and is bad when it is
// cut. A damaged header, or a file too short for one (of no bytes, too), is an error when the index
// is built; an archive of zero blocks alone has no records. Sparse archives are kUnimplemented.
// tar and tfrecord shards may be gzip or zstd files; a truncated one is an error.
//
// tfrecord: the features of a tf.train.Example (tf_example.h). The key is "FILE:NUMBER". Both
// checksums of the record are checked.
//
// mds: the columns of a sample (mds_sample.h). The key is "FILE:NUMBER".
//
// files: the file by its extension; the other columns of its list by their names, "label" as
// "cls". The key is the path in the list. Each file is a shard of its own.
//
// folder: the file by its extension, which is what follows its last dot, lower-cased ("data"
// without one); "cls", the class id in decimal; "cls_name". The key is the path below the address.
// Each file is a shard of its own.
//
// idx: "image", the item's raw elements, little-endian; "label" in decimal (`as: int64`) where a
// file of labels follows in the list. The key is "FILE:NUMBER". The labels are a shard without
// records.
//
// tokens: "tokens", raw and little-endian. The key is "FILE:NUMBER".

// The opened data set of one stream: the index and the way to cut. Any thread may call `cut`.
class DataSet {
 public:
  virtual ~DataSet() = default;
  virtual const Index& index() const = 0;
  virtual std::string_view format() const = 0;
  // A failure here is a verdict on verified bytes: the record is bad (semantics.md, Failures).
  virtual Status cut(std::uint64_t record, std::span<const std::byte> bytes,
                     Fields& fields) const = 0;

  // What decides values beside the bytes of the objects: classes, the columns of a list. The same
  // text for the same values.
  virtual std::string metadata_text() const { return {}; }

  // Compressed shards cannot be read out of order without unpacking them: false refuses an order
  // over all records.
  virtual bool random_access() const { return true; }
  // Stores the index next to the data for hosts and later starts without a state folder; the source
  // is that of the data set, open for writing. Returns how many files were written.
  // kInvalidArgument for a format that needs no index file.
  virtual Result<std::uint64_t> publish(source::Source& source) const;
  // The source through which extents are read: of compressed shards they count unpacked bytes.
  virtual std::unique_ptr<source::Source> reading(std::unique_ptr<source::Source> source) const {
    return source;
  }
};

}  // namespace echoline::record
