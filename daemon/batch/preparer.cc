#include "batch/preparer.h"

#include <utility>

#include "base/clock.h"
#include "base/step_times.h"
#include "batch/kept_rows.h"
#include "record/core/fields.h"

namespace echoline::batch {
namespace {

// Steps that no configuration names.
const std::string kKeepStep = "keep";    // for later uses
const std::string kReuseStep = "reuse";  // of a finished row

void add_origin(const record::Index& index, std::uint64_t record, record::Fields& fields) {
  record::add_origin(index.key(record), index.shard(index.extent(record).shard).object.url, fields);
}

// The bytes of the cached sample, which the tensors borrow; null without one.
std::shared_ptr<const Buffer> find_cached(const SampleCache* samples, std::uint64_t record,
                                          decode::Sample& sample) {
  return samples != nullptr ? samples->find(record, sample) : nullptr;
}

// A sample that another host has decoded.
void offer_prepared(SampleCache* samples, std::uint64_t record, const decode::Sample& sample) {
  if (samples != nullptr && samples->wants(record)) samples->offer(record, sample, 0);
}

}  // namespace

Preparer::Preparer(const record::DataSet& data_set,
                   std::vector<std::unique_ptr<decode::Decoder>> decoders,
                   std::unique_ptr<augment::Chain> chain, plan::EchoPoint echo_point)
    : data_set_(data_set),
      decoders_(std::move(decoders)),
      chain_(std::move(chain)),
      echo_point_(echo_point) {}

void Preparer::set_row_types(const std::vector<decode::FieldType>& types) {
  row_types_ = types;
  // The last step of the chain then makes rows of exactly these types.
  chain_->fix_outputs(types);
}

WorkerScratch Preparer::make_scratch() const {
  WorkerScratch scratch;
  scratch.decode_scratch = decoders_.front()->make_scratch();
  scratch.augment_scratch = chain_->make_scratch();
  return scratch;
}

Status Preparer::cut(std::uint64_t record, std::span<const std::byte> bytes,
                     WorkerScratch& scratch) const {
  ECHOLINE_TRY(data_set_.cut(record, bytes, scratch.fields));
  if (decoder_of(record).reads_origin()) add_origin(data_set_.index(), record, scratch.fields);
  scratch.decode_scratch->record = record;
  return {};
}

Status Preparer::decode(std::uint64_t record, std::span<const std::byte> bytes,
                        WorkerScratch& scratch) const {
  // The fields refer to `bytes`, which the caller keeps until the sample is decoded.
  ECHOLINE_TRY(cut(record, bytes, scratch));
  return decoder_of(record).decode(scratch.fields, *scratch.decode_scratch, scratch.sample);
}

Status Preparer::try_record(std::uint64_t record, std::span<const std::byte> bytes,
                            WorkerScratch& scratch) const {
  ECHOLINE_TRY(decode(record, bytes, scratch));
  return chain_->run_prepared(scratch.sample, *scratch.augment_scratch);
}

Result<TriedSteps> Preparer::try_steps(WorkerScratch& scratch) const {
  TriedSteps tried{{}, scratch.sample.bytes()};
  if (chain_->has_shared()) {
    ECHOLINE_ASSIGN(const decode::Sample* const shared,
                    chain_->run_shared(scratch.sample, {}, *scratch.augment_scratch));
    tried.kept_bytes = shared->bytes();
  }
  ECHOLINE_ASSIGN(tried.row_types, chain_->outputs_for(scratch.sample));
  return tried;
}

Status Preparer::prepare_kept(const echo::Item& item, const UseKey& key, WorkerScratch& scratch,
                              // Needs no lock: the kept form does not change (Item).
                              const RowTarget& target) const {
  // As keep() decides.
  if (echo_point_ == plan::EchoPoint::kSample) {
    return run_chain(item.sample(), drawn_key(key), scratch, target);
  }
  enter_step(kReuseStep);
  copy_row(item, target);
  return {};
}

Status Preparer::begin_encoded(const echo::Item& item, const UseKey& key, bool used_again,
                               WorkerScratch& scratch) const {
  // Other uses crop other parts, so a sample that is kept must not be only this use's part. A
  // sample after shared steps has all that other uses need.
  const bool whole = used_again && echo_point_ == plan::EchoPoint::kSample && !chain_->has_shared();
  scratch.augment_scratch->stages_done = 0;
  return find_or_make(item, drawn_key(key), whole, scratch);
}

Status Preparer::prepare_encoded(echo::Item& item, const UseKey& key, bool used_again,
                                 WorkerScratch& scratch, const RowTarget& target,
                                 Blame& blame) const {
  blame = Blame::kRecord;
  const UseKey drawn = drawn_key(key);
  if (scratch.augment_scratch->stages_done == 0)
    ECHOLINE_TRY(begin_encoded(item, key, used_again, scratch));
  decode::Sample* sample = &scratch.sample;
  if (chain_->has_shared()) {
    ECHOLINE_ASSIGN(sample, chain_->run_shared(scratch.sample, drawn, *scratch.augment_scratch));
  }
  // Where uses share the finished row, they share its errors.
  if (echo_point_ == plan::EchoPoint::kRecord || echo_point_ == plan::EchoPoint::kSample) {
    blame = Blame::kUse;
  }
  ECHOLINE_TRY(run_chain(*sample, drawn, scratch, target));
  // After the row was made: an error has left the item as it was.
  if (used_again) keep(item, *sample, target);
  return {};
}

Result<std::shared_ptr<const Buffer>> Preparer::prepare_whole(const echo::Item& item,
                                                              WorkerScratch& scratch) const {
  if (auto cached = find_cached(samples_, item.record, scratch.sample)) return cached;
  ECHOLINE_TRY(find_or_make(item, {}, true, scratch));
  return item.shared_encoded();
}

Status Preparer::open_prepared(const echo::Item& item, WorkerScratch& scratch) const {
  prepare::Content& content = scratch.prepared;
  ECHOLINE_TRY(prepare::open_frame(item.encoded(), {item.record, 0}, prepared_types(), content));
  // The server's verdict is judged as one of this host's decoder.
  if (!content.bad.ok()) return content.bad;
  std::swap(scratch.sample.tensors, content.sample.tensors);
  return {};
}

Status Preparer::find_or_make(const echo::Item& item, const UseKey& drawn, bool whole,
                              WorkerScratch& scratch) const {
  // For a sample in the cache the fetcher delivers no bytes (CacheRouter::serve). The cache never
  // evicts, so the sample is still there.
  if (find_cached(samples_, item.record, scratch.sample)) return {};
  if (item.is_prepared()) {
    ECHOLINE_TRY(open_prepared(item, scratch));
    offer_prepared(samples_, item.record, scratch.sample);
    return {};
  }
  chain_->give_back(scratch.sample, *scratch.augment_scratch);
  // A sample for the cache is whole, too.
  if (samples_ != nullptr && samples_->wants(item.record)) whole = true;
  const std::uint64_t begin_ns = monotonic_ns();
  if (whole && !chain_->has_prepared()) {
    ECHOLINE_TRY(decode(item.record, item.encoded(), scratch));
  } else {
    // Nobody else needs the decoded sample: decode only the pixels that the first step reads.
    const auto part_of = [this, &drawn](std::size_t field, const decode::ImageSize& size) {
      return chain_->part_of(field, size, drawn);
    };
    ECHOLINE_TRY(cut(item.record, item.encoded(), scratch));
    ECHOLINE_TRY(
        decoder_of(item.record)
            .decode_parts(scratch.fields, part_of, *scratch.decode_scratch, scratch.sample));
  }
  ECHOLINE_TRY(chain_->run_prepared(scratch.sample, *scratch.augment_scratch));
  if (whole && samples_ != nullptr) {
    samples_->offer(item.record, scratch.sample, monotonic_ns() - begin_ns);
  }
  return {};
}

UseKey Preparer::drawn_key(const UseKey& key) const {
  UseKey drawn = key;
  // These echo points keep rows after the augmentations: all uses have the pixels of the first.
  if (echo_point_ == plan::EchoPoint::kAugmented || echo_point_ == plan::EchoPoint::kBatch) {
    drawn.use = key.first_use;
  }
  return drawn;
}

Status Preparer::run_chain(const decode::Sample& sample, const UseKey& drawn,
                           WorkerScratch& scratch, const RowTarget& target) const {
  return chain_->run(sample, drawn, *scratch.augment_scratch, target.fields, target.ragged_bytes,
                     target.place);
}

void Preparer::keep(echo::Item& item, decode::Sample& sample, const RowTarget& target) const {
  enter_step(kKeepStep);
  // Takes the decoded pictures out of the scratch. If there is no room, the item keeps its bytes.
  if (echo_point_ == plan::EchoPoint::kSample) {
    item.keep_sample(sample);
  } else if (echo_point_ == plan::EchoPoint::kAugmented) {
    keep_row(item, row_types_, target);
  }
}

}  // namespace echoline::batch
