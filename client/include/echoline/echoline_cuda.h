/* Batches on an NVIDIA GPU: copied from shared memory on a stream of their own, ahead of the
 * trainer, converted on the device, and given e times under device echo.
 *
 * The library finds the CUDA driver at run time (libcuda.so.1); without one these calls return
 * ECHOLINE_UNAVAILABLE and say why. Device memory, streams and events are of the device's primary
 * context, the one of the CUDA runtime, PyTorch and JAX. Streams are CUstream or cudaStream_t;
 * NULL is the legacy default stream; CU_STREAM_PER_THREAD, (void*)2, is refused. They must be of
 * the loader's device and live as long as the batches that were taken for them. A device that fails
 * ends in ECHOLINE_DATA_LOSS, memory that is not there in ECHOLINE_RESOURCE_EXHAUSTED, with the
 * driver's own error in echoline_last_error.
 *
 * Ordering: echoline_cuda_next makes the trainer's stream wait for the copy, the host does not
 * wait; a device buffer is written again only after the stream named at its release has passed that
 * point; the ring's slot is the daemon's again when the copy has ended. None of the calls may be
 * made on a stream that is being captured into a CUDA graph, or that is none of the device's
 * (ECHOLINE_INVALID_ARGUMENT); as a release has no status, there the loader ends with that error.
 * Captures on other streams are not disturbed, by calls or by the library's own threads. Threads
 * and sizes: as in echoline.h. */
#ifndef ECHOLINE_ECHOLINE_CUDA_H_
#define ECHOLINE_ECHOLINE_CUDA_H_

#include <echoline/echoline.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct echoline_cuda echoline_cuda;
typedef struct echoline_cuda_batch echoline_cuda_batch;

enum { ECHOLINE_CUDA_CHANNELS_MAX = 8 };

typedef enum echoline_cuda_layout {
  ECHOLINE_LAYOUT_AS_IS = 0, /* that of the stream */
  ECHOLINE_LAYOUT_CHW = 1, /* rows of [height, width, channels] become [channels, height, width] */
  ECHOLINE_LAYOUT_HWC = 2  /* channels last */
} echoline_cuda_layout;

/* What becomes of one field on the device. Fields that are not named are copied as they are, ragged
 * ones as values and offsets. */
typedef struct echoline_cuda_field {
  size_t size; /* sizeof(echoline_cuda_field) */
  const char* name;
  /* 0: the stream's. ECHOLINE_FLOAT32, _FLOAT16 or _BFLOAT16, of uint8 rows of [height, width,
   * channels], channels up to 8: (pixel / 255 - mean[c]) / std[c], as torchvision's Normalize. */
  uint32_t dtype;
  uint32_t layout; /* echoline_cuda_layout; AS_IS is HWC */
  /* 1: each use of a row is mirrored left to right or not, by even chances, drawn from seed,
   * epoch, sample and use: the same in every run. */
  uint32_t flip;
  /* 1: a ragged field becomes one tensor of [rows, the most elements of a row ...], rows filled up
   * with `fill`. */
  uint32_t padded;
  double fill; /* converted to the field's type */
  float mean[ECHOLINE_CUDA_CHANNELS_MAX];
  float std[ECHOLINE_CUDA_CHANNELS_MAX]; /* 0: 1 */
} echoline_cuda_field;

typedef struct echoline_cuda_options {
  size_t size;    /* sizeof(echoline_cuda_options) */
  int32_t device; /* ordinal as the CUDA driver counts */
  /* Batches on the device that are on their way, ready, or in the trainer's hands. 2 to 64. */
  uint32_t depth;
  /* Device echo: each batch is given so often, in turn among so many that are kept on the device
   * beside `depth`. Between two uses of a batch stand (window - 1) / (factor - 1) * factor others;
   * a window of 1 gives a batch its uses back to back. Both 1 to 1024. */
  uint32_t echo_factor; /* 0: 1 */
  uint32_t echo_window; /* 0: 1 */
  const echoline_cuda_field* fields;
  uint32_t field_count;
  uint32_t reserved;
} echoline_cuda_options;

/* Fills in the defaults: device 0, depth 3, no device echo, every field as it is. */
ECHOLINE_API void echoline_cuda_options_init(echoline_cuda_options* options, size_t size);
/* Defaults of a field: as it is, mean 0, std 1. */
ECHOLINE_API void echoline_cuda_field_init(echoline_cuda_field* field, size_t size);

/* Opens a device for an attached loader and begins to copy. The loader must outlive it, and until
 * echoline_cuda_close must not be asked for batches, positions or states by other calls than these;
 * facts, fields and news are still the loader's. Options are copied. One device a loader:
 * FAILED_PRECONDITION for a second one, and after a close that left something behind. */
ECHOLINE_API int echoline_cuda_open(echoline_loader* loader, const echoline_cuda_options* options,
                                    echoline_cuda** cuda);
/* Stops, waits for copies under way (10 s at most: what hangs in the driver is left behind), and
 * frees the device's memory once the batches that are out are released. NULL is fine. No other call
 * on it may run or follow, but for those on its batches. */
ECHOLINE_API void echoline_cuda_close(echoline_cuda* cuda);

/* How the ring's memory is read by the device. */
typedef enum echoline_cuda_path {
  ECHOLINE_PATH_READ_ONLY = 1, /* registered read-only: no copy by the CPU */
  ECHOLINE_PATH_WRITABLE = 2,  /* registered through a writable mapping of an unsealed stream */
  ECHOLINE_PATH_STAGED = 3     /* copied by the CPU into pinned memory first */
} echoline_cuda_path;

/* Counted since the device was opened. */
typedef struct echoline_cuda_stats {
  size_t size;           /* sizeof(echoline_cuda_stats) */
  uint64_t copied_bytes; /* from host to device */
  uint64_t copy_ns;      /* that copies took on the device */
  /* That the trainer's stream stood waiting for a batch, as the GPU saw it: of the uses that the
   * stream has passed; those that it is asked for while 64 before are ahead of it are left out. */
  uint64_t wait_ns;
  uint64_t span_ns;      /* from the first of them to the last; wait / span: stall */
  uint64_t batches;      /* copied */
  uint64_t uses;         /* given to the trainer; under device echo more than batches */
  uint64_t device_bytes; /* device memory that is held */
  uint64_t pinned_bytes; /* pinned memory that is held beside the ring */
  uint32_t path;         /* echoline_cuda_path */
  uint32_t reserved;
} echoline_cuda_stats;

ECHOLINE_API int echoline_cuda_get_stats(echoline_cuda* cuda, echoline_cuda_stats* stats);

/* The next batch, for work on `stream`. OK, END_OF_EPOCH, TIMEOUT, errors as echoline_next;
 * LEASE_HELD: the calling thread has taken a batch that must be released first, as every device
 * buffer is in the trainer's hands or kept by the echo, or as the next use of that very batch
 * mirrors other rows. Where another thread has, buffers are awaited for 10 s before that is said.
 */
ECHOLINE_API int echoline_cuda_next(echoline_cuda* cuda, void* stream, int64_t timeout_ms,
                                    echoline_cuda_batch** batch);
/* Makes another stream wait for the batch, as echoline_cuda_next does its own. Before the release
 * the stream named there must be made to wait for what the others do with the batch. */
ECHOLINE_API int echoline_cuda_batch_wait(const echoline_cuda_batch* batch, void* stream);
/* Gives the batch's buffer back once `stream` has passed all that was put on it so far. NULL batch:
 * nothing. */
ECHOLINE_API void echoline_cuda_release(echoline_cuda_batch* batch, void* stream);
/* As echoline_begin_epoch. Batches that are on the device but were not given are dropped.
 * DEADLINE_EXCEEDED: the driver holds up the library's own thread for 10 s; nothing has changed. */
ECHOLINE_API int echoline_cuda_begin_epoch(echoline_cuda* cuda);
/* As echoline_state; under device echo also the place in its order. A loader attached with it and
 * opened with the same echo goes on with exactly the next use. */
ECHOLINE_API int echoline_cuda_state(echoline_cuda* cuda, char* buffer, size_t capacity,
                                     size_t* length);

typedef struct echoline_cuda_tensor {
  size_t size;      /* sizeof(echoline_cuda_tensor) */
  uint64_t data;    /* CUdeviceptr */
  uint64_t offsets; /* ragged, not padded: rows + 1 uint64 on the device, of bytes; else 0 */
  const char* name; /* valid while the loader is attached */
  uint32_t dtype;   /* echoline_dtype */
  uint32_t rank;    /* with the batch dimension; ragged: 1, the values in a row */
  uint64_t shape[ECHOLINE_RANK_MAX + 1];
  uint64_t bytes;
} echoline_cuda_tensor;

/* Facts of the batch; `fresh` counts rows of which neither the stream nor the device gave a use
 * before. */
ECHOLINE_API int echoline_cuda_batch_get_info(const echoline_cuda_batch* batch,
                                              echoline_batch_info* info);
ECHOLINE_API int echoline_cuda_batch_get_tensor(const echoline_cuda_batch* batch, uint32_t index,
                                                echoline_cuda_tensor* tensor);
ECHOLINE_API int echoline_cuda_batch_find_tensor(const echoline_cuda_batch* batch, const char* name,
                                                 echoline_cuda_tensor* tensor);
/* One value a row, in host memory: as for echoline_batch; under device echo of factor e a use is
 * the stream's use times e, and the device's added. */
ECHOLINE_API const uint64_t* echoline_cuda_batch_sample_ids(const echoline_cuda_batch* batch);
ECHOLINE_API const uint32_t* echoline_cuda_batch_uses(const echoline_cuda_batch* batch);
ECHOLINE_API const uint32_t* echoline_cuda_batch_row_flags(const echoline_cuda_batch* batch);
ECHOLINE_API int echoline_cuda_batch_device(const echoline_cuda_batch* batch); /* ordinal */

#ifdef __cplusplus
}
#endif

#endif /* ECHOLINE_ECHOLINE_CUDA_H_ */
