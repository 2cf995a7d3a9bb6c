/* Echoline's client library: attaches a trainer to the daemon of its host and reads batches from
 * shared memory.
 *
 * Handles are opaque. Every call returns a status number or a plain value; none throws, prints,
 * aborts or changes signal handlers. A status other than ECHOLINE_OK leaves a text for
 * echoline_last_error. If a structure has a `size`, the caller sets it to sizeof of the structure
 * before the call; later versions may add members at the end. Times are milliseconds; negative
 * means no limit.
 *
 * Threads: any thread may make any call at any time, several threads also at the same time, unless
 * a call says otherwise. Do not use a handle after its detach or release. Two threads in
 * echoline_next get different batches.
 *
 * fork(): handles are not usable in the child. There every call on them returns ECHOLINE_FORKED or
 * does nothing, and access to their memory faults. The parent is not affected. */
#ifndef ECHOLINE_ECHOLINE_H_
#define ECHOLINE_ECHOLINE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ECHOLINE_API __attribute__((visibility("default")))
#else
#define ECHOLINE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ECHOLINE_VERSION_MAJOR 0
#define ECHOLINE_VERSION_MINOR 1
#define ECHOLINE_VERSION_PATCH 0

typedef struct echoline_loader echoline_loader;
typedef struct echoline_batch echoline_batch;

/* Numbers never change. The daemon uses 1 to 12, too. */
typedef enum echoline_status {
  ECHOLINE_OK = 0,
  ECHOLINE_INVALID_ARGUMENT = 1,
  ECHOLINE_NOT_FOUND = 2,
  ECHOLINE_ALREADY_EXISTS = 3,
  ECHOLINE_PERMISSION_DENIED = 4,
  ECHOLINE_FAILED_PRECONDITION = 5, /* the state is of another data set, pipeline or seed */
  ECHOLINE_RESOURCE_EXHAUSTED = 6,
  ECHOLINE_UNAVAILABLE = 7,
  ECHOLINE_DEADLINE_EXCEEDED = 8,
  ECHOLINE_CANCELLED = 9,
  ECHOLINE_DATA_LOSS = 10,
  ECHOLINE_UNIMPLEMENTED = 11,
  ECHOLINE_INTERNAL = 12,
  ECHOLINE_END_OF_EPOCH = 100,    /* no error: the next call continues with the next epoch */
  ECHOLINE_TIMEOUT = 101,         /* no error: nothing was ready in time; call again */
  ECHOLINE_LEASE_HELD = 102,      /* the trainer holds all slots: release or copy batches */
  ECHOLINE_DAEMON_GONE = 103,     /* the daemon did not come back within the reattach time */
  ECHOLINE_DETACHED = 104,        /* the daemon detached this trainer; the text says why */
  ECHOLINE_FORKED = 105,          /* the handle belongs to the parent process */
  ECHOLINE_VERSION_MISMATCH = 106 /* daemon and library use different layouts or protocols */
} echoline_status;

/* The position at which a loader without a state begins. */
typedef enum echoline_join {
  ECHOLINE_JOIN_START = 1,     /* epoch 0, row 0 */
  ECHOLINE_JOIN_CURRENT = 2,   /* the position of the pass that is running */
  ECHOLINE_JOIN_NEXT_EPOCH = 3 /* row 0 of the epoch after that position */
} echoline_join;

/* What happens to the last rows of an epoch if they are fewer than a batch. */
typedef enum echoline_last {
  ECHOLINE_LAST_DROP = 1,    /* they are left out */
  ECHOLINE_LAST_PARTIAL = 2, /* they form a shorter batch */
  ECHOLINE_LAST_PAD = 3      /* repeats fill them up to a full batch */
} echoline_last;

typedef enum echoline_dtype {
  ECHOLINE_UINT8 = 1,
  ECHOLINE_INT8 = 2,
  ECHOLINE_UINT16 = 3,
  ECHOLINE_INT16 = 4,
  ECHOLINE_UINT32 = 5,
  ECHOLINE_INT32 = 6,
  ECHOLINE_UINT64 = 7,
  ECHOLINE_INT64 = 8,
  ECHOLINE_FLOAT16 = 9,
  ECHOLINE_FLOAT32 = 10,
  ECHOLINE_FLOAT64 = 11,
  ECHOLINE_BFLOAT16 = 12
} echoline_dtype;

enum { ECHOLINE_RANK_MAX = 8, ECHOLINE_FINGERPRINT_CHARS = 33 };

/* ---- the library ---- */

/* "major.minor.patch" of the library; a static string. */
ECHOLINE_API const char* echoline_version(void);
/* The layout of shared memory that the library reads. A daemon with another major layout is
 * refused. Either pointer may be NULL. */
ECHOLINE_API void echoline_layout_version(uint32_t* major, uint32_t* minor);
/* A status in words, for example "lease held"; a static string. */
ECHOLINE_API const char* echoline_status_text(int status);
/* The text of the last error that a call returned in this thread: what failed, where, and what to
 * do. Never NULL; valid until the thread's next call. */
ECHOLINE_API const char* echoline_last_error(void);
/* The name of an echoline_dtype in numpy, for example "float32"; "" if there is no such type. */
ECHOLINE_API const char* echoline_dtype_name(uint32_t dtype);
/* Bytes of one element; 0 if there is no such type. */
ECHOLINE_API size_t echoline_dtype_bytes(uint32_t dtype);
/* The folder of the daemon's sockets for a loader without runtime_dir. Writes at most capacity - 1
 * bytes and a terminating zero. Returns the whole length. */
ECHOLINE_API size_t echoline_runtime_dir(char* buffer, size_t capacity);

/* ---- attach and detach ---- */

enum {
  /* echoline_attach returns at once; echoline_attach_wait returns the result. */
  ECHOLINE_ATTACH_ASYNC = 1,
  /* The trainer releases a batch only after it has the next one, as a loop does whose variable
   * still refers to the previous batch. Attaching fails if the stream has too few slots. */
  ECHOLINE_ATTACH_OVERLAP = 2
};

typedef struct echoline_attach_options {
  size_t size;             /* sizeof(echoline_attach_options) */
  const char* stream;      /* required; 1 to 127 bytes, as job */
  const char* job;         /* NULL: "default" */
  const char* runtime_dir; /* NULL or "": the environment's ECHOLINE_RUNTIME_DIR, else the
                              host's default */
  const char* state;       /* JSON from echoline_state, or NULL; overrides join */
  const char* expect;      /* the fingerprint that the stream must have, 32 hexadecimal digits;
                              or NULL */
  uint32_t rank;           /* of this trainer in its job, below world_size */
  uint32_t world_size;     /* number of ranks of the job; 0: 1 */
  uint32_t batch_size; /* rows of all ranks together, divisible by world_size; 0: the stream's */
  uint32_t join;       /* echoline_join; 0: start */
  /* How long the daemon may take to answer; 0: 120 s; negative: no limit. While the daemon is
   * opening the stream (it may have to index the data), it says so every second, and the wait goes
   * on as long as it does. */
  int64_t attach_ms;
  /* How long calls wait for a daemon that went away. 0: its loss is an error at once. */
  int64_t reattach_ms;
  uint32_t flags; /* ECHOLINE_ATTACH_* */
  /* Number of the job's ranks on this host: the daemon keeps the first batches until all of them
   * have attached. 0: not known; then it waits up to 30 s for more ranks. */
  uint32_t local_world_size;
} echoline_attach_options;

/* Sets `size` and the defaults: job "default", rank 0 of 1, join start, attach_ms 120 s,
 * reattach_ms 60 s. */
ECHOLINE_API void echoline_attach_options_init(echoline_attach_options* options, size_t size);

/* Attaches to a stream. The strings are copied. The caller owns *loader and ends it with
 * echoline_detach; on failure it is NULL. */
ECHOLINE_API int echoline_attach(const echoline_attach_options* options, echoline_loader** loader);
/* After ECHOLINE_ATTACH_ASYNC. OK: attached. TIMEOUT: call again; while the daemon is opening the
 * stream, echoline_last_error() says how far it is. Any other status is final. */
ECHOLINE_API int echoline_attach_wait(echoline_loader* loader, int64_t timeout_ms);
/* Ends the attachment. Waiting and later calls of echoline_next return ECHOLINE_CANCELLED. State
 * and info stay available. Batches that are not released stay valid, as with echoline_detach. */
ECHOLINE_API int echoline_close(echoline_loader* loader);
/* Ends the attachment and frees the loader; NULL is allowed. Batches that are not released stay
 * valid, with the same addresses: their rows are copied to private memory. No other call on this
 * loader may run at the same time or follow. */
ECHOLINE_API void echoline_detach(echoline_loader* loader);

/* ---- information about the stream ---- */

enum {
  ECHOLINE_STREAM_VARIABLE = 1,   /* the echo factor was changed or can change: epochs differ in
                                     length */
  ECHOLINE_STREAM_BATCH_ECHO = 2, /* whole batches are repeated */
  ECHOLINE_STREAM_SEALED = 4      /* no process can map the memory for writing */
};

typedef struct echoline_loader_info {
  size_t size;                /* sizeof(echoline_loader_info) */
  uint64_t rows_per_epoch;    /* of all ranks together, with the initial echo factor */
  uint64_t records_per_epoch; /* distinct (fresh) records */
  uint64_t steps_per_epoch;   /* batches of one epoch; 0 if epochs differ in length */
  uint64_t row;               /* position: first row of the next batch, within its epoch */
  uint64_t seed;
  uint32_t epoch;      /* position: epoch of the next batch */
  uint32_t batch_size; /* of all ranks together */
  uint32_t rank;
  uint32_t world_size;
  uint32_t stream_batch_size; /* rows of one batch as the daemon publishes it */
  uint32_t last;              /* echoline_last */
  uint32_t field_count;
  uint32_t flags;  /* ECHOLINE_STREAM_* */
  uint32_t factor; /* initial echo factor, in thousandths */
  uint32_t plan_version;
  char fingerprint[ECHOLINE_FINGERPRINT_CHARS]; /* of data, order and values; hexadecimal,
                                                   zero-terminated */
} echoline_loader_info;

ECHOLINE_API int echoline_loader_get_info(echoline_loader* loader, echoline_loader_info* info);
/* The exact number of batches of an epoch. FAILED_PRECONDITION if epochs differ in length. */
ECHOLINE_API int echoline_steps_per_epoch(echoline_loader* loader, uint64_t* steps);

typedef struct echoline_field {
  size_t size;      /* sizeof(echoline_field) */
  const char* name; /* valid while the loader is attached */
  uint32_t dtype;   /* echoline_dtype */
  uint32_t ragged;  /* 1: rows have different lengths */
  uint32_t rank;    /* number of dimensions of one row, without the batch dimension */
  uint32_t reserved;
  uint64_t shape[ECHOLINE_RANK_MAX]; /* of one row; ragged: shape[0] is the maximum */
  uint64_t row_bytes;                /* of one row; ragged: the maximum of a row */
  const void* arena; /* all rows of the field: [arena, arena + arena_bytes); a fixed field is mapped
                        a second time right after that */
  uint64_t arena_bytes;
} echoline_field;

/* Field number `index`. NOT_FOUND unless it is below field_count. */
ECHOLINE_API int echoline_loader_get_field(echoline_loader* loader, uint32_t index,
                                           echoline_field* field);

/* ---- batches ---- */

/* The next batch of this rank. While the daemon is away the call waits for its return, at most
 * reattach_ms. A ready batch takes less than a microsecond and no system call.
 * OK: the caller owns *batch and releases it. END_OF_EPOCH, TIMEOUT: no batch; see echoline_status.
 * LEASE_HELD: no batch can follow until one is released that this thread took; if another thread
 * took it, the call waits for 10 s first. Other errors are final. */
ECHOLINE_API int echoline_next(echoline_loader* loader, int64_t timeout_ms, echoline_batch** batch);
/* Releases the batch and its slots: no pointer into the batch is valid after that. NULL is allowed.
 * Any thread. */
ECHOLINE_API void echoline_batch_release(echoline_batch* batch);

/* Begins a new loop over batches. If the trainer got a batch of the current epoch since the last
 * call (or since attaching), the rest of that epoch is skipped and the next epoch begins at row 0.
 * All ranks must call it at the same step. */
ECHOLINE_API int echoline_begin_epoch(echoline_loader* loader);
/* Skips `steps` batches: across epochs if their lengths are known, else at most to the end of the
 * epoch. */
ECHOLINE_API int echoline_skip(echoline_loader* loader, uint64_t steps);

enum {
  ECHOLINE_BATCH_LAST = 1,   /* the last batch of the epoch, as far as known when it was returned */
  ECHOLINE_BATCH_PADDED = 2, /* copied to private memory; rows from valid_rows on are repeats */
  ECHOLINE_BATCH_COPIED = 4  /* a ragged field was copied to private memory */
};

typedef struct echoline_batch_info {
  size_t size;   /* sizeof(echoline_batch_info) */
  uint64_t step; /* within the epoch: row / batch_size */
  uint64_t row;  /* first row of the batch of all ranks, within the epoch */
  uint32_t epoch;
  uint32_t rows;       /* of this rank */
  uint32_t valid_rows; /* the rows from here on are repeats that fill up the batch */
  uint32_t fresh;      /* valid rows that are the first use of their record (use 0) */
  uint32_t flags;      /* ECHOLINE_BATCH_* */
  /* The largest length of the records of its bucket, the same on all ranks; 0: no buckets. */
  uint32_t bucket_length;
} echoline_batch_info;

ECHOLINE_API int echoline_batch_get_info(const echoline_batch* batch, echoline_batch_info* info);

/* The rows of one field of a batch, row-major. Read-only: a write faults. Valid until the batch is
 * released. */
typedef struct echoline_tensor {
  size_t size; /* sizeof(echoline_tensor) */
  const void* data;
  const uint64_t* offsets; /* ragged: row i is bytes [offsets[i], offsets[i + 1]) of data; else
                              NULL */
  const char* name;
  uint32_t dtype;                    /* echoline_dtype */
  uint32_t rank;                     /* number of dimensions with the batch dimension */
  uint64_t shape[ECHOLINE_RANK_MAX]; /* shape[0]: rows of this rank; ragged: without the dimension
                                        whose length differs: [rows, 4] for boxes [n, 4] */
  uint64_t row_bytes;                /* of one row; ragged: the maximum of a row */
  uint64_t bytes;                    /* of all rows */
} echoline_tensor;

ECHOLINE_API int echoline_batch_get_tensor(const echoline_batch* batch, uint32_t index,
                                           echoline_tensor* tensor);
ECHOLINE_API int echoline_batch_find_tensor(const echoline_batch* batch, const char* name,
                                            echoline_tensor* tensor);
/* Arrays with one value for each row, valid until the batch is released: the position of the record
 * in the index; which use of the record in this epoch the row is, from 0; flags (1: a repeat that
 * fills up the batch, 2: a replacement of a bad record). NULL after fork(). */
ECHOLINE_API const uint64_t* echoline_batch_sample_ids(const echoline_batch* batch);
ECHOLINE_API const uint32_t* echoline_batch_uses(const echoline_batch* batch);
ECHOLINE_API const uint32_t* echoline_batch_row_flags(const echoline_batch* batch);

/* ---- what a repeat is worth ---- */

/* Gives back the losses of rows, for the daemon's metrics: it sums them by use number and never
 * changes the order or the echo factor because of them. `uses`: of each row, as
 * echoline_batch_uses returned them; the batch may be released by now. Rows whose loss is not
 * finite are left out; *counted, unless NULL, has the number of the others. No system call. What is
 * reported while the daemon is away is lost; a daemon of an older release ignores it. */
ECHOLINE_API int echoline_report(echoline_loader* loader, const float* losses, const uint32_t* uses,
                                 size_t rows, size_t* counted);

/* ---- other trainers ---- */

/* Messages of the daemon about other ranks of this job, for people to read: a rank died, left in
 * the middle of an epoch, did not attach, or skips other batches than this one; and, every 10 s,
 * how far a stream is that is being opened. Returns the oldest message and removes it; NOT_FOUND if
 * there is none. Truncated to capacity - 1 bytes. Messages are received while echoline_next or
 * echoline_attach_wait runs; the newest 16 are kept. */
ECHOLINE_API int echoline_take_news(echoline_loader* loader, char* buffer, size_t capacity);

/* ---- state ---- */

/* The position after the batches that echoline_next returned, as JSON. A loader that is attached
 * with it continues with exactly the next batch; world size and batch size may differ. *length is
 * set to the length without the terminating zero. RESOURCE_EXHAUSTED: `capacity` is too small;
 * nothing is written to `buffer`. */
ECHOLINE_API int echoline_state(echoline_loader* loader, char* buffer, size_t capacity,
                                size_t* length);

#ifdef __cplusplus
}
#endif

#endif /* ECHOLINE_ECHOLINE_H_ */
