// What a loader tells about its stream and its position.
#include <algorithm>
#include <cstring>

#include "loader.h"

namespace echoline::client {

Error Loader::state(State& state) {
  const std::lock_guard lock(mutex_);
  if (Error e = check_attached(); !e.ok()) return e;
  const shm::RingHeader& header = reader_.attachment()->ring().header();
  state.plan_version = header.plan_version;
  std::copy(std::begin(header.fingerprint), std::end(header.fingerprint),
            state.fingerprint.begin());
  state.stream = options_.wish.stream;
  state.position = reader_.position();
  state.batch_size = static_cast<std::uint32_t>(reader_.cut().batch_size);
  state.changes = reader_.changes();
  return {};
}

Error Loader::info(echoline_loader_info& info) {
  const std::lock_guard lock(mutex_);
  if (Error e = check_attached(); !e.ok()) return e;
  const shm::RingHeader& header = reader_.attachment()->ring().header();
  info.rows_per_epoch = header.rows_per_epoch;
  info.records_per_epoch = header.records_per_epoch;
  info.steps_per_epoch = reader_.steps_per_epoch().value_or(0);
  info.row = reader_.position().row;
  info.epoch = reader_.position().epoch;
  info.seed = header.seed;
  info.batch_size = static_cast<std::uint32_t>(reader_.cut().batch_size);
  info.rank = reader_.cut().rank;
  info.world_size = reader_.cut().world_size;
  info.stream_batch_size = header.batch_rows;
  info.last = header.last_batch;
  info.field_count = static_cast<std::uint32_t>(reader_.attachment()->ring().fields().size());
  info.factor = header.factor;
  info.plan_version = header.plan_version;
  if (reader_.is_variable()) info.flags |= ECHOLINE_STREAM_VARIABLE;
  if ((header.flags & shm::kRingBatchEcho) != 0) info.flags |= ECHOLINE_STREAM_BATCH_ECHO;
  if ((header.flags & shm::kRingSealed) != 0) info.flags |= ECHOLINE_STREAM_SEALED;
  Fingerprint fingerprint;
  std::copy(std::begin(header.fingerprint), std::end(header.fingerprint), fingerprint.begin());
  const std::string hex = to_hex(fingerprint);
  std::memcpy(info.fingerprint, hex.c_str(), hex.size() + 1);
  return {};
}

Error Loader::steps_per_epoch(std::uint64_t& steps) {
  const std::lock_guard lock(mutex_);
  if (Error e = check_attached(); !e.ok()) return e;
  const auto known = reader_.steps_per_epoch();
  if (!known) {
    return {
        ECHOLINE_FAILED_PRECONDITION,
        "the echo factor of this stream was changed while it ran (set-echo), so epochs differ in "
        "their number of batches; the last one of each is marked"};
  }
  steps = *known;
  return {};
}

Error Loader::field(std::uint32_t index, echoline_field& field) {
  const std::lock_guard lock(mutex_);
  if (Error e = check_attached(); !e.ok()) return e;
  const auto& fields = reader_.attachment()->ring().fields();
  if (index >= fields.size()) {
    return {ECHOLINE_NOT_FOUND, "the stream has " + std::to_string(fields.size()) +
                                    " fields, no number " + std::to_string(index)};
  }
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
