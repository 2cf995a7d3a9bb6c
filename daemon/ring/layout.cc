#include "ring/layout.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

namespace echoline::ring {
namespace {

// Larger than the memory of any machine, and small enough that sums can't overflow.
constexpr std::uint64_t kSectionBytesMax = std::uint64_t{1} << 44;
constexpr std::size_t kFieldCountMax = 256;
constexpr std::uint32_t kCountMax = 1U << 20;

Status invalid(std::string message) {
  return Status(Code::kInvalidArgument, "ring: " + std::move(message));
}

// Compared by division, because the product itself could overflow.
// a * b, or nothing if that exceeds the size of a section.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  if (a != 0 && b > kSectionBytesMax / a) return std::nullopt;
  return a * b;
}

std::optional<std::uint64_t> row_bytes_of(const decode::FieldType& type) {
  std::optional<std::uint64_t> bytes = shm::dtype_bytes(type.dtype);
  for (std::uint32_t i = 0; i < type.shape.rank && bytes; ++i)
    bytes = product(*bytes, type.shape.sizes[i]);
  return bytes;
}

Status check_counts(const RingSpec& spec) {
  const auto within = [](std::uint32_t count) { return count >= 1 && count <= kCountMax; };
  if (!within(spec.batch_rows))
    return invalid(
        fmt::format("{} rows per batch; 1 to {} are possible", spec.batch_rows, kCountMax));
  if (!within(spec.slot_count))
    return invalid(fmt::format("{} slots; 1 to {} are possible", spec.slot_count, kCountMax));
  if (!within(spec.descriptors_live))
    return invalid(
        fmt::format("{} live batches; 1 to {} are possible", spec.descriptors_live, kCountMax));
  // Each live batch has a slot of its own. With batch echo several descriptors name one slot.
  if ((spec.flags & shm::kRingBatchEcho) == 0 && spec.descriptors_live > spec.slot_count)
    return invalid(fmt::format("{} live batches need as many slots, not {}", spec.descriptors_live,
                               spec.slot_count));
  if (spec.fields.size() > kFieldCountMax)
    return invalid(
        fmt::format("{} fields; at most {} are possible", spec.fields.size(), kFieldCountMax));
  return {};
}

Status check_field(const RingSpec& spec, std::size_t index) {
  const decode::FieldType& type = spec.fields[index];
  if (type.name.empty() || type.name.size() >= shm::kFieldNameBytes ||
      type.name.find('\0') != std::string::npos)
    return invalid(fmt::format("field name '{}' must have 1 to {} bytes", type.name,
                               shm::kFieldNameBytes - 1));
  // Readers find these three fields by their names.
  for (const std::string_view taken : {shm::kSampleIdField, shm::kUseField, shm::kRowFlagsField})
    if (type.name == taken)
      return invalid(fmt::format("field name '{}' is the ring's own", type.name));
  for (std::size_t i = 0; i < index; ++i)
    if (spec.fields[i].name == type.name)
      return invalid(fmt::format("two fields are named '{}'", type.name));
  if (shm::dtype_bytes(type.dtype) == 0)
    return invalid(fmt::format("field '{}' has no known element type", type.name));
  if (!type.ragged && !type.fixed)
    return invalid(fmt::format(
        "field '{}' has no fixed shape; add a step that gives it one (resize, a crop)", type.name));
  // The first dimension of a ragged field is the one whose length differs from row to row.
  if (type.shape.rank > shm::kFieldRankMax || (type.ragged && type.shape.rank == 0))
    return invalid(fmt::format("field '{}' has rank {}", type.name, type.shape.rank));
  if (const auto bytes = row_bytes_of(type); !bytes || *bytes == 0)
    return invalid(
        fmt::format("field '{}' has rows of {}", type.name, bytes ? "no bytes" : "too many bytes"));
  return {};
}

shm::FieldEntry entry_of(std::string_view name, shm::DType dtype, const decode::Shape& shape) {
  shm::FieldEntry entry{};
  std::memcpy(entry.name, name.data(), name.size());
  entry.dtype = dtype;
  // Fixed until the caller says otherwise.
  entry.kind = shm::kFieldFixed;
  entry.rank = shape.rank;
  std::copy_n(shape.sizes.begin(), shape.rank, entry.sizes);
  entry.row_bytes = shm::dtype_bytes(dtype) * shape.elements();
  return entry;
}

// Allocates sections one after the other. Each begins on a page border.
class Sections {
 public:
  explicit Sections(std::uint64_t page_bytes) : page_bytes_(page_bytes) {}
  // False if the section, or the sum of all sections, is too large.
  bool append(std::optional<std::uint64_t> bytes, shm::Section& section) {
    if (!bytes || *bytes > kSectionBytesMax) return false;
    // Whole pages, so that each section can be mapped on its own.
    section = {end_, (*bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_};
    end_ += section.bytes;
    return end_ <= kSectionBytesMax;
  }
  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t page_bytes_;
  std::uint64_t end_ = 0;
};

bool place_field(const RingSpec& spec, Sections& sections, shm::FieldEntry& entry) {
  const std::uint64_t rows = std::uint64_t{spec.slot_count} * spec.batch_rows;
  if (entry.kind == shm::kFieldRagged) {
    const std::uint64_t offsets =
        // One more than rows, for each slot: row r has the values [offsets[r], offsets[r + 1]).
        std::uint64_t{spec.slot_count} * (std::uint64_t{spec.batch_rows} + 1);
    return sections.append(product(rows, entry.row_bytes), entry.arena) &&
           sections.append(product(offsets, sizeof(std::uint64_t)), entry.offsets);
  }
  // Rows of all slots in one arena, so that batches of any size are contiguous.
  entry.arena_rows = rows;
  return sections.append(product(rows, entry.row_bytes), entry.arena);
}

shm::RingHeader header_of(const RingSpec& spec) {
  shm::RingHeader header{};
  header.magic = shm::kRingMagic;
  header.layout_major = shm::kLayoutMajor;
  header.layout_minor = shm::kLayoutMinor;
  header.batch_rows = spec.batch_rows;
  header.slot_count = spec.slot_count;
  // A power of two, as docs/ring_format.md promises.
  header.descriptor_count = std::bit_ceil(spec.descriptors_live);
  header.descriptors_live = spec.descriptors_live;
  header.last_batch = spec.last_batch;
  header.flags = spec.flags;
  header.plan_version = spec.plan_version;
  header.rows_per_epoch = spec.rows_per_epoch;
  header.records_per_epoch = spec.records_per_epoch;
  std::copy(spec.fingerprint.begin(), spec.fingerprint.end(), header.fingerprint);
  header.factor = spec.factor;
  header.echo_point = spec.echo_point;
  header.seed = spec.seed;
  return header;
}

// The record's fields, then the three words of each row, in the order that Layout names.
std::vector<shm::FieldEntry> entries_of(const RingSpec& spec) {
  std::vector<shm::FieldEntry> entries;
  for (const decode::FieldType& type : spec.fields) {
    entries.push_back(entry_of(type.name, type.dtype, type.shape));
    if (type.ragged) entries.back().kind = shm::kFieldRagged;
  }
  entries.push_back(entry_of(shm::kSampleIdField, shm::kUint64, {}));
  entries.push_back(entry_of(shm::kUseField, shm::kUint32, {}));
  entries.push_back(entry_of(shm::kRowFlagsField, shm::kUint32, {}));
  return entries;
}

}  // namespace

std::uint64_t system_page_bytes() {
  return std::max<std::uint64_t>(shm::kPageBytes,
                                 static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

Result<Layout> compute_layout(const RingSpec& spec, std::uint64_t page_bytes) {
  ECHOLINE_TRY(check_counts(spec));
  for (std::size_t i = 0; i < spec.fields.size(); ++i) ECHOLINE_TRY(check_field(spec, i));
  Layout layout{header_of(spec), entries_of(spec)};
  shm::RingHeader& header = layout.header;
  header.field_count = static_cast<std::uint32_t>(layout.fields.size());

  // The order of the sections is part of the layout version: docs/ring_format.md.
  Sections sections(page_bytes);
  shm::Section header_section{};
  bool placed =
      sections.append(sizeof(shm::RingHeader), header_section) &&
      sections.append(product(layout.fields.size(), sizeof(shm::FieldEntry)), header.fields) &&
      sections.append(product(header.descriptor_count, sizeof(shm::Descriptor)),
                      header.descriptors) &&
      sections.append(sizeof(shm::WriterPage), header.writer) &&
      sections.append(sizeof(shm::FactorLog), header.factor_log) &&
      (!spec.has_weights || sections.append(sizeof(shm::WeightLog), header.weight_log));
  for (shm::FieldEntry& entry : layout.fields)
    placed = placed && place_field(spec, sections, entry);
  if (!placed)
    return invalid(fmt::format(
        "{} slots of {} rows would take more than {} GiB; lower batch.size or publish.slots",
        spec.slot_count, spec.batch_rows, kSectionBytesMax >> 30));
  header.total_bytes = sections.end();
  return layout;
}

std::uint64_t ring_bytes(const RingSpec& spec) {
  const Result<Layout> layout = compute_layout(spec);
  return layout.ok() ? layout.value().header.total_bytes
                     : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace echoline::ring
