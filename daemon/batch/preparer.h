// Prepares one row of a batch from an item: cut, decode, augment, as far as the item's form needs
// it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "augment/chain.h"
#include "base/mutex.h"
#include "base/status.h"
#include "batch/row_target.h"
#include "batch/sample_cache.h"
#include "batch/step_sampler.h"
#include "decode/decoder.h"
#include "echo/item.h"
#include "echoline/shm/sample_random.h"
#include "plan/plan.h"
#include "prepare/frame.h"
#include "record/core/data_set.h"

namespace echoline::batch {

// The buffers that one worker thread uses for one stream. They are reused from row to row, so that
// nothing is allocated in the steady state.
struct WorkerScratch {
  record::Fields fields;
  decode::Sample sample;
  prepare::Content prepared;
  // Samples do not refer to it, so the scratches of rows that are made together share it.
  std::shared_ptr<decode::Scratch> decode_scratch;
  std::unique_ptr<augment::Scratch> augment_scratch;
  std::vector<std::span<std::byte>> row_fields;  // RowTarget::fields of the row in work
  std::vector<std::uint64_t> row_begins;         // places of its ragged fields, by field
  StepSampler sampler;
  // Of the rows that this thread makes together.
  std::vector<std::unique_ptr<WorkerScratch>> group_scratches;
};

// What the steps after `decode` make of `scratch.sample`.
struct TriedSteps {
  std::vector<decode::FieldType> row_types;
  std::uint64_t kept_bytes = 0;  // of the sample that later uses share
};

// Whom an error concerns.
enum class Blame : std::uint8_t { kRecord, kUse };

// Compiled once per stream; any thread may prepare with its own WorkerScratch.
class Preparer {
 public:
  // A decoder for each part of the data set, with the same fields.
  Preparer(const record::DataSet& data_set, std::vector<std::unique_ptr<decode::Decoder>> decoders,
           std::unique_ptr<augment::Chain> chain, plan::EchoPoint echo_point);

  WorkerScratch make_scratch() const;
  const augment::Chain& chain() const { return *chain_; }
  // What `decode` and the steps before `prepare` make, in the order of the tensors.
  const std::vector<decode::FieldType>& prepared_types() const { return chain_->prepared_types(); }
  const decode::ImageCounts& image_counts() const { return decoders_.front()->image_counts(); }
  // Rows are copied from records without decoding: this takes hardly longer than a copy.
  bool copies_only() const { return !decoders_.front()->has_media() && !chain_->changes_values(); }
  const auto& decoded_types() const { return decoders_.front()->fields(); }
  // Sets the types of the rows. Once, before the first prepare.
  void set_row_types(const std::vector<decode::FieldType>& types);
  const std::vector<decode::FieldType>& row_types() const { return row_types_; }

  // Sets the cache that keeps decoded samples from epoch to epoch; it must outlive this. Once,
  // before the first prepare.
  void set_sample_cache(SampleCache* samples) { samples_ = samples; }

  // Sets what keeps the seek indexes of JPEG files; it must outlive this. Once, before the
  // workers' scratches are made.
  void set_seek_indexes(seek::Indexes* indexes) { decoders_.front()->set_seek_indexes(indexes); }

  // Makes the prepared sample of a record, `scratch.sample`: used to look at the first records.
  Status try_record(std::uint64_t record, std::span<const std::byte> bytes,
                    WorkerScratch& scratch) const;
  Result<TriedSteps> try_steps(WorkerScratch& scratch) const;

  // Fills `scratch.sample` with the whole prepared sample of an item that has its encoded bytes,
  // from the sample cache if it is there: for another host. Returns the bytes that its tensors
  // borrow, if they borrow any of the record or the cache.
  Result<std::shared_ptr<const Buffer>> prepare_whole(const echo::Item& item,
                                                      WorkerScratch& scratch) const
      ECHOLINE_REQUIRES(item.mutex);

  // The first part of prepare_encoded: fills `scratch.sample`. If Chain::run_together comes
  // between, prepare_encoded with the same scratch does the rest.
  Status begin_encoded(const echo::Item& item, const UseKey& key, bool used_again,
                       WorkerScratch& scratch) const ECHOLINE_REQUIRES(item.mutex);
  // The key of the use's draws.
  UseKey drawn_key(const UseKey& key) const;

  // Fills `target` with this use of an item that has its encoded bytes. Two uses of a record in
  // flight must not decode it twice, so the lock is held all the time. An error means that the
  // record is bad. `used_again`: more uses are planned, so the item keeps the form that they can
  // share at this echo point.
  // `blame` of an error: kRecord if no use of the record can be prepared; kUse if the steps that
  // each use has for itself refused this one.
  Status prepare_encoded(echo::Item& item, const UseKey& key, bool used_again,
                         WorkerScratch& scratch, const RowTarget& target, Blame& blame) const
      ECHOLINE_REQUIRES(item.mutex);
  // The same for an item that has kept such a form, which never changes: several uses at a time. An
  // error concerns this use.
  Status prepare_kept(const echo::Item& item, const UseKey& key, WorkerScratch& scratch,
                      const RowTarget& target) const ECHOLINE_EXCLUDES(item.mutex);

 private:
  const decode::Decoder& decoder_of(std::uint64_t record) const {
    return *decoders_[data_set_.part_of(record)];
  }
  // Cuts and decodes a record into `scratch.sample`.
  Status decode(std::uint64_t record, std::span<const std::byte> bytes,
                WorkerScratch& scratch) const;
  // Cuts a record into `scratch.fields`, which refer to `bytes`.
  Status cut(std::uint64_t record, std::span<const std::byte> bytes, WorkerScratch& scratch) const;
  // Fills scratch.sample from the sample cache, from a server's frame, or by decoding and the steps
  // before `prepare`. `whole`: the item keeps the sample for other uses, which need other parts of
  // its pictures.
  Status find_or_make(const echo::Item& item, const UseKey& drawn, bool whole,
                      WorkerScratch& scratch) const ECHOLINE_REQUIRES(item.mutex);
  // Fills scratch.sample from the frame that a preparation server has sent.
  Status open_prepared(const echo::Item& item, WorkerScratch& scratch) const
      ECHOLINE_REQUIRES(item.mutex);
  // Runs the augmentations and writes the row.
  Status run_chain(const decode::Sample& sample, const UseKey& drawn, WorkerScratch& scratch,
                   const RowTarget& target) const;
  // Stores in the item what later uses share: `sample`, whose buffers it takes, or the row.
  void keep(echo::Item& item, decode::Sample& sample, const RowTarget& target) const
      ECHOLINE_REQUIRES(item.mutex);

  const record::DataSet& data_set_;
  // The first one makes the scratches for all, and counts.
  const std::vector<std::unique_ptr<decode::Decoder>> decoders_;
  const std::unique_ptr<augment::Chain> chain_;
  const plan::EchoPoint echo_point_;
  SampleCache* samples_ = nullptr;
  std::vector<decode::FieldType> row_types_;
};

}  // namespace echoline::batch
