// From an item to one finished row of a batch: cut, decode, augment, as far as the item's form asks
// for.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "augment/chain.h"
#include "base/status.h"
#include "batch/sample_cache.h"
#include "decode/decoder.h"
#include "echo/item.h"
#include "echoline/shm/sample_random.h"
#include "plan/plan.h"
#include "record/core/data_set.h"

namespace echoline::batch {

// Where the fields of one row go: bytes in a ring slot, and the lengths in bytes of ragged ones.
struct RowTarget {
  std::span<const std::span<std::byte>> fields;
  std::span<std::uint64_t> ragged_bytes;  // one a field; untouched for fixed ones
};

// What one worker thread keeps between rows, so that the steady state allocates nothing.
struct WorkerScratch {
  record::Fields fields;
  decode::Sample sample;
  std::unique_ptr<decode::Scratch> decode_scratch;
  std::unique_ptr<augment::Scratch> augment_scratch;
};

// Compiled once per stream; any thread may prepare with a workbench of its own.
class Preparer {
 public:
  Preparer(const record::DataSet& data_set, std::unique_ptr<decode::Decoder> decoder,
           std::unique_ptr<augment::Chain> chain, plan::EchoPoint echo_point);

  WorkerScratch make_workbench() const;
  const augment::Chain& chain() const { return *chain_; }
  // Fixes the types of the rows; once, before the first prepare.
  void set_row_types(const std::vector<decode::FieldType>& types);
  const std::vector<decode::FieldType>& row_types() const { return row_types_; }

  // Where decoded samples are kept from epoch to epoch; once, before the first prepare. Outlives
  // this.
  void set_sample_cache(SampleCache* samples) { samples_ = samples; }

  // Cuts and decodes into the workbench: for looking at a first record.
  Status decode(std::uint64_t record, std::span<const std::byte> bytes, WorkerScratch& bench) const;

  // Fills `target` with this use of the item, which is ready. `lock` holds item.mutex; it is
  // released as soon as the item no longer changes, and held again on return of an error: the
  // verdict on the record. `used_again`: further uses are planned, so the item keeps what the echo
  // point lets them share.
  Status prepare(echo::Item& item, std::unique_lock<std::mutex>& lock, const UseKey& key,
                 bool used_again, WorkerScratch& bench, const RowTarget& target) const;

 private:
  Status find_or_decode(const echo::Item& item, WorkerScratch& bench) const;
  Status run_chain(const decode::Sample& sample, const UseKey& key, WorkerScratch& bench,
                   const RowTarget& target) const;
  void keep(echo::Item& item, WorkerScratch& bench, const RowTarget& target) const;
  void copy_rows(const echo::Item& item, const RowTarget& target) const;
  std::size_t row_bytes(std::size_t field, const RowTarget& target) const;

  const record::DataSet& data_set_;
  const std::unique_ptr<decode::Decoder> decoder_;
  const std::unique_ptr<augment::Chain> chain_;
  const plan::EchoPoint echo_point_;
  SampleCache* samples_ = nullptr;
  std::vector<decode::FieldType> row_types_;
};

}  // namespace echoline::batch
