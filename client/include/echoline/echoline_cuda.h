/* Batches on an NVIDIA GPU. The library copies them from shared memory ahead of the trainer, on its
 * own stream, and converts them on the device. Under device echo it returns each batch several
 * times.
 *
 * Driver: the library finds the CUDA driver (libcuda.so.1) at run time. Without a driver these
 * calls return ECHOLINE_UNAVAILABLE and the reason. Device memory, streams and events belong to the
 * primary context of the device, which the CUDA runtime, PyTorch and JAX use, too.
 *
 * Streams are CUstream or cudaStream_t. NULL is the legacy default stream. CU_STREAM_PER_THREAD,
 * (void*)2, is refused. A stream must belong to the loader's device and must exist as long as the
 * batches that were taken for it. Calls on a stream of another device, or on a stream that is being
 * captured into a CUDA graph, return ECHOLINE_INVALID_ARGUMENT; a release has no status, so there
 * the loader ends with that error. Captures on other streams are not disturbed, neither by calls
 * nor by the library's threads.
 *
 * Order of work: echoline_cuda_next makes the trainer's stream wait for the copy; the host does not
 * wait. The library writes to a device buffer again only after the stream that was passed to its
 * release has reached that point. The slot of the ring is released when the copy has ended.
 *
 * Errors: a device that fails gives ECHOLINE_DATA_LOSS, missing memory gives
 * ECHOLINE_RESOURCE_EXHAUSTED; echoline_last_error contains the driver's error. Threads, sizes and
 * fork(): as in echoline.h. */
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
  ECHOLINE_LAYOUT_AS_IS = 0, /* the layout of the stream */
  ECHOLINE_LAYOUT_CHW = 1, /* rows of [height, width, channels] become [channels, height, width] */
  ECHOLINE_LAYOUT_HWC = 2  /* channels last */
} echoline_cuda_layout;

/* The conversion of one field on the device. Fields that are not named are copied unchanged, ragged
 * ones as values and offsets. */
typedef struct echoline_cuda_field {
  size_t size; /* sizeof(echoline_cuda_field) */
  const char* name;
  /* 0: the stream's type. ECHOLINE_FLOAT32, _FLOAT16 or _BFLOAT16: uint8 rows of [height, width,
   * channels], at most 8 channels, become (pixel / 255 - mean[c]) / std[c], as torchvision's
   * Normalize does. */
  uint32_t dtype;
  uint32_t layout; /* echoline_cuda_layout; AS_IS is HWC */
  /* 1: each use of a row is mirrored left to right with probability 1/2. The draw depends on seed,
   * epoch, sample and use only: it is the same in every run. */
  uint32_t flip;
  /* 1: a ragged field becomes one tensor of [rows, maximum shape of a row ...]; `fill` fills up
   * shorter rows. */
  uint32_t padded;
  double fill; /* is converted to the field's type */
  float mean[ECHOLINE_CUDA_CHANNELS_MAX];
  float std[ECHOLINE_CUDA_CHANNELS_MAX]; /* 0: 1 */
} echoline_cuda_field;

typedef struct echoline_cuda_options {
  size_t size;    /* sizeof(echoline_cuda_options) */
  int32_t device; /* ordinal in the CUDA driver's order */
  /* Batches on the device that are being copied, ready, or held by the trainer: 2 to 64. */
  uint32_t depth;
  /* Device echo: the trainer gets each batch echo_factor times. The device keeps echo_window
   * batches in addition to `depth` and alternates among them: between two uses of a batch there are
   * (window - 1) / (factor - 1) * factor others. With a window of 1 the uses of a batch follow each
   * other directly. Both 1 to 1024. */
  uint32_t echo_factor; /* 0: 1 */
  uint32_t echo_window; /* 0: 1 */
  const echoline_cuda_field* fields;
  uint32_t field_count;
  uint32_t reserved;
} echoline_cuda_options;

/* Sets `size` and the defaults: device 0, depth 3, no device echo, all fields unchanged. */
ECHOLINE_API void echoline_cuda_options_init(echoline_cuda_options* options, size_t size);
/* Sets `size` and the defaults of a field: unchanged, mean 0, std 1. */
ECHOLINE_API void echoline_cuda_field_init(echoline_cuda_field* field, size_t size);

/* Opens a device for an attached loader and begins to copy. The loader must outlive *cuda. Until
 * echoline_cuda_close, take batches, positions and states from the calls of this header only; info,
 * fields and news of the loader still work. Options are copied. The caller owns *cuda.
 * FAILED_PRECONDITION: the loader has an open device already, or an earlier one hung when it was
 * closed. */
ECHOLINE_API int echoline_cuda_open(echoline_loader* loader, const echoline_cuda_options* options,
                                    echoline_cuda** cuda);
/* Stops copying and waits for copies in flight, at most 10 s: work that hangs in the driver is
 * abandoned. Device memory is freed when all batches are released. NULL is allowed. No other call
 * on `cuda` may run at the same time or follow; calls on its batches may. */
ECHOLINE_API void echoline_cuda_close(echoline_cuda* cuda);

/* How the device reads the memory of the ring. */
typedef enum echoline_cuda_path {
  ECHOLINE_PATH_READ_ONLY = 1, /* registered read-only: no copy by the CPU */
  ECHOLINE_PATH_WRITABLE = 2,  /* registered through a writable mapping of an unsealed stream */
  ECHOLINE_PATH_STAGED = 3     /* copied by the CPU into pinned memory first */
} echoline_cuda_path;

/* All counts begin when the device is opened. */
typedef struct echoline_cuda_stats {
  size_t size;           /* sizeof(echoline_cuda_stats) */
  uint64_t copied_bytes; /* from host to device */
  uint64_t copy_ns;      /* time of the copies on the device */
  /* Time for which the trainer's stream waited for batches, measured on the GPU. It includes only
   * uses that the stream has reached. A use that is requested while 64 measurements are pending is
   * not measured. */
  uint64_t wait_ns;
  uint64_t span_ns;      /* from the first measured use to the last; stall = wait / span */
  uint64_t batches;      /* copied to the device */
  uint64_t uses;         /* returned to the trainer; under device echo more than batches */
  uint64_t device_bytes; /* device memory in use */
  uint64_t pinned_bytes; /* pinned host memory in use, without the ring */
  uint32_t path;         /* echoline_cuda_path */
  uint32_t reserved;
} echoline_cuda_stats;

ECHOLINE_API int echoline_cuda_get_stats(echoline_cuda* cuda, echoline_cuda_stats* stats);

/* The next batch, for work on `stream`. The caller owns *batch and releases it. Status as
 * echoline_next. LEASE_HELD: the calling thread holds a batch that must be released first, because
 * the trainer or device echo holds all device buffers, or because the next use of the same batch
 * mirrors other rows in place. If another thread holds it, the call waits for 10 s first. */
ECHOLINE_API int echoline_cuda_next(echoline_cuda* cuda, void* stream, int64_t timeout_ms,
                                    echoline_cuda_batch** batch);
/* Makes another stream wait until the batch is ready, as echoline_cuda_next does for its stream.
 * Before the release, make the stream of the release wait for the work of the others. */
ECHOLINE_API int echoline_cuda_batch_wait(const echoline_cuda_batch* batch, void* stream);
/* Releases the batch: its buffer is reused after `stream` has finished all work that is queued on
 * it now. A NULL batch is allowed. */
ECHOLINE_API void echoline_cuda_release(echoline_cuda_batch* batch, void* stream);
/* As echoline_begin_epoch. Batches that are on the device and were not returned are dropped.
 * DEADLINE_EXCEEDED: the library's copy thread was stuck in the driver for 10 s; nothing has
 * changed. */
ECHOLINE_API int echoline_cuda_begin_epoch(echoline_cuda* cuda);
/* As echoline_state; under device echo it includes the position in the order of uses. A loader that
 * is attached with it and opened with the same echo continues with exactly the next use. */
ECHOLINE_API int echoline_cuda_state(echoline_cuda* cuda, char* buffer, size_t capacity,
                                     size_t* length);

typedef struct echoline_cuda_tensor {
  size_t size;      /* sizeof(echoline_cuda_tensor) */
  uint64_t data;    /* CUdeviceptr */
  uint64_t offsets; /* ragged and not padded: CUdeviceptr of rows + 1 uint64, in bytes; else 0 */
  const char* name; /* valid while the loader is attached */
  uint32_t dtype;   /* echoline_dtype */
  uint32_t rank;    /* number of dimensions with the batch dimension; ragged: see shape */
  /* ragged: shape[0] has the elements of all rows together, the rest is the shape of an element */
  uint64_t shape[ECHOLINE_RANK_MAX + 1];
  uint64_t bytes;
} echoline_cuda_tensor;

/* `fresh` counts rows of which neither the stream nor the device echo returned a use before. */
ECHOLINE_API int echoline_cuda_batch_get_info(const echoline_cuda_batch* batch,
                                              echoline_batch_info* info);
ECHOLINE_API int echoline_cuda_batch_get_tensor(const echoline_cuda_batch* batch, uint32_t index,
                                                echoline_cuda_tensor* tensor);
ECHOLINE_API int echoline_cuda_batch_find_tensor(const echoline_cuda_batch* batch, const char* name,
                                                 echoline_cuda_tensor* tensor);
/* Arrays in host memory, as echoline_batch_sample_ids and the others. Under device echo with factor
 * e the use is: the stream's use * e + the device's use. */
ECHOLINE_API const uint64_t* echoline_cuda_batch_sample_ids(const echoline_cuda_batch* batch);
ECHOLINE_API const uint32_t* echoline_cuda_batch_uses(const echoline_cuda_batch* batch);
ECHOLINE_API const uint32_t* echoline_cuda_batch_row_flags(const echoline_cuda_batch* batch);
ECHOLINE_API int echoline_cuda_batch_device(const echoline_cuda_batch* batch); /* ordinal */

#ifdef __cplusplus
}
#endif

#endif /* ECHOLINE_ECHOLINE_CUDA_H_ */
