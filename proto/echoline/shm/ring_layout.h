// The layout of a ring in shared memory: one memfd that the daemon writes and trainers map
// read-only. Fixed-width little-endian integers, offsets instead of pointers, no implicit padding.
// docs/ring_format.md explains it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace echoline::shm {

inline constexpr std::uint64_t kRingMagic = 0x31474E4952484345;  // "ECHRING1"
inline constexpr std::uint32_t kLayoutMajor = 1;
inline constexpr std::uint32_t kLayoutMinor = 4;
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kLineBytes = 128;
inline constexpr std::size_t kFieldRankMax = 6;
inline constexpr std::size_t kFieldNameBytes = 64;
inline constexpr std::size_t kFingerprintBytes = 16;
inline constexpr std::size_t kFactorLogEntries = 64;
inline constexpr std::size_t kWeightLogEntries = 16;
inline constexpr std::size_t kMixSourcesMax = 64;

// Names of the per-row fields that every ring has in addition to the fields of the stream.
inline constexpr char kSampleIdField[] = "__sample_id__";  // uint64
inline constexpr char kUseField[] = "__use__";             // uint32
inline constexpr char kRowFlagsField[] = "__flags__";      // uint32 of RowFlag

enum RowFlag : std::uint32_t {
  kRowPadded = 1,    // a repeat that fills up the batch; do not count it
  kRowReplaced = 2,  // replaces a bad record
};

enum DescriptorFlag : std::uint32_t {
  kEndOfEpoch = 1,  // the last batch of its epoch
};

enum LastBatchPolicy : std::uint32_t { kLastDrop = 1, kLastPartial = 2, kLastPad = 3 };

enum RingFlag : std::uint32_t {
  kRingSealed = 1,     // the memfd is sealed against writable mappings
  kRingBatchEcho = 2,  // several descriptors may use one slot; only the stream's batch size
  kRingVariable = 4,   // the factor can change: rows per epoch are not known in advance
  kRingBuckets = 8,    // batches have different numbers of rows; only the stream's batch size
};

enum WriterState : std::uint32_t { kWriterRunning = 1, kWriterEnded = 2, kWriterFailed = 3 };

enum FieldKind : std::uint32_t {
  kFieldFixed = 1,  // one arena for all slots; map it twice, back to back
  kFieldRagged =
      2,  // per slot: at most row_bytes * batch_rows bytes of values, batch_rows + 1 offsets
};

// A part of the memfd; both are multiples of kPageBytes.
struct Section {
  std::uint64_t offset;
  std::uint64_t bytes;
};

// At offset 0. Written once, before the first trainer gets the ring.
struct RingHeader {
  std::uint64_t magic;
  std::uint32_t layout_major;
  std::uint32_t layout_minor;
  std::uint64_t total_bytes;
  Section fields;       // FieldEntry[field_count]
  Section descriptors;  // Descriptor[descriptor_count]
  Section writer;       // WriterPage
  std::uint32_t field_count;
  std::uint32_t batch_rows;        // rows of one descriptor (B)
  std::uint32_t slot_count;        // distinct slots that hold rows
  std::uint32_t descriptor_count;  // a power of two; descriptor s is at index s % descriptor_count
  std::uint32_t descriptors_live;  // maximum number that is published and not released
  std::uint32_t last_batch;        // LastBatchPolicy
  std::uint32_t flags;             // RingFlag
  std::uint32_t plan_version;
  std::uint64_t rows_per_epoch;     // batch echo, buckets: descriptors per epoch times batch_rows
  std::uint64_t records_per_epoch;  // fresh records
  std::uint8_t fingerprint[kFingerprintBytes];
  std::uint32_t factor;      // initial echo factor, thousandths
  std::uint32_t echo_point;  // plan::EchoPoint
  std::uint64_t seed;
  Section factor_log;  // FactorLog (layout 1.2)
  Section weight_log;  // WeightLog (layout 1.4); 0, 0 without sources that have weights
  std::uint64_t reserved[4];
};

struct FieldEntry {
  char name[kFieldNameBytes];  // zero-terminated
  std::uint32_t dtype;         // DType
  std::uint32_t kind;          // FieldKind
  std::uint32_t rank;          // dimensions of one row, without the batch dimension
  std::uint32_t reserved0;
  std::uint32_t sizes[kFieldRankMax];
  std::uint64_t row_bytes;   // ragged: maximum bytes of one row
  std::uint64_t arena_rows;  // fixed: slot_count * batch_rows; see arena_position
  Section arena;             // ragged: slot_count runs of batch_rows * row_bytes
  Section offsets;  // ragged: slot_count runs of (batch_rows + 1) uint64, in bytes; else 0, 0
  std::uint64_t reserved[4];
};

// The byte position of a row of a fixed field in its arena. Rows follow each other without gaps and
// wrap at the end of the arena, possibly in the middle of a row. The arena is whole pages and is
// mapped twice, back to back: a run of rows up to the arena's size is contiguous from here.
constexpr std::uint64_t arena_position(std::uint64_t arena_bytes, std::uint64_t row_bytes,
                                       std::uint64_t arena_row) {
  return arena_row * row_bytes % arena_bytes;
}

// What the daemon publishes: one batch of the stream's batch size.
struct Descriptor {
  std::uint64_t sequence;      // counts from 0, for the life of the ring
  std::uint64_t step;          // row / batch_rows of this epoch
  std::uint64_t row;           // number of the first row within the epoch
  std::uint64_t arena_row;     // batch_rows rows from here; see arena_position
  std::uint64_t published_ns;  // CLOCK_MONOTONIC
  std::uint32_t epoch;
  std::uint32_t flags;       // DescriptorFlag
  std::uint32_t slot;        // for ragged fields: which run of values and offsets
  std::uint32_t valid_rows;  // rows that exist; fewer than whole_rows only at the end of an epoch
  std::uint32_t fresh_rows;  // rows with use 0
  std::uint32_t replaced_rows;
  std::uint32_t
      batch_use;  // batch echo: which use of the slot this is; add it to the rows' use words
  std::uint32_t whole_rows;     // rows of a whole batch of this kind; 0: batch_rows (layout 1.3)
  std::uint32_t bucket_length;  // largest length of its records; 0: no buckets (layout 1.3)
  std::uint32_t reserved0;
  std::uint64_t reserved[6];
};

// Written only by the daemon. Each word that others poll has its own cache line.
struct WriterPage {
  alignas(kLineBytes) std::uint64_t published;  // descriptors [0, published) are complete
  alignas(kLineBytes) std::uint32_t bell;  // futex: changes at every publish and change of state
  std::uint32_t state;                     // WriterState
  alignas(kLineBytes)
      std::uint32_t waiting;  // 1 while the writer sleeps: after a release wake the cursor's bell
  std::uint32_t reserved0[31];
};

// A change of the echo factor. `rows` and `rows_after` are valid until a later entry changes them.
struct FactorLogEntry {
  std::uint64_t block;       // of `epoch`: records from this block on get this factor
  std::uint64_t rows;        // of `epoch`
  std::uint64_t rows_after;  // of each epoch after it
  std::uint64_t since_row;   // states at this position and later contain the entry: row within
  std::uint32_t since_epoch;
  std::uint32_t epoch;
  std::uint32_t factor;  // thousandths
  std::uint32_t reserved0;
};

// Written only by the daemon (layout 1.2). `count` entries were written; the newest
// kFactorLogEntries exist, entry n at index n % kFactorLogEntries. Their epochs never decrease.
struct FactorLog {
  alignas(kLineBytes) std::uint64_t count;
  alignas(kLineBytes) FactorLogEntry entries[kFactorLogEntries];
};

// A change of the weights of a mixture's sources.
struct WeightLogEntry {
  std::uint64_t row;        // of `epoch` without echo: from this one on with these weights
  std::uint64_t since_row;  // states at this position and later contain the entry: row within
  std::uint32_t since_epoch;
  std::uint32_t epoch;
  std::uint32_t source_count;
  std::uint32_t reserved0;
  std::uint32_t weights[kMixSourcesMax];  // thousandths, of each source
};

// Written only by the daemon (layout 1.4), as FactorLog.
struct WeightLog {
  alignas(kLineBytes) std::uint64_t count;
  alignas(kLineBytes) WeightLogEntry entries[kWeightLogEntries];
};

// The losses of rows by use: [0] of fresh rows, [1] of second uses; the last one has all later
// uses.
inline constexpr std::size_t kLossUses = 16;
struct LossFigures {
  std::uint64_t reports;  // calls of the trainer that added to the figures
  std::uint64_t rows[kLossUses];
  double sums[kLossUses];
};

// One for each consumer, in a separate memfd that only this consumer writes. The daemon does not
// trust the values: it checks each one.
struct CursorPage {
  alignas(kLineBytes) std::uint64_t released;  // descriptors [0, released) are released
  alignas(kLineBytes) std::uint32_t bell;      // futex: low 32 bits of released
  std::uint32_t reserved0;
  alignas(kLineBytes) std::uint64_t waiting_since_ns;  // CLOCK_MONOTONIC; 0 while not waiting
  std::uint64_t wait_ns;                               // sum of all ended waits
  std::uint64_t batches;                               // given to the trainer
  std::uint64_t next_row;  // position of the next batch: row within next_epoch
  std::uint32_t next_epoch;
  std::uint32_t left_epoch;  // newest skip: from left to landed (layout 1.1)
  std::uint64_t left_row;
  std::uint64_t landed_row;
  std::uint32_t landed_epoch;
  std::uint32_t reserved1;
  // What a GPU did with the batches (layout 1.2); all zero without a GPU.
  alignas(kLineBytes) std::uint64_t device_batches;  // copied to the GPU
  std::uint64_t device_uses;                         // given to the trainer; under device echo more
  std::uint64_t device_bytes;                        // copied
  std::uint64_t device_copy_ns;                      // time of the copies on the GPU
  std::uint64_t device_wait_ns;  // time for which the trainer's streams waited for batches
  std::uint64_t reserved2[11];
  // What the trainer reported of its losses, by use (layout 1.3); all zero if it reports none. A
  // daemon with an earlier layout does not read them.
  alignas(kLineBytes) LossFigures losses;
};

// The device words of a cursor page.
struct DeviceFigures {
  std::uint64_t batches = 0;
  std::uint64_t uses = 0;
  std::uint64_t bytes = 0;
  std::uint64_t copy_ns = 0;
  std::uint64_t wait_ns = 0;
};

static_assert(sizeof(RingHeader) == 216 && std::is_trivially_copyable_v<RingHeader>);
static_assert(sizeof(FieldEntry) == 184 && std::is_trivially_copyable_v<FieldEntry>);
static_assert(sizeof(Descriptor) == 128 && std::is_trivially_copyable_v<Descriptor>);
static_assert(sizeof(WriterPage) == 384 && std::is_trivially_copyable_v<WriterPage>);
static_assert(sizeof(FactorLogEntry) == 48 && std::is_trivially_copyable_v<FactorLogEntry>);
static_assert(sizeof(FactorLog) == 3200 && std::is_trivially_copyable_v<FactorLog>);
static_assert(sizeof(WeightLogEntry) == 288 && std::is_trivially_copyable_v<WeightLogEntry>);
static_assert(sizeof(WeightLog) == 4736 && std::is_trivially_copyable_v<WeightLog>);
static_assert(sizeof(CursorPage) == 896 && std::is_trivially_copyable_v<CursorPage>);

}  // namespace echoline::shm
