#include "decode/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/step_times.h"
#include "decode/field_kinds.h"
#include "echoline/v1/config.pb.h"
#include "record/core/fields.h"

namespace echoline::decode {
namespace {

Status refused(std::string reason) { return {Code::kInvalidArgument, std::move(reason)}; }

// max_seconds has a default, which every entry gets.
bool has_audio_setting(const v1::DecodeField& entry) {
  return entry.rate() != 0 || entry.resample() || entry.has_channel();
}

FieldResult make_field(const v1::DecodeField& entry) {
  if (entry.key().empty()) return refused("key is missing: the extension of the record's file");
  const FieldKind* kind = find_field_kind(entry.as());
  if (entry.exif() && (kind == nullptr || !(kind->image || kind->mask))) {
    return refused("exif is for images and masks, as: rgb, gray, mask, mask16 or object_masks");
  }
  if (entry.fast() && (kind == nullptr || !kind->image)) {
    return refused("fast is for images, as: rgb or gray");
  }
  if (has_audio_setting(entry) && (kind == nullptr || !kind->audio)) {
    return refused("rate, resample and channel are for audio, as: audio");
  }
  if (kind == nullptr) {
    return refused(fmt::format("as is \"{}\"; allowed are {}", entry.as(), field_kind_names()));
  }
  return kind->make(entry);
}

}  // namespace

Decoder::Decoder(std::vector<Entry> entries, std::vector<FieldType> types, Relations relations,
                 bool has_media)
    : entries_(std::move(entries)),
      types_(std::move(types)),
      relations_(std::move(relations)),
      has_media_(has_media),
      reads_origin_(std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
        return entry.key == record::kKeyField || entry.key == record::kUrlField;
      })) {}

template <typename Read>
Status Decoder::decode_with(const record::Fields& record, Scratch& scratch, Sample& out,
                            const Read& read) const {
  out.tensors.resize(entries_.size());
  scratch.annotations.forget();
  const auto decode_field = [&](std::size_t i, const auto& read_field) -> Status {
    const record::FieldBytes* file = record.find(entries_[i].key);
    if (file == nullptr) return missing(record, entries_[i]);
    enter_step(entries_[i].step);
    out.tensors[i].borrowed.reset();  // of the last record
    scratch.shared.jpegs.file = scratch.record * entries_.size() + i;
    return read_field(i, *file, out.tensors[i]).with_context(entries_[i].context);
  };
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].field->needs_picture()) ECHOLINE_TRY(decode_field(i, read));
  }
  const auto read_on = [&](std::size_t i, const record::FieldBytes& file, Tensor& tensor) {
    const ImageSize size = relations_.picture_of(i, out);
    return entries_[i].field->read_on(size, file.bytes, scratch, tensor);
  };
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].field->needs_picture()) ECHOLINE_TRY(decode_field(i, read_on));
  }
  return relations_.apply(types_, out);
}

Status Decoder::decode(const record::Fields& record, Scratch& scratch, Sample& out) const {
  return decode_with(record, scratch, out,
                     [&](std::size_t i, const record::FieldBytes& file, Tensor& tensor) {
                       return entries_[i].field->read(file.bytes, scratch, tensor);
                     });
}

Status Decoder::decode_parts(const record::Fields& record, const PartOfField& part_of,
                             Scratch& scratch, Sample& out) const {
  return decode_with(
      record, scratch, out, [&](std::size_t i, const record::FieldBytes& file, Tensor& tensor) {
        const auto part_of_this = [&part_of, i](const ImageSize& size) { return part_of(i, size); };
        return entries_[i].field->read_part(file.bytes, part_of_this, scratch, tensor);
      });
}

Status Decoder::missing(const record::Fields& record, const Entry& entry) {
  std::string present;
  for (const record::FieldBytes& file : record.fields) {
    present += fmt::format("{}{}", present.empty() ? "" : ", ", file.name);
  }
  return Status(Code::kNotFound, fmt::format("the record has no such file; it has: {}",
                                             present.empty() ? "nothing" : present))
      .with_context(entry.context);
}

Result<std::unique_ptr<Decoder>> Decoder::compile(const v1::Decode& step) {
  if (step.fields().empty()) return refused("decode: no field; at least one is needed");
  // The order of a protobuf map is not defined. The order of the fields must not depend on it.
  std::map<std::string_view, const v1::DecodeField*> sorted;
  for (const auto& [name, entry] : step.fields()) sorted.emplace(name, &entry);
  std::vector<Entry> entries;
  std::vector<FieldType> types;
  std::vector<RelatedField> related;
  bool has_media = false;
  for (const auto& [name, entry] : sorted) {
    FieldResult field = make_field(*entry);
    if (!field.ok()) return field.status().with_context(fmt::format("decode: field {}", name));
    const FieldKind& kind = *find_field_kind(entry->as());  // make_field found it, too
    has_media |= kind.image || kind.audio || kind.mask;
    types.push_back(field.value()->type());
    types.back().name = name;
    related.push_back({std::string(name), entry->key(), entry->of(), field.value().get()});
    entries.push_back({.key = entry->key(),
                       .context = fmt::format("field {} ({})", name, entry->key()),
                       .field = std::move(field).value(),
                       .step = fmt::format("decode {}", name)});
  }
  auto relations = Relations::find(related, types);
  if (!relations.ok()) return relations.status().with_context("decode");
  return std::unique_ptr<Decoder>(
      new Decoder(std::move(entries), std::move(types), std::move(relations).value(), has_media));
}

}  // namespace echoline::decode
