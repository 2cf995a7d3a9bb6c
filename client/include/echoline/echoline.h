/* Echoline's client library: attach a trainer to the host's daemon and read batches in shared
 * memory.
 *
 * Handles are opaque. Every call returns a status number or a plain value; none throws, prints,
 * aborts or changes signal handlers. A structure with a `size` is filled by its caller with sizeof
 * before the call, so that later versions can add to its end. Times are milliseconds; negative: no
 * limit.
 *
 * Threads: unless a call says otherwise, any thread may call it at any time, also several at once;
 * a handle must not be used after its detach or release. Two threads in echoline_next get different
 * batches. After fork() the child's copies of handles are dead: every call on them returns
 * ECHOLINE_FORKED (or does nothing), their memory faults when touched, and the parent isn't
 * disturbed. */
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

/* Numbers never change. 1 to 12 are also what the daemon answers with. */
typedef enum echoline_status {
  ECHOLINE_OK = 0,
  ECHOLINE_INVALID_ARGUMENT = 1,
  ECHOLINE_NOT_FOUND = 2,
  ECHOLINE_ALREADY_EXISTS = 3,
  ECHOLINE_PERMISSION_DENIED = 4,
  ECHOLINE_FAILED_PRECONDITION = 5, /* a state of another data set, pipeline or seed */
  ECHOLINE_RESOURCE_EXHAUSTED = 6,
  ECHOLINE_UNAVAILABLE = 7,
  ECHOLINE_DEADLINE_EXCEEDED = 8,
  ECHOLINE_CANCELLED = 9,
  ECHOLINE_DATA_LOSS = 10,
  ECHOLINE_UNIMPLEMENTED = 11,
  ECHOLINE_INTERNAL = 12,
  ECHOLINE_END_OF_EPOCH = 100,    /* no error: the next call goes on with the next epoch */
  ECHOLINE_TIMEOUT = 101,         /* no error: nothing was ready in time, call again */
  ECHOLINE_LEASE_HELD = 102,      /* the trainer itself holds every slot: release or copy batches */
  ECHOLINE_DAEMON_GONE = 103,     /* and didn't come back within the reattach time */
  ECHOLINE_DETACHED = 104,        /* the daemon took this trainer off; the text says why */
  ECHOLINE_FORKED = 105,          /* the handle belongs to the parent process */
  ECHOLINE_VERSION_MISMATCH = 106 /* daemon and library don't speak the same layout or protocol */
} echoline_status;

/* Where a loader without a state begins. */
typedef enum echoline_join {
  ECHOLINE_JOIN_START = 1,   /* epoch 0, row 0 */
  ECHOLINE_JOIN_CURRENT = 2, /* where the running pass stands */
  ECHOLINE_JOIN_NEXT_EPOCH = 3
} echoline_join;

/* What becomes of an epoch's last rows, if they are fewer than a batch. */
typedef enum echoline_last {
  ECHOLINE_LAST_DROP = 1,
  ECHOLINE_LAST_PARTIAL = 2,
  ECHOLINE_LAST_PAD = 3
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

/* "major.minor.patch" of the library. */
ECHOLINE_API const char* echoline_version(void);
/* Layout of shared memory that the library reads; a daemon of another major is refused. */
ECHOLINE_API void echoline_layout_version(uint32_t* major, uint32_t* minor);
/* A status in words, for example "lease held". */
ECHOLINE_API const char* echoline_status_text(int status);
/* What went wrong in this thread's last call that returned an error: what, where and what to do.
 * Never NULL; valid until the thread's next call. */
ECHOLINE_API const char* echoline_last_error(void);
/* Name of a type as numpy has it; "" if there is no such type. */
ECHOLINE_API const char* echoline_dtype_name(uint32_t dtype);
ECHOLINE_API size_t echoline_dtype_bytes(uint32_t dtype);
/* The folder that a loader without runtime_dir looks in; returns the length, at most capacity - 1
 * are written. */
ECHOLINE_API size_t echoline_runtime_dir(char* buffer, size_t capacity);

/* ---- attach and detach ---- */

enum {
  /* echoline_attach returns at once; echoline_attach_wait tells the outcome. */
  ECHOLINE_ATTACH_ASYNC = 1,
  /* The trainer gives a batch back only after it has taken the next one (as a loop does whose
   * variable still names the batch before): a batch size for which the stream has too few slots is
   * refused at once. */
  ECHOLINE_ATTACH_OVERLAP = 2
};

typedef struct echoline_attach_options {
  size_t size; /* sizeof(echoline_attach_options) */
  const char* stream;
  const char* job;         /* NULL: "default" */
  const char* runtime_dir; /* NULL or "": ECHOLINE_RUNTIME_DIR, else the host's default */
  const char* state;       /* JSON of echoline_state, or NULL; overrides join */
  const char* expect;      /* fingerprint the stream must have, 32 hexadecimal digits, or NULL */
  uint32_t rank;
  uint32_t world_size; /* 0: 1 */
  uint32_t batch_size; /* of all ranks together; 0: the stream's */
  uint32_t join;       /* echoline_join; 0: start */
  int64_t attach_ms;   /* how long the daemon may take to answer; 0: 120 s; negative: no limit */
  /* How long a daemon that went away is waited for. 0: its loss is an error at once. */
  int64_t reattach_ms;
  uint32_t flags; /* ECHOLINE_ATTACH_* */
  /* Ranks of the job on this host, which its first batches are kept for; 0: not known, the daemon
   * waits up to 30 s for all of them. */
  uint32_t local_world_size;
} echoline_attach_options;

/* Fills in the defaults: job "default", rank 0 of 1, join start, attach 120 s, reattach 60 s. */
ECHOLINE_API void echoline_attach_options_init(echoline_attach_options* options, size_t size);

/* Attaches to a stream. The strings are copied. On failure *loader is NULL. */
ECHOLINE_API int echoline_attach(const echoline_attach_options* options, echoline_loader** loader);
/* After ECHOLINE_ATTACH_ASYNC: OK when attached, TIMEOUT: call again, else the error for good. */
ECHOLINE_API int echoline_attach_wait(echoline_loader* loader, int64_t timeout_ms);
/* Ends the attachment: waiting and later calls of echoline_next return ECHOLINE_CANCELLED, the
 * position and the facts can still be asked for. Batches that are out stay as for echoline_detach.
 */
ECHOLINE_API int echoline_close(echoline_loader* loader);
/* Ends the attachment and frees the loader; NULL is fine. Batches that are out stay valid until
 * they are released: what they show is copied aside. No other call on this loader may run or
 * follow. */
ECHOLINE_API void echoline_detach(echoline_loader* loader);

/* ---- what is attached ---- */

enum {
  ECHOLINE_STREAM_VARIABLE = 1,   /* the echo factor was changed: epochs differ in length */
  ECHOLINE_STREAM_BATCH_ECHO = 2, /* whole batches are repeated */
  ECHOLINE_STREAM_SEALED = 4      /* no process can map the memory writable */
};

typedef struct echoline_loader_info {
  size_t size;                /* sizeof(echoline_loader_info) */
  uint64_t rows_per_epoch;    /* of all ranks together, with the factor at the start */
  uint64_t records_per_epoch; /* distinct (fresh) ones */
  uint64_t steps_per_epoch;   /* batches; 0 if not known ahead */
  uint64_t row;               /* position: the next batch's first row in its epoch */
  uint64_t seed;
  uint32_t epoch;      /* position */
  uint32_t batch_size; /* of all ranks together */
  uint32_t rank;
  uint32_t world_size;
  uint32_t stream_batch_size; /* rows that the daemon publishes at once */
  uint32_t last;              /* echoline_last */
  uint32_t field_count;
  uint32_t flags;  /* ECHOLINE_STREAM_* */
  uint32_t factor; /* echo factor at the start, in thousandths */
  uint32_t plan_version;
  char fingerprint[ECHOLINE_FINGERPRINT_CHARS]; /* of data, order and values; hexadecimal,
                                                   terminated */
} echoline_loader_info;

ECHOLINE_API int echoline_loader_get_info(echoline_loader* loader, echoline_loader_info* info);
/* Exact number of batches of an epoch; FAILED_PRECONDITION with the reason where it isn't known
 * ahead. */
ECHOLINE_API int echoline_steps_per_epoch(echoline_loader* loader, uint64_t* steps);

typedef struct echoline_field {
  size_t size;      /* sizeof(echoline_field) */
  const char* name; /* valid while the loader is attached */
  uint32_t dtype;   /* echoline_dtype */
  uint32_t ragged;  /* 1: rows differ in length */
  uint32_t rank;    /* of one row, the batch dimension not counted */
  uint32_t reserved;
  uint64_t shape[ECHOLINE_RANK_MAX]; /* ragged: the most a row may have */
  uint64_t row_bytes;                /* ragged: the most */
  const void*
      arena; /* where the field's rows stand: [arena, arena + arena_bytes), twice in a row */
  uint64_t arena_bytes;
} echoline_field;

/* Field number `index`, below field_count. */
ECHOLINE_API int echoline_loader_get_field(echoline_loader* loader, uint32_t index,
                                           echoline_field* field);

/* ---- batches ---- */

/* The next batch of this rank. OK: *batch is to be released. END_OF_EPOCH, TIMEOUT: see there.
 * LEASE_HELD: at once, when nothing can come before a batch is released that this very thread took;
 * after 10 s, when another thread took it. While the daemon is away, waits for its return up to
 * reattach_ms. A ready batch takes well under a microsecond and no system call. */
ECHOLINE_API int echoline_next(echoline_loader* loader, int64_t timeout_ms, echoline_batch** batch);
/* Gives the batch's slot back: no pointer into it may be used from here on. NULL is fine. */
ECHOLINE_API void echoline_batch_release(echoline_batch* batch);

/* For a new loop over batches: if the current epoch was begun since the last call (or since
 * attaching), the rest of it is abandoned and the next epoch begins at row 0. All ranks must do the
 * same. */
ECHOLINE_API int echoline_begin_epoch(echoline_loader* loader);
/* Leaves out `steps` batches, across epochs where their length is known ahead, else up to the
 * epoch's end. */
ECHOLINE_API int echoline_skip(echoline_loader* loader, uint64_t steps);

enum {
  ECHOLINE_BATCH_LAST =
      1, /* the epoch's last batch of this job (set as far as known when it was returned) */
  ECHOLINE_BATCH_PADDED = 2, /* assembled in private memory; rows from valid_rows on are repeats */
  ECHOLINE_BATCH_COPIED = 4  /* a ragged field was put together in private memory */
};

typedef struct echoline_batch_info {
  size_t size;   /* sizeof(echoline_batch_info) */
  uint64_t step; /* of the epoch: row / batch_size */
  uint64_t row;  /* the epoch's row at which the batch (of all ranks) begins */
  uint32_t epoch;
  uint32_t rows;       /* of this rank */
  uint32_t valid_rows; /* the first valid_rows are real, the rest are repeats that fill up */
  uint32_t fresh;      /* valid rows with use 0 */
  uint32_t flags;      /* ECHOLINE_BATCH_* */
  uint32_t reserved;
} echoline_batch_info;

ECHOLINE_API int echoline_batch_get_info(const echoline_batch* batch, echoline_batch_info* info);

/* One field's rows of a batch, row-major, read-only: a write faults. Valid until the batch is
 * released. */
typedef struct echoline_tensor {
  size_t size; /* sizeof(echoline_tensor) */
  const void* data;
  const uint64_t*
      offsets; /* ragged: row i is bytes [offsets[i], offsets[i + 1]) from data; else NULL */
  const char* name;
  uint32_t dtype;                    /* echoline_dtype */
  uint32_t rank;                     /* with the batch dimension; ragged: 1 */
  uint64_t shape[ECHOLINE_RANK_MAX]; /* shape[0] is rows */
  uint64_t row_bytes;                /* from row to row; ragged: the most bytes of a row */
  uint64_t bytes;                    /* of all rows */
} echoline_tensor;

ECHOLINE_API int echoline_batch_get_tensor(const echoline_batch* batch, uint32_t index,
                                           echoline_tensor* tensor);
ECHOLINE_API int echoline_batch_find_tensor(const echoline_batch* batch, const char* name,
                                            echoline_tensor* tensor);
/* One value a row: the record's place in the index; its use in this epoch from 0; flags (1: a
 * repeat that fills up, 2: stands in for a bad record). NULL after fork. */
ECHOLINE_API const uint64_t* echoline_batch_sample_ids(const echoline_batch* batch);
ECHOLINE_API const uint32_t* echoline_batch_uses(const echoline_batch* batch);
ECHOLINE_API const uint32_t* echoline_batch_row_flags(const echoline_batch* batch);

/* ---- other trainers ---- */

/* What the daemon said about other trainers, for people to read: a rank of this job that died, left
 * in mid-epoch, did not come, or leaves out other batches than this one. The oldest text, each
 * once; NOT_FOUND if there is none. Cut off to capacity - 1 bytes. News are heard while
 * echoline_next runs; the last 16 are kept. */
ECHOLINE_API int echoline_take_news(echoline_loader* loader, char* buffer, size_t capacity);

/* ---- state ---- */

/* Position after the batches that echoline_next returned, as JSON: a loader attached with it goes
 * on with exactly the next batch, also with another world size or batch size. *length gets the
 * length without the terminating zero; RESOURCE_EXHAUSTED if it doesn't fit (nothing is written
 * then). */
ECHOLINE_API int echoline_state(echoline_loader* loader, char* buffer, size_t capacity,
                                size_t* length);

#ifdef __cplusplus
}
#endif

#endif /* ECHOLINE_ECHOLINE_H_ */
