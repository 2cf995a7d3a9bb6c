// The bytes of a ring: one memfd that the daemon writes and trainers map read-only. Fixed-width
// little-endian integers, offsets instead of pointers, no padding. docs/ring_format.md explains it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace echoline::shm {

inline constexpr std::uint64_t kRingMagic = 0x31474E4952484345;  // "ECHRING1"
inline constexpr std::uint32_t kLayoutMajor = 1;
inline constexpr std::uint32_t kLayoutMinor = 2;
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kLineBytes = 128;
inline constexpr std::size_t kFieldRankMax = 6;
inline constexpr std::size_t kFieldNameBytes = 64;
inline constexpr std::size_t kFingerprintBytes = 16;
inline constexpr std::size_t kFactorLogEntries = 64;

// Names of the per-row fields that every ring has beside the stream's own.
inline constexpr char kSampleIdField[] = "__sample_id__";  // uint64
inline constexpr char kUseField[] = "__use__";             // uint32
inline constexpr char kRowFlagsField[] = "__flags__";      // uint32 of RowFlag

enum RowFlag : std::uint32_t {
  kRowPadded = 1,    // a repeat that fills the batch; not to be counted
  kRowReplaced = 2,  // stands in for a bad record
};

enum DescriptorFlag : std::uint32_t {
  kEndOfEpoch = 1,  // the last batch of its epoch
};

enum LastBatchPolicy : std::uint32_t { kLastDrop = 1, kLastPartial = 2, kLastPad = 3 };

enum RingFlag : std::uint32_t {
  kRingSealed = 1,     // no writable mapping is possible
  kRingBatchEcho = 2,  // a descriptor may name a slot again; only the stream's own batch size
  kRingVariable = 4,   // the factor can change: rows per epoch are not known ahead
};

enum WriterState : std::uint32_t { kWriterRunning = 1, kWriterEnded = 2, kWriterFailed = 3 };

enum FieldKind : std::uint32_t {
  kFieldFixed = 1,  // one arena for all slots, to be mapped twice back to back
  kFieldRagged =
      2,  // per slot: values of row_bytes * batch_rows at most, and batch_rows + 1 offsets
};

// Where a part of the memfd stands; both are multiples of kPageBytes.
struct Section {
  std::uint64_t offset;
  std::uint64_t bytes;
};

// At offset 0. Written once, before the ring is handed to anyone.
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
  std::uint32_t descriptor_count;  // a power of two; descriptor s stands at s % descriptor_count
  std::uint32_t descriptors_live;  // at most this many are published and not released
  std::uint32_t last_batch;        // LastBatchPolicy
  std::uint32_t flags;             // RingFlag
  std::uint32_t plan_version;
  std::uint64_t rows_per_epoch;     // under batch echo: descriptors per epoch times batch_rows
  std::uint64_t records_per_epoch;  // fresh records
  std::uint8_t fingerprint[kFingerprintBytes];
  std::uint32_t factor;      // thousandths at the start
  std::uint32_t echo_point;  // plan::EchoPoint
  std::uint64_t seed;
  Section factor_log;  // FactorLog (layout 1.2)
  std::uint64_t reserved[6];
};

struct FieldEntry {
  char name[kFieldNameBytes];  // zero-terminated
  std::uint32_t dtype;         // DType
  std::uint32_t kind;          // FieldKind
  std::uint32_t rank;          // of one row, the batch dimension not counted
  std::uint32_t reserved0;
  std::uint32_t sizes[kFieldRankMax];
  std::uint64_t row_bytes;  // ragged: the most bytes of one row
  std::uint64_t
      arena_rows;   // fixed: slot_count * batch_rows; for where a row stands, see arena_position
  Section arena;    // ragged: slot_count runs of batch_rows * row_bytes
  Section offsets;  // ragged: slot_count runs of (batch_rows + 1) uint64, in bytes; else 0, 0
  std::uint64_t reserved[4];
};

// Where in its arena a row of a fixed field stands. Rows follow each other without gaps and wrap at
// the arena's end, in the middle of a row if need be: the arena is whole pages, and mapped twice
// back to back, so every run of rows up to the arena's size is contiguous from here.
constexpr std::uint64_t arena_position(std::uint64_t arena_bytes, std::uint64_t row_bytes,
                                       std::uint64_t arena_row) {
  return arena_row * row_bytes % arena_bytes;
}

// What is published: one batch of the stream's own grid.
struct Descriptor {
  std::uint64_t sequence;      // counts from 0 over the life of the ring
  std::uint64_t step;          // row / batch_rows of this epoch
  std::uint64_t row;           // the epoch's row number of the first row
  std::uint64_t arena_row;     // where its rows stand: batch_rows rows from here (see FieldEntry)
  std::uint64_t published_ns;  // CLOCK_MONOTONIC
  std::uint32_t epoch;
  std::uint32_t flags;  // DescriptorFlag
  std::uint32_t slot;   // for ragged fields: which run
  std::uint32_t
      valid_rows;  // the first valid_rows rows stand; fewer than batch_rows only at a tail
  std::uint32_t fresh_rows;  // rows with use 0
  std::uint32_t replaced_rows;
  std::uint32_t
      batch_use;  // under batch echo: which use of the slot this is; added to the rows' use words
  std::uint32_t reserved0;
  std::uint64_t reserved[7];
};

// Written by the daemon alone; one line a word that is watched.
struct WriterPage {
  alignas(kLineBytes) std::uint64_t published;  // descriptors [0, published) stand
  alignas(kLineBytes) std::uint32_t
      bell;  // futex: changes at every publish and change of state; the value means nothing
  std::uint32_t state;  // WriterState
  alignas(kLineBytes)
      std::uint32_t waiting;  // 1 while the writer sleeps for a release: wake the cursor's bell
  std::uint32_t reserved0[31];
};

// A change of the echo factor. `rows` and `rows_after` hold until a later entry says otherwise.
struct FactorLogEntry {
  std::uint64_t block;       // of `epoch`: from it on records are admitted with this factor
  std::uint64_t rows;        // of `epoch`
  std::uint64_t rows_after;  // of each epoch after it
  std::uint64_t since_row;   // positions from here on hold the entry in their states: a row of
  std::uint32_t since_epoch;
  std::uint32_t epoch;
  std::uint32_t factor;  // thousandths
  std::uint32_t reserved0;
};

// Written by the daemon alone (layout 1.2). Of the `count` entries made, the last
// kFactorLogEntries stand: entry n at n % kFactorLogEntries. Their epochs never go back.
struct FactorLog {
  alignas(kLineBytes) std::uint64_t count;
  alignas(kLineBytes) FactorLogEntry entries[kFactorLogEntries];
};

// One a consumer, in a memfd of its own: written by that consumer alone. Every value is a claim
// that the daemon checks.
struct CursorPage {
  alignas(kLineBytes) std::uint64_t released;  // descriptors [0, released) are done with
  alignas(kLineBytes) std::uint32_t bell;      // futex: low 32 bits of released
  std::uint32_t reserved0;
  alignas(kLineBytes) std::uint64_t waiting_since_ns;  // CLOCK_MONOTONIC; 0 while not waiting
  std::uint64_t wait_ns;                               // ended waits together
  std::uint64_t batches;                               // handed to the trainer
  std::uint64_t next_row;                              // epoch's row of the next batch
  std::uint32_t next_epoch;
  std::uint32_t left_epoch;  // what was last left out, from here to before landed (layout 1.1)
  std::uint64_t left_row;
  std::uint64_t landed_row;
  std::uint32_t landed_epoch;
  std::uint32_t reserved1;
  // What a trainer on a GPU did with its batches (layout 1.2); all zero without one.
  alignas(kLineBytes) std::uint64_t device_batches;  // copied to it
  std::uint64_t device_uses;                         // given out; under device echo more
  std::uint64_t device_bytes;                        // copied
  std::uint64_t device_copy_ns;                      // that the copies took there
  std::uint64_t device_wait_ns;                      // that its streams waited for batches
  std::uint64_t reserved2[11];
};

// The device's words of a cursor page together.
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
static_assert(sizeof(CursorPage) == 512 && std::is_trivially_copyable_v<CursorPage>);

}  // namespace echoline::shm
