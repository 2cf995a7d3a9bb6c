/* Steps of a pipeline in a shared library: what an Echoline plugin exports, and what it may call.
 *
 * The library exports echoline_plugin_get(). A worker process of the daemon loads it and uses one
 * step of it: describe() and create() once, run() for one sample after the other, destroy() at the
 * end. All calls come from one thread, one at a time. Call the host's functions only from that
 * thread, before the call returns.
 *
 * Structures begin with their `size`. Set it to sizeof of the structure, as this header
 * has it, in each one that you fill; later headers of the same version only add members at the end.
 * Texts are UTF-8 and end with a zero. No C++ exception may leave a function of the plugin. */
#ifndef ECHOLINE_ECHOLINE_PLUGIN_H_
#define ECHOLINE_ECHOLINE_PLUGIN_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ECHOLINE_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define ECHOLINE_PLUGIN_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A plugin runs only with a host of the same version. */
#define ECHOLINE_PLUGIN_VERSION 1u
/* The largest number of axes of a tensor. */
#define ECHOLINE_PLUGIN_AXES_MAX 6
/* A size in the shape of a field that differs from sample to sample. */
#define ECHOLINE_PLUGIN_ANY_SIZE (-1)

/* What functions of the plugin return. Numbers never change. */
enum {
  ECHOLINE_PLUGIN_OK = 0,
  ECHOLINE_PLUGIN_BAD_SAMPLE = 1,   /* run: the sample has no result, it is a bad record */
  ECHOLINE_PLUGIN_BAD_SETTINGS = 2, /* describe, create: settings or inputs are wrong */
  ECHOLINE_PLUGIN_NO_MEMORY = 3,    /* as BAD_SAMPLE, or as BAD_SETTINGS */
  ECHOLINE_PLUGIN_BROKEN = 4        /* run: the instance is of no use any more. The process is
                                     * replaced, and the sample is tried once more */
};

/* A field of the samples. A size that differs from sample to sample is ECHOLINE_PLUGIN_ANY_SIZE.
 *
 * Inputs can have any such sizes. Outputs are one of: all sizes fixed; [ANY, ...] with max_length,
 * for rows of different lengths; uint8 [ANY, ANY, 1 or 3], a picture. */
typedef struct echoline_plugin_field {
  size_t size;
  const char* name;
  DLDataType dtype; /* lanes: 1 */
  int32_t axis_count;
  const int64_t* shape;
  int64_t max_length; /* the largest first size, if it differs and has a limit; else 0 */
} echoline_plugin_field;

/* What a step is configured with. */
typedef struct echoline_plugin_request {
  size_t size;
  const char* settings; /* the key `settings` of the step, as a JSON object */
  size_t input_count;
  const echoline_plugin_field* const* inputs;
} echoline_plugin_request;

/* What random draws of one sample may depend on: the same key has to give the same result, in any
 * process. `random` is 64 random bits from all other members, for the seed of a generator. */
typedef struct echoline_plugin_key {
  size_t size;
  uint64_t seed;   /* of the stream */
  uint64_t sample; /* the number of the record */
  uint32_t epoch;
  uint32_t use;  /* of this record in this epoch */
  uint32_t step; /* the number of the step */
  uint64_t random;
} echoline_plugin_key;

/* One sample. The inputs, in the order of the request, are compact and row-major, on the CPU,
 * aligned to 64 bytes, and read-only: a write ends the process. They are valid until run returns.
 */
typedef struct echoline_plugin_call {
  size_t size;
  const echoline_plugin_key* key;
  size_t input_count;
  const DLTensor* inputs;
} echoline_plugin_call;

/* The functions of the host. Their first argument is the host itself. */
typedef struct echoline_plugin_host echoline_plugin_host;
struct echoline_plugin_host {
  size_t size;
  /* In any function: keeps the text for the log and returns `status`, as in
   *   return host->fail(host, ECHOLINE_PLUGIN_BAD_SAMPLE, "the label is negative"); */
  int (*fail)(const echoline_plugin_host* host, int status, const char* text);
  /* In describe: the step returns this field, which is copied. One with the name of a field of the
   * samples replaces it. Returns ECHOLINE_PLUGIN_OK, or the status for describe to return. */
  int (*add_output)(const echoline_plugin_host* host, const echoline_plugin_field* field);
  /* In run: memory of the output with this number, in the order of add_output, for an array of this
   * shape. The plugin writes it, compact and row-major; it is not cleared before. NULL if the shape
   * is not the described one or memory is short: return ECHOLINE_PLUGIN_BAD_SAMPLE then; the host
   * knows the reason. */
  void* (*allocate)(const echoline_plugin_host* host, size_t output, int32_t axis_count,
                    const int64_t* shape);
  /* In run, instead of allocate: the output is the input with this number, which has the same name.
   * That costs no copy. */
  int (*return_input)(const echoline_plugin_host* host, size_t output, size_t input);
};

/* One step. All functions but destroy are given by each step. */
typedef struct echoline_plugin_step {
  size_t size;
  const char* name; /* `step` in the configuration */
  /* Checks the request and calls add_output for each field that run makes: at least one. Has to
   * give the same outputs each time. Is also called without create. */
  int (*describe)(const echoline_plugin_host* host, const echoline_plugin_request* request);
  /* Makes what run needs. *instance may stay NULL. */
  int (*create)(const echoline_plugin_host* host, const echoline_plugin_request* request,
                void** instance);
  /* Makes all outputs of one sample, each with allocate or return_input. */
  int (*run)(const echoline_plugin_host* host, void* instance, const echoline_plugin_call* call);
  /* NULL, or: frees the instance when the stream ends. A process that is killed does not call it.
   * It has half a second. */
  void (*destroy)(void* instance);
} echoline_plugin_step;

typedef struct echoline_plugin {
  size_t size;
  uint32_t version;  /* ECHOLINE_PLUGIN_VERSION */
  const char* about; /* NULL, or name and version of the library, which `echoline check` shows */
  size_t step_count;
  const echoline_plugin_step* const* steps;
} echoline_plugin;

/* The library exports this function. What it returns stays valid and the same. */
ECHOLINE_PLUGIN_EXPORT const echoline_plugin* echoline_plugin_get(void);

#ifdef __cplusplus
}
#endif

#endif /* ECHOLINE_ECHOLINE_PLUGIN_H_ */
