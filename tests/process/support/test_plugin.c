/* The plugin of plugin_step_test.py. Its misbehaviour depends on the sample's label; a file in the
 * folder TEST_MARKS says that it has happened already. */
#include <echoline/echoline_plugin.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TEST_VERSION
#define TEST_VERSION ECHOLINE_PLUGIN_VERSION
#endif
#ifndef TEST_ADDED
#define TEST_ADDED 0
#endif

#define BAD ECHOLINE_PLUGIN_BAD_SAMPLE
static const DLDataType kInt64 = {kDLInt, 64, 1}, kFloat32 = {kDLFloat, 32, 1},
                        kUint64 = {kDLUInt, 64, 1}, kUint8 = {kDLUInt, 8, 1};

static int add(const echoline_plugin_host* host, const char* name, DLDataType type, int axes,
               const int64_t* shape, int64_t longest) {
  const echoline_plugin_field field = {sizeof field, name, type, axes, shape, longest};
  return host->add_output(host, &field);
}

static int mark(const char* name) {
  char path[512];
  const char* folder = getenv("TEST_MARKS");
  snprintf(path, sizeof path, "%s/%s", folder == NULL ? "/nonexistent" : folder, name);
  const int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

static long setting(const echoline_plugin_request* request, const char* key) {
  const char* found = strstr(request->settings, key);
  return found == NULL ? 0 : strtol(found + strlen(key) + 2, NULL, 10);
}

/* ---- what all steps have ---- */

static int no_create(const echoline_plugin_host* host, const echoline_plugin_request* request,
                     void** instance) {
  (void)host, (void)request, (void)instance;
  return ECHOLINE_PLUGIN_OK;
}

static int copy_image(const echoline_plugin_host* host, const echoline_plugin_call* call,
                      uint8_t flip) {
  const DLTensor* in = &call->inputs[0];
  uint8_t* out = host->allocate(host, 0, in->ndim, in->shape);
  if (out == NULL) return BAD;
  for (int64_t i = 0; i < in->strides[0] * in->shape[0]; ++i)
    out[i] = ((const uint8_t*)in->data)[i] ^ (uint8_t)(flip + TEST_ADDED);
  return ECHOLINE_PLUGIN_OK;
}

static int64_t label_of(const echoline_plugin_call* call) {
  return *(const int64_t*)call->inputs[1].data;
}

/* ---- noise: one field of each kind ---- */

static int describe_noise(const echoline_plugin_host* host,
                          const echoline_plugin_request* request) {
  const int64_t six[] = {6}, any[] = {-1}, boxes[] = {-1, 4};
  const int status = host->add_output(host, request->inputs[0]);
  if (status != ECHOLINE_PLUGIN_OK) return status;
  add(host, "key", kUint64, 1, six, 0);
  add(host, "short", kInt64, 1, any, 100);
  add(host, "boxes", kFloat32, 2, boxes, 3);
  return add(host, "worker", kInt64, 0, NULL, 0);
}

static int create_noise(const echoline_plugin_host* host, const echoline_plugin_request* request,
                        void** instance) {
  int64_t* self = malloc(sizeof *self);
  if (self == NULL) return host->fail(host, ECHOLINE_PLUGIN_NO_MEMORY, "no memory");
  *self = setting(request, "worker") == 1 ? getpid() : 0;
  *instance = self;
  return ECHOLINE_PLUGIN_OK;
}

static int run_noise(const echoline_plugin_host* host, void* self,
                     const echoline_plugin_call* call) {
  const echoline_plugin_key* key = call->key;
  const uint64_t words[] = {key->seed, key->sample, key->epoch, key->use, key->step, key->random};
  const int64_t six[] = {6}, length[] = {label_of(call) % 5 * 20};
  const int64_t boxes[] = {label_of(call) % 3, 4};
  uint64_t* key_out = host->allocate(host, 1, 1, six);
  int64_t* numbers = host->allocate(host, 2, 1, length);
  float* corners = host->allocate(host, 3, 2, boxes);
  int64_t* worker = host->allocate(host, 4, 0, NULL);
  if (key_out == NULL || numbers == NULL || corners == NULL || worker == NULL) return BAD;
  memcpy(key_out, words, sizeof words);
  for (int64_t i = 0; i < length[0]; ++i) numbers[i] = -i;
  for (int64_t i = 0; i < 4 * boxes[0]; ++i) corners[i] = (float)i;
  *worker = *(const int64_t*)self;
  return copy_image(host, call, (uint8_t)key->random);
}

static void destroy_noise(void* self) {
  char name[64];
  snprintf(name, sizeof name, "destroyed-%d", (int)getpid());
  mark(name);
  free(self);
}

/* ---- same: all fields as they are ---- */

static int describe_same(const echoline_plugin_host* host, const echoline_plugin_request* request) {
  int status = ECHOLINE_PLUGIN_OK;
  for (size_t i = 0; i < request->input_count && status == ECHOLINE_PLUGIN_OK; ++i)
    status = host->add_output(host, request->inputs[i]);
  return status;
}

static int run_same(const echoline_plugin_host* host, void* self,
                    const echoline_plugin_call* call) {
  (void)self;
  int status = ECHOLINE_PLUGIN_OK;
  for (size_t i = 0; i < call->input_count && status == ECHOLINE_PLUGIN_OK; ++i)
    status = host->return_input(host, i, i);
  return status;
}

/* ---- halves: pictures of different sizes ---- */

static int describe_halves(const echoline_plugin_host* host,
                           const echoline_plugin_request* request) {
  const int64_t picture[] = {-1, -1, 3};
  (void)request;
  return add(host, "image", kUint8, 3, picture, 0);
}

static int run_halves(const echoline_plugin_host* host, void* self,
                      const echoline_plugin_call* call) {
  (void)self;
  const DLTensor* in = &call->inputs[0];
  const int64_t shape[] = {8 + label_of(call) % 8, in->shape[1], in->shape[2]};
  uint8_t* out = host->allocate(host, 0, 3, shape);
  if (out == NULL) return BAD;
  memcpy(out, in->data, (size_t)(shape[0] * in->strides[0]));
  return ECHOLINE_PLUGIN_OK;
}

/* ---- storm: each fault of a process once, and lasting mistakes ---- */

static int describe_image(const echoline_plugin_host* host,
                          const echoline_plugin_request* request) {
  return host->add_output(host, request->inputs[0]);
}

static void crash_here(void) { *(volatile int*)(uintptr_t)8 = 1; }

static int do_fault(const echoline_plugin_host* host, const echoline_plugin_call* call,
                    int64_t fault) {
  if (fault == 0) crash_here();
  if (fault == 1) abort();
  if (fault == 2) sleep(3600);
  if (fault == 3) raise(SIGKILL);
  if (fault == 4) _exit(3);
  if (fault == 5) return host->fail(host, ECHOLINE_PLUGIN_BROKEN, "the decoder has lost its state");
  if (fault == 6) ((uint8_t*)call->inputs[0].data)[0] = 1; /* is read-only */
  if (write(3, "a message that is no reply", 26) < 0) return BAD;
  sleep(3600); /* until it is killed for that: no other sample's fault happens in this process */
  return ECHOLINE_PLUGIN_OK;
}

static int do_mistake(const echoline_plugin_host* host, const echoline_plugin_call* call,
                      int64_t mistake) {
  const int64_t small[] = {3, 4, 3};
  const int64_t* shape = call->inputs[0].shape;
  if (mistake == 0) return host->fail(host, BAD, "there is\nno such label");
  if (mistake == 1) return host->allocate(host, 0, 3, small) == NULL ? BAD : ECHOLINE_PLUGIN_OK;
  if (mistake == 2) return ECHOLINE_PLUGIN_OK;
  if (mistake == 3) return 77;
  host->allocate(host, 0, 3, shape);
  host->allocate(host, 0, 3, shape);
  return ECHOLINE_PLUGIN_OK;
}

static int run_storm(const echoline_plugin_host* host, void* self,
                     const echoline_plugin_call* call) {
  (void)self;
  char name[64];
  const int64_t label = label_of(call);
  snprintf(name, sizeof name, "fault-%d", (int)label);
  if (label % 3 == 0 && mark(name)) {
    printf("about to do fault %d\n", (int)(label / 3 % 8));
    return do_fault(host, call, label / 3 % 8);
  }
  if (label % 7 == 1) return do_mistake(host, call, label / 7 % 5);
  return copy_image(host, call, (uint8_t)call->key->random);
}

/* ---- counts: another result in each call ---- */

static int run_counts(const echoline_plugin_host* host, void* self,
                      const echoline_plugin_call* call) {
  static uint8_t calls = 0;
  (void)self;
  return copy_image(host, call, ++calls);
}

/* ---- steps that cannot be used ---- */

static int describe_refuses(const echoline_plugin_host* host,
                            const echoline_plugin_request* request) {
  char text[256];
  snprintf(text, sizeof text, "the settings %s are not for me", request->settings);
  return host->fail(host, ECHOLINE_PLUGIN_BAD_SETTINGS, text);
}

static int describe_nothing(const echoline_plugin_host* host,
                            const echoline_plugin_request* request) {
  (void)host, (void)request;
  return ECHOLINE_PLUGIN_OK;
}

static int describe_endless(const echoline_plugin_host* host,
                            const echoline_plugin_request* request) {
  const int64_t any[] = {-1, 7};
  (void)request;
  return add(host, "rows", kFloat32, 2, any, 0);
}

static int describe_large(const echoline_plugin_host* host,
                          const echoline_plugin_request* request) {
  const int64_t large[] = {1 << 20, 1 << 20};
  (void)request;
  return add(host, "rows", kFloat32, 2, large, 0);
}

static int describe_changing(const echoline_plugin_host* host,
                             const echoline_plugin_request* request) {
  (void)request;
  return add(host, mark("described") ? "first" : "second", kInt64, 0, NULL, 0);
}

static int create_crash(const echoline_plugin_host* host, const echoline_plugin_request* request,
                        void** instance) {
  (void)host, (void)request, (void)instance;
  crash_here();
  return ECHOLINE_PLUGIN_OK;
}

#define STEP(name, describe, create, run, destroy)  \
  static const echoline_plugin_step step_##name = { \
      sizeof(echoline_plugin_step), #name, describe, create, run, destroy};
STEP(noise, describe_noise, create_noise, run_noise, destroy_noise)
STEP(same, describe_same, no_create, run_same, NULL)
STEP(halves, describe_halves, no_create, run_halves, NULL)
STEP(storm, describe_image, no_create, run_storm, NULL)
STEP(counts, describe_image, no_create, run_counts, NULL)
STEP(refuses, describe_refuses, no_create, run_same, NULL)
STEP(nothing, describe_nothing, no_create, run_same, NULL)
STEP(endless, describe_endless, no_create, run_same, NULL)
STEP(large, describe_large, no_create, run_same, NULL)
STEP(changing, describe_changing, no_create, run_same, NULL)
STEP(crashes, describe_image, create_crash, run_same, NULL)
STEP(unfinished, describe_image, no_create, NULL, NULL)

static const echoline_plugin_step* const steps[] = {
    &step_noise,   &step_same,    &step_halves, &step_storm,    &step_counts,  &step_refuses,
    &step_nothing, &step_endless, &step_large,  &step_changing, &step_crashes, &step_unfinished};
static const echoline_plugin plugin = {sizeof plugin, TEST_VERSION, "test plugin 3",
                                       sizeof steps / sizeof steps[0], steps};

ECHOLINE_PLUGIN_EXPORT const echoline_plugin* echoline_plugin_get(void) { return &plugin; }
