#include "loader/reader.h"

#include <string>

#include "loader/slot_demand.h"

namespace echoline::client {
namespace {

Error end_of_epoch() { return {ECHOLINE_END_OF_EPOCH, "the epoch has ended"}; }

}  // namespace

Error Reader::adopt(std::shared_ptr<Attachment> attachment) {
  window_.attach(std::move(attachment));
  const RingView& ring = window_.attachment()->ring();
  const shm::AttachReply& reply = window_.attachment()->reply();
  Error e = position_.attach(ring, {reply.epoch, reply.row});
  // The answer has changes that this ring cannot report.
  if (reply.change_count > 0 && ring.factor_log() == nullptr) {
    return {ECHOLINE_VERSION_MISMATCH,
            "the state holds changes of the echo factor, and this daemon's release is too old to "
            "report them; install the release of this client library"};
  }
  // After the position is set, because the number of slots depends on it.
  return e.ok() ? check_fit(ring, position_, overlap_) : e;
}

Error Reader::start(std::shared_ptr<Attachment> attachment, const AttachOptions& options) {
  const shm::RingHeader& h = attachment->ring().header();
  const std::uint32_t granted = attachment->reply().batch_size;
  RankSlice slice;
  slice.rank = options.rank;
  slice.world_size = options.world_size;
  slice.batch_size = granted != 0 ? granted : h.batch_rows;
  slice.last = static_cast<shm::LastBatchPolicy>(h.last_batch);
  position_.set_slice(slice);
  overlap_ = options.overlap;
  // 0: the stream's own size.
  if (options.batch_size != 0 && slice.batch_size != options.batch_size) {
    return {ECHOLINE_INTERNAL, "the daemon granted another batch size than was asked for"};
  }
  if (options.has_fingerprint &&
      (options.fingerprint != fingerprint_of(h) ||
       (options.plan_version != 0 && options.plan_version != h.plan_version))) {
    return {ECHOLINE_FAILED_PRECONDITION,
            "the stream's data, order or values are not those expected: fingerprint or plan "
            "version differ"};
  }
  if (Error e = adopt(std::move(attachment)); !e.ok()) return e;
  // A saved row with less than a batch after it, under last: drop. Continue with the next epoch.
  if (position_.current().row > 0 && position_.epoch_is_over()) position_.enter_next_epoch();
  return {};
}

Error Reader::resume(std::shared_ptr<Attachment> attachment) {
  const Position before = position_.current();
  if (Error e = adopt(std::move(attachment)); !e.ok()) return e;
  const Position& now = position_.current();
  // Exactly the same: one batch more or less would be a silent gap.
  if (now == before) return {};
  return {ECHOLINE_DATA_LOSS, "the daemon came back, but continues at epoch " +
                                  std::to_string(now.epoch) + ", row " + std::to_string(now.row) +
                                  " instead of epoch " + std::to_string(before.epoch) + ", row " +
                                  std::to_string(before.row)};
}

AttachOptions Reader::options_to_reattach(AttachOptions options) {
  options.reattaching = true;
  options.join = shm::kJoinPosition;
  options.position = position_.current();
  options.changes = position_.changes_known();
  options.weights = position_.weights_known();
  options.batch_size = static_cast<std::uint32_t>(position_.slice().batch_size);
  options.has_fingerprint = true;
  options.plan_version = header().plan_version;
  options.fingerprint = fingerprint_of(header());
  return options;
}

Error Reader::try_next(std::unique_ptr<Batch>& batch) {
  // The batch before was the last one of its epoch.
  if (position_.take_pending_end()) return end_of_epoch();
  // The log of changes after `published`: then it explains all published rows.
  window_.refresh();
  if (Error e = position_.update_changes(); !e.ok()) return e;
  for (;;) {
    // Not after the end: descriptors of the next epoch are for the next call.
    if (!position_.epoch_is_over()) {
      if (Error e = window_.skip_passed(position_); !e.ok()) return e;
    }
    if (position_.epoch_is_over()) {
      position_.enter_next_epoch();
      return end_of_epoch();
    }
    RingLocation location;
    BatchInfo info;
    if (Error e = window_.locate(position_, location, info); !e.ok()) {
      if (e.code() == ECHOLINE_CANCELLED) continue;  // the end of the epoch became known
      return e;
    }
    // May throw for lack of memory; nothing has moved yet.
    batch = Batch::make(attachment(), location, info);
    window_.advance(position_, info, location.last_sequence);
    jumped_ = false;
    return {};
  }
}

void Reader::begin_epoch() {
  const Position from = position_.current();
  if (position_.begin_epoch()) report_jump(from);
}

Error Reader::skip(std::uint64_t steps) {
  const Position from = position_.current();
  Error e = position_.skip(steps);
  if (e.ok()) report_jump(from);
  return e;
}

void Reader::report_jump(const Position& from) {
  // Until the next batch, held batches are no mistake of the trainer.
  jumped_ = true;
  attachment()->cursor().record_skip(from, position_.current());
}

Error Reader::detach_held_batches() {
  if (Error e = attachment()->freeze(); !e.ok()) return e;
  // freeze() replaced pages of the mapping by copies, so further batches need a new mapping.
  std::shared_ptr<Attachment> remapped;
  if (Error e = Attachment::remap(*attachment(), remapped); !e.ok()) return e;
  window_.remap(std::move(remapped));
  return position_.follow(attachment()->ring());
}

}  // namespace echoline::client
