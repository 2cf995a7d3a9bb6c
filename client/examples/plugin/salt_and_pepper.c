/* A plugin with the step `salt_and_pepper`: sets random pixels of a picture to black or white, and
 * adds their number as the field `changed`.
 *
 *   - plugin: {library: libsalt_and_pepper.so, step: salt_and_pepper, fields: [image],
 *              settings: {share: 0.05}} */
#include <echoline/echoline_plugin.h>
#include <stdlib.h>
#include <string.h>

typedef struct instance {
  uint64_t threshold; /* a pixel changes if 32 random bits are below it */
} instance;

/* The number after "share": in the settings, which Echoline writes as JSON without spaces. A plugin
 * with more settings takes a JSON library. */
static int read_share(const char* settings, double* share) {
  static const char key[] = "{\"share\":";
  *share = 0.05;
  if (strcmp(settings, "{}") == 0) return 1;
  if (strncmp(settings, key, sizeof key - 1) != 0) return 0;
  char* end = NULL;
  *share = strtod(settings + sizeof key - 1, &end);
  return strcmp(end, "}") == 0 && *share >= 0 && *share <= 1;
}

static int describe(const echoline_plugin_host* host, const echoline_plugin_request* request) {
  double share;
  if (!read_share(request->settings, &share))
    return host->fail(host, ECHOLINE_PLUGIN_BAD_SETTINGS,
                      "settings: only `share` is known, a number from 0 to 1");
  if (request->input_count != 1)
    return host->fail(host, ECHOLINE_PLUGIN_BAD_SETTINGS, "fields: name one picture");
  const echoline_plugin_field* picture = request->inputs[0];
  if (picture->dtype.code != kDLUInt || picture->dtype.bits != 8 || picture->axis_count != 3)
    return host->fail(host, ECHOLINE_PLUGIN_BAD_SETTINGS,
                      "fields: not a picture, uint8 [height, width, channels]");
  /* The picture has the type that it had before. */
  const int status = host->add_output(host, picture);
  if (status != ECHOLINE_PLUGIN_OK) return status;
  const echoline_plugin_field changed = {
      .size = sizeof changed, .name = "changed", .dtype = {.code = kDLInt, .bits = 64, .lanes = 1}};
  return host->add_output(host, &changed);
}

static int create(const echoline_plugin_host* host, const echoline_plugin_request* request,
                  void** made) {
  double share;
  instance* self = malloc(sizeof *self);
  if (self == NULL) return host->fail(host, ECHOLINE_PLUGIN_NO_MEMORY, NULL);
  read_share(request->settings, &share);
  self->threshold = (uint64_t)(share * 4294967296.0);
  *made = self;
  return ECHOLINE_PLUGIN_OK;
}

/* SplitMix64: any generator will do, as long as it is seeded from the key and nothing else. */
static uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int run(const echoline_plugin_host* host, void* made, const echoline_plugin_call* call) {
  const instance* self = made;
  const DLTensor* in = &call->inputs[0];
  uint8_t* out = host->allocate(host, 0, in->ndim, in->shape);
  int64_t* changed = host->allocate(host, 1, 0, NULL);
  if (out == NULL || changed == NULL) return ECHOLINE_PLUGIN_BAD_SAMPLE;
  const size_t channels = (size_t)in->shape[2];
  const size_t pixels = (size_t)in->shape[0] * (size_t)in->shape[1];
  memcpy(out, in->data, pixels * channels);
  uint64_t state = call->key->random;
  *changed = 0;
  for (size_t i = 0; i < pixels; ++i) {
    const uint64_t random = next_random(&state);
    if ((random & 0xffffffffu) >= self->threshold) continue;
    memset(out + i * channels, random >> 63 ? 255 : 0, channels);
    ++*changed;
  }
  return ECHOLINE_PLUGIN_OK;
}

static const echoline_plugin_step step = {.size = sizeof step,
                                          .name = "salt_and_pepper",
                                          .describe = describe,
                                          .create = create,
                                          .run = run,
                                          .destroy = free};
static const echoline_plugin_step* const steps[] = {&step};
static const echoline_plugin plugin = {.size = sizeof plugin,
                                       .version = ECHOLINE_PLUGIN_VERSION,
                                       .about = "salt_and_pepper 1.0",
                                       .step_count = 1,
                                       .steps = steps};

ECHOLINE_PLUGIN_EXPORT const echoline_plugin* echoline_plugin_get(void) { return &plugin; }
