// Decodes the bytes of a record into arrays, as the `decode` step of the pipeline says.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "decode/field.h"
#include "decode/image_formats.h"
#include "decode/relations.h"
#include "decode/sample.h"
#include "decode/scratch.h"
#include "record/core/data_set.h"

namespace echoline::v1 {
class Decode;
}

namespace echoline::decode {

// The part of an image field that the next steps need, by field and by the picture's size.
using PartOfField = std::function<Part(std::size_t field, const ImageSize& size)>;

// Compiled once per stream. Immutable; any thread may decode with its own Scratch.
class Decoder {
 public:
  // kInvalidArgument names the field and what is allowed.
  static Result<std::unique_ptr<Decoder>> compile(const v1::Decode& step);

  // In the order of their names.
  const std::vector<FieldType>& fields() const { return types_; }
  // Whether a field is made from the record's key or address (record::add_origin).
  bool reads_origin() const { return reads_origin_; }
  // Whether a field is a picture or audio file: all others take hardly more time than a copy.
  bool has_media() const { return has_media_; }
  // The decoder must outlive it.
  std::unique_ptr<Scratch> make_scratch() const {
    return std::make_unique<Scratch>(ImageShared(counts_.get(), indexes_));
  }
  // Sets what keeps the seek indexes of JPEG files, numbered by record and field. It must outlive
  // this, and is used by the scratches that are made from now on.
  void set_seek_indexes(seek::Indexes* indexes) { indexes_ = indexes; }
  // Pictures that were decoded with any of the scratches.
  const ImageCounts& image_counts() const { return *counts_; }

  // Fills `out` with one tensor per field. An error means that the record is bad; its message names
  // the field and the reason. Codes: kNotFound a missing field, kDataLoss corrupt bytes,
  // kResourceExhausted more than a limit, kInvalidArgument a value of the wrong kind (not a number,
  // wrong shape).
  Status decode(const record::Fields& record, Scratch& scratch, Sample& out) const;
  // The same, but pictures are decoded only where `part_of` says; see Tensor::part.
  Status decode_parts(const record::Fields& record, const PartOfField& part_of, Scratch& scratch,
                      Sample& out) const;

 private:
  // One field of the step.
  struct Entry {
    std::string key;      // the extension of the record's file
    std::string context;  // the beginning of its error messages
    std::unique_ptr<Field> field;
    std::string step;  // for times
  };

  Decoder(std::vector<Entry> entries, std::vector<FieldType> types, Relations relations,
          bool has_media);
  // Decodes each field by `read`(index, file, tensor).
  template <typename Read>
  Status decode_with(const record::Fields& record, Scratch& scratch, Sample& out,
                     const Read& read) const;
  static Status missing(const record::Fields& record, const Entry& entry);

  const std::vector<Entry> entries_;
  const std::vector<FieldType> types_;
  const Relations relations_;
  const bool has_media_;
  const bool reads_origin_;
  const std::unique_ptr<ImageCounts> counts_ = std::make_unique<ImageCounts>();
  seek::Indexes* indexes_ = nullptr;
};

}  // namespace echoline::decode
