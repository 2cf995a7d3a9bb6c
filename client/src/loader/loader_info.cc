#include "loader/loader_info.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace echoline::client {

void fill_state(Reader& reader, State& state) {
  state.plan_version = reader.header().plan_version;
  state.fingerprint = fingerprint_of(reader.header());
  state.position = reader.position().current();
  state.batch_size = static_cast<std::uint32_t>(reader.position().slice().batch_size);
  state.changes = reader.position().changes_of_state();
  state.weights = reader.position().weights_of_state();
}

void fill_info(Reader& reader, echoline_loader_info& info) {
  const shm::RingHeader& header = reader.header();
  StreamPosition& position = reader.position();
  info.rows_per_epoch = header.rows_per_epoch;
  info.records_per_epoch = header.records_per_epoch;
  // 0 means that epochs differ in length.
  info.steps_per_epoch = position.steps_per_epoch().value_or(0);
  info.row = position.current().row;
  info.epoch = position.current().epoch;
  info.seed = header.seed;
  info.batch_size = static_cast<std::uint32_t>(position.slice().batch_size);
  info.rank = position.slice().rank;
  info.world_size = position.slice().world_size;
  info.stream_batch_size = header.batch_rows;
  info.last = header.last_batch;
  info.field_count = static_cast<std::uint32_t>(reader.attachment()->ring().fields().size());
  info.factor = header.factor;
  info.plan_version = header.plan_version;
  if (position.is_variable()) info.flags |= ECHOLINE_STREAM_VARIABLE;
  if (position.has(shm::kRingBatchEcho)) info.flags |= ECHOLINE_STREAM_BATCH_ECHO;
  if (position.has(shm::kRingSealed)) info.flags |= ECHOLINE_STREAM_SEALED;
  const std::string hex = to_hex(fingerprint_of(header));
  // 32 digits and a zero.
  std::memcpy(info.fingerprint, hex.c_str(), hex.size() + 1);
}

Error count_steps(Reader& reader, std::uint64_t& steps) {
  const auto known = reader.position().steps_per_epoch();
  if (!known) {
    return {ECHOLINE_FAILED_PRECONDITION,
            "the echo factor of this stream changes while it runs (set-echo, or factor: auto), so "
            "epochs differ in their number of batches; the last one of each is marked"};
  }
  steps = *known;
  return {};
}

Error no_field_number(std::size_t index, std::size_t count) {
  return {ECHOLINE_NOT_FOUND, "the stream has " + std::to_string(count) + " fields, no number " +
                                  std::to_string(index)};
}

Error fill_field(const Reader& reader, std::uint32_t index, echoline_field& field) {
  const auto& fields = reader.attachment()->ring().fields();
  if (index >= fields.size()) return no_field_number(index, fields.size());
  const Field& from = fields[index];
  field.name = from.name.c_str();
  field.dtype = from.dtype;
  field.ragged = from.ragged ? 1 : 0;
  field.rank = static_cast<std::uint32_t>(from.sizes.size());
  std::copy(from.sizes.begin(), from.sizes.end(), field.shape);
  field.row_bytes = from.row_bytes;
  field.arena = from.arena;
  field.arena_bytes = from.arena_bytes;
  return {};
}

}  // namespace echoline::client
