// The exact error line for each kind of mistake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"

namespace echoline::config {
namespace {

constexpr std::string_view kSteps =
    "read, mix, cache, shuffle, decode, prepare, echo, resize, center_crop, random_resized_crop, "
    "multi_crop, random_crop, horizontal_flip, cutout, color_jitter, letterbox, random_iou_crop, "
    "photometric_distort, sanitize_boxes, rand_augment, trivial_augment_wide, auto_augment, "
    "random_erasing, gaussian_blur, grayscale, solarize, posterize, invert, equalize, "
    "autocontrast, adjust_sharpness, normalize, pad, audio_crop, audio_gain, audio_noise, "
    "log_mel, mfcc, spec_augment, python, plugin, batch, publish";

// A stream whose pipeline has these lines between `read` and `batch`.
std::string with_steps(const std::string& steps) {
  return "streams:\n  train:\n    pipeline:\n      - read: {url: /data/a.tar}\n" + steps +
         "      - batch: {size: 8}\n";
}

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto config = parse_config(text, "t.yaml", overrides);
  return config.ok() ? "accepted" : config.status().message();
}

struct Mistake {
  const char* name;
  std::string text;
  std::string error;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

class ConfigErrors : public ::testing::TestWithParam<Mistake> {};

TEST_P(ConfigErrors, IsOneLineWithPlaceKeyAndRemedy) {
  EXPECT_EQ(error_of(GetParam().text), GetParam().error);
}

// A stream with these settings of `read`, on one line.
std::string python_set(const std::string& read) {
  return "streams: {a: {pipeline: [{read: " + read + "}, {batch: {size: 2}}]}}\n";
}

const char kDecode[] =
    "      - decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}\n";

const std::vector<Mistake> kMistakes = {
    {"unknown_step", with_steps("      - shufle: {window: 10}\n"),
     "t.yaml:5:9: key 'shufle': unknown; allowed: " + std::string(kSteps) +
         "; did you mean 'shuffle'?"},
    {"empty_split",
     "streams:\n  a:\n    pipeline:\n      - read: {url: x, split: {from: 0.9, to: 80%}}\n" +
         std::string(kDecode) + "      - batch: {size: 8}\n",
     "t.yaml:4:47: key 'to': 0.8 is not more than from, 0.9; the part would be empty"},
    {"unknown_top_key", "demon: {workers: 2}\n",
     "t.yaml:1:1: key 'demon': unknown; allowed: daemon, streams; did you mean 'daemon'?"},
    {"unknown_daemon_key", "daemon:\n  worker: 2\n",
     "t.yaml:2:3: key 'worker': unknown; allowed: runtime_dir, metrics, state_dir, memory, "
     "workers, seek_index, reattach_grace, stall_report, control, serve, etcd, exit_when_idle; did "
     "you "
     "mean "
     "'workers'?"},
    {"nothing_near", "daemon:\n  colour: 2\n",
     "t.yaml:2:3: key 'colour': unknown; allowed: runtime_dir, metrics, state_dir, memory, "
     "workers, seek_index, reattach_grace, stall_report, control, serve, etcd, exit_when_idle"},
    {"out_of_range", "daemon: {workers: 5000}\n",
     "t.yaml:1:19: key 'workers': 5000 is out of range; allowed: 1 to 1024, or auto"},
    {"zero_workers", "daemon: {workers: 0}\n",
     "t.yaml:1:19: key 'workers': 0 is out of range; allowed: 1 to 1024, or auto"},
    {"size_without_unit", "daemon:\n  memory: 12Gib\n",
     "t.yaml:2:11: key 'memory': '12Gib' is not a size such as 512MiB or 2GB (units: B, KB, MB, "
     "GB, TB, KiB, MiB, GiB, TiB)"},
    {"size_too_small", "daemon:\n  memory: 12KiB\n",
     "t.yaml:2:11: key 'memory': 12KiB is out of range; allowed: 1MiB or more"},
    {"list_for_scalar", "daemon:\n  workers: [1, 2]\n",
     "t.yaml:2:12: key 'workers': a list where a single value is wanted"},
    {"scalar_for_mapping", "daemon: 5\n",
     "t.yaml:1:9: key 'daemon': '5' where a mapping is wanted; its keys: runtime_dir, metrics, "
     "state_dir, memory, workers, seek_index, reattach_grace, stall_report, control, serve, etcd, "
     "exit_when_idle"},
    {"list_at_the_top", "- daemon\n", "t.yaml:1:1: a list where 'key: value' is wanted"},
    {"metrics_address", "daemon: {metrics: localhost}\n",
     "t.yaml:1:19: key 'metrics': 'localhost' is no address; allowed: host:port, as "
     "127.0.0.1:9464, auto, or off"},
    {"duplicate_key", "daemon:\n  workers: 2\n  workers: 3\n",
     "t.yaml:3:3: key 'workers': is given twice; first at t.yaml:2:3; remove one"},
    {"empty_file", "",
     "t.yaml:1:1: nothing in it; a configuration has the keys daemon and streams"},
    {"only_comments", "# nothing\n",
     "t.yaml:1:1: nothing in it; a configuration has the keys daemon and streams"},
    {"tab", "daemon:\n\tworkers: 2\n",
     "t.yaml:2:1: a tab in the indentation; YAML allows only spaces there"},
    {"tab_after_spaces", "daemon:\n  workers: 2\n \tmemory: 2GiB\n",
     "t.yaml:3:2: a tab in the indentation; YAML allows only spaces there"},
    {"home", "daemon: {state_dir: ~/echoline}\n",
     "t.yaml:1:21: key 'state_dir': '~/echoline': '~' is not expanded; write the path in full"},
    {"broken_yaml", "daemon: {workers: 2\n",
     "t.yaml:1:9: not readable as YAML: '{' is not closed; write '}' after its last value; the "
     "line: daemon: {workers: 2"},
    {"two_documents", "daemon: {workers: 2}\n---\ndaemon: {workers: 3}\n",
     "t.yaml:2:1: a second document; one is allowed"},
    {"bare_step", with_steps("      - shuffle\n"),
     "t.yaml:5:9: 'shuffle' alone; a step is a key with its settings, as '- batch: {size: 256}'"},
    {"two_keys_in_a_step", with_steps("      - shuffle: {window: 10}\n        decode: {}\n"),
     "t.yaml:6:9: key 'decode': a second key in one step, next to 'shuffle'; begin each step with "
     "'- '"},
    {"missing_key", with_steps("      - shuffle: {}\n" + std::string(kDecode)),
     "t.yaml:5:9: key 'window': missing; give a window, or an order of yours"},
    {"order_and_window",
     with_steps("      - shuffle: {order: ids.npy, window: 10}\n" + std::string(kDecode)),
     "t.yaml:5:26: key 'order': is given together with 'window'; leave one of them out"},
    {"order_in_a_store",
     with_steps("      - shuffle: {order: 's3://bucket/ids.npy'}\n" + std::string(kDecode)),
     "t.yaml:5:26: key 'order': 's3://bucket/ids.npy' is no local file; write its path"},
    {"epoch_of_an_order",
     with_steps("      - shuffle: {order: '/orders/{epoch}/ids.npy'}\n" + std::string(kDecode)),
     "t.yaml:5:26: key 'order': '/orders/{epoch}/ids.npy': {epoch} belongs once into the name of "
     "the file, not into that of a folder"},
    {"thousandths", with_steps("      - echo: {factor: 2.0005, window: 10}\n"),
     "t.yaml:5:24: key 'factor': '2.0005' is finer than a thousandth or too large"},
    {"factor_range", with_steps("      - echo: {factor: 0.5, window: 10}\n"),
     "t.yaml:5:24: key 'factor': 0.5 is out of range; allowed: 1 to 1000, or auto"},
    {"echo_is_no_word", with_steps(std::string(kDecode) + "      - echo: always\n"),
     "t.yaml:6:15: key 'echo': 'always' where a mapping, or the word auto, is wanted; its keys: "
     "factor, window, max, allow_repeats, spread"},
    {"no_window", with_steps(std::string(kDecode) + "      - echo: {factor: 2}\n"),
     "t.yaml:6:9: key 'window': missing; it is required, except with 'spread: step' or 'factor: "
     "auto'"},
    {"spread_and_window",
     with_steps(std::string(kDecode) + "      - echo: {factor: 2, window: 10, spread: step}\n"),
     "t.yaml:6:35: key 'window': 'spread: step' has all uses of a record in one batch; leave this "
     "out"},
    {"spread_factor",
     with_steps(std::string(kDecode) + "      - echo: {factor: 2.5, spread: step}\n"),
     "t.yaml:6:24: key 'factor': 'spread: step' needs a whole number that divides the 8 rows of a "
     "batch"},
    {"spread_auto",
     with_steps(std::string(kDecode) + "      - echo: {factor: auto, spread: step}\n"),
     "t.yaml:6:24: key 'factor': 'spread: step' needs a whole number that divides the 8 rows of a "
     "batch"},
    {"echo_twice",
     "streams:\n  train:\n    echo: {factor: 2, window: 10}\n" +
         with_steps(std::string(kDecode) + "      - echo: {factor: 2, window: 10}\n").substr(18),
     "t.yaml:3:5: key 'echo': the pipeline has an 'echo' step, too; keep the step to choose its "
     "place yourself, or this one to let the daemon choose"},
    {"spread_without_place",
     "streams:\n  train:\n    echo: {factor: 2, spread: step}\n" + with_steps(kDecode).substr(18),
     "t.yaml:3:31: key 'spread': needs a place of your choice, before the augmentations: write "
     "'echo' as a step of the pipeline"},
    {"no_window_without_place",
     "streams:\n  train:\n    echo: {factor: 2, max: 4}\n" + with_steps(kDecode).substr(18),
     "t.yaml:3:5: key 'window': missing; it is required, except with 'spread: step' or 'factor: "
     "auto'"},
    {"no_factor", with_steps("      - echo: {factor: 0, window: 10}\n"),
     "t.yaml:5:24: key 'factor': 0 is out of range; allowed: 1 to 1000, or auto"},
    {"max_below_factor",
     with_steps(std::string(kDecode) + "      - echo: {factor: 3, window: 10, max: 2}\n"),
     "t.yaml:6:44: key 'max': smaller than the factor; allowed: the factor or more"},
    {"word",
     with_steps(std::string(kDecode) +
                "      - resize: {field: image, size: 8, interpolation: bicubik}\n"),
     "t.yaml:6:56: key 'interpolation': 'bicubik' is unknown; allowed: bilinear, bicubic; did "
     "you mean 'bicubic'?"},
    {"list_too_long",
     with_steps(std::string(kDecode) + "      - resize: {field: image, size: [8, 9, 10]}\n"),
     "t.yaml:6:38: key 'size': a list of 3; allowed: 1 to 2 values"},
    {"descending_range",
     with_steps(std::string(kDecode) +
                "      - random_resized_crop: {field: image, size: 8, scale: [1.0, 0.5]}\n"),
     "t.yaml:6:61: key 'scale': the first value is larger than the second; swap them"},
    {"scale_of_zero",
     with_steps(std::string(kDecode) +
                "      - random_resized_crop: {field: image, size: 8, scale: [0, 0.5]}\n"),
     "t.yaml:6:61: key 'scale': 0 is out of range; allowed: above 0, at most 1"},
    {"probability",
     with_steps(std::string(kDecode) +
                "      - horizontal_flip: {field: image, probability: 120%}\n"),
     "t.yaml:6:54: key 'probability': 120% is out of range; allowed: 0 to 1"},
    {"field_nobody_decodes",
     with_steps(std::string(kDecode) + "      - horizontal_flip: {field: imge}\n"),
     "t.yaml:6:34: key 'field': 'imge' does not come out of 'decode'; allowed: image, label; did "
     "you mean 'image'?"},
    {"field_without_pixels",
     with_steps(std::string(kDecode) + "      - horizontal_flip: {field: label}\n"),
     "t.yaml:6:34: key 'field': 'label' is no image but int64; allowed: fields decoded as rgb or "
     "gray, or as uint8 of shape [height, width, 1 or 3]"},
    {"channels",
     with_steps(std::string(kDecode) +
                "      - normalize: {field: image, mean: [0.5, 0.5], std: [1]}\n"),
     "t.yaml:6:41: key 'mean': 2 values; 'image' has 3 channels"},
    {"no_decode", with_steps(""),
     "t.yaml:4:7: key 'pipeline': no 'decode' step; it belongs between 'read' and 'batch', "
     "before "
     "the augmentations"},
    {"second_echo",
     with_steps("      - echo: {factor: 2, window: 10}\n" + std::string(kDecode) +
                "      - echo: {factor: 2, window: 10}\n"),
     "t.yaml:7:9: key 'echo': is given twice; one is allowed"},
    {"shuffle_behind_echo",
     with_steps("      - echo: {factor: 2, window: 10}\n      - shuffle: {window: 10}\n"),
     "t.yaml:6:9: key 'shuffle': follows 'echo'; it belongs between 'read' and 'decode', "
     "before any 'echo'"},
    {"shuffle_behind_decode", with_steps(std::string(kDecode) + "      - shuffle: {window: 10}\n"),
     "t.yaml:6:9: key 'shuffle': follows 'decode'; it belongs between 'read' and 'decode', "
     "before any 'echo'"},
    {"augmentation_before_decode",
     with_steps("      - horizontal_flip: {field: image}\n" + std::string(kDecode)),
     "t.yaml:6:9: key 'decode': follows 'horizontal_flip'; it belongs between 'read' and "
     "'batch', before the augmentations"},
    {"step_behind_publish",
     "streams:\n  a:\n    pipeline:\n      - read: {url: x}\n" + std::string(kDecode) +
         "      - batch: {size: 8}\n      - publish: {}\n      - echo: {factor: 2, window: 1}\n",
     "t.yaml:8:9: key 'echo': follows 'publish'; it belongs between 'read' and 'publish', after "
     "any 'shuffle'"},
    {"no_read_first", "streams:\n  a:\n    pipeline:\n      - batch: {size: 8}\n",
     "t.yaml:4:9: key 'batch': is the first step; a pipeline begins with 'read' or 'mix'"},
    {"no_pipeline", "streams:\n  a: {seed: 1}\n",
     "t.yaml:2:3: key 'pipeline': missing; it is required"},
    {"stream_name", "streams:\n  a/b: {seed: 1, pipeline: [{read: {url: x}}]}\n",
     "t.yaml:2:3: key 'a/b': is no stream name; allowed: letters, digits, '.', '_' and '-', a "
     "letter or digit first, at most 64"},
    {"lanes",
     "streams:\n  a:\n    lanes: 3\n    pipeline:\n      - read: {url: x}\n" +
         std::string(kDecode) + "      - batch: {size: 8}\n",
     "t.yaml:3:12: key 'lanes': 3 does not divide the batch size 8"},
    {"cache_without_a_level",
     "streams:\n  a:\n    pipeline:\n      - read: {url: x}\n      - cache: {}\n" +
         std::string(kDecode) + "      - batch: {size: 8}\n",
     "t.yaml:5:9: key 'memory': missing; a cache needs 'memory', 'disk' or 'fleet'"},
    {"cache_with_a_wrong_server",
     "streams:\n  a:\n    pipeline:\n      - read: {url: x}\n      - cache: {fleet: [there]}\n" +
         std::string(kDecode) + "      - batch: {size: 8}\n",
     "t.yaml:5:24: key 'fleet': 'there' is no address; allowed: host:port"},
    {"cache_with_a_scheme_before_its_server",
     "streams:\n  a:\n    pipeline:\n      - read: {url: x}\n"
     "      - cache: {fleet: [\"memcached://h:11211\"]}\n" +
         std::string(kDecode) + "      - batch: {size: 8}\n",
     "t.yaml:5:24: key 'fleet': 'memcached://h:11211' is no address; allowed: host:port"},
    {"cache_below_an_unknown_folder",
     "streams:\n  a:\n    pipeline:\n      - read: {url: x}\n"
     "      - cache: {disk: {path: cache, size: 1GiB}}\n" +
         std::string(kDecode) + "      - batch: {size: 8}\n",
     "t.yaml:5:30: key 'path': 'cache' would depend on the folder that the daemon was started in; "
     "write it from the root, as /nvme/echoline"},
    {"cache_of_samples_on_disk",
     "streams:\n  a:\n    pipeline:\n      - read: {url: x}\n" + std::string(kDecode) +
         "      - cache: {memory: 1MB, disk: {path: /d, size: 1GiB}}\n      - batch: {size: 8}\n",
     "t.yaml:6:30: key 'disk': keeps encoded records; put this cache directly after 'read', or "
     "keep "
     "decoded samples in 'memory' alone"},
    {"ignore_without_a_mask", with_steps("      - decode: {i: {key: a, as: rgb, ignore: 3}}\n"),
     "t.yaml:5:47: key 'ignore': is for masks, not for rgb"},
    {"points_in_a_shape",
     with_steps("      - decode: {p: {key: a, as: keypoints, shape: [9, 4, 3], points: 4}}\n"),
     "t.yaml:5:71: key 'points': is for coco_keypoints; the shape of other fields has it"},
    {"pairs_of_numbers", with_steps("      - decode: {i: {key: a, as: int64, pairs: [0, 1]}}\n"),
     "t.yaml:5:48: key 'pairs': is for key points, not for int64"},
    {"fast_text", with_steps("      - decode: {t: {key: txt, as: text, fast: true}}\n"),
     "t.yaml:5:48: key 'fast': is for images, as: rgb or gray, and not for 'text'"},
    {"fast_with_a_cache_of_samples",
     "streams:\n  a:\n    pipeline:\n      - read: {url: x}\n"
     "      - decode: {i: {key: jpg, as: rgb, fast: true}}\n"
     "      - cache: {memory: 1MB}\n      - batch: {size: 8}\n",
     "t.yaml:5:47: key 'fast': decodes for one crop, but this pipeline keeps decoded samples for "
     "others; leave it out, or move 'echo' or 'cache' to another place"},
    {"fast_with_echo_of_samples",
     with_steps("      - decode: {i: {key: jpg, as: rgb, fast: true}}\n"
                "      - echo: {factor: 2, window: 100}\n"),
     "t.yaml:5:47: key 'fast': decodes for one crop, but this pipeline keeps decoded samples for "
     "others; leave it out, or move 'echo' or 'cache' to another place"},
    {"lag_beyond_the_ring",
     with_steps(kDecode) + "      - publish: {slots: 4, when_slow: split, lag: 25}\n",
     "t.yaml:7:52: key 'lag': no job can be 25 rows behind with 4 slots of 8; allowed: 1 to 24"},
    {"lag_of_those_who_wait", with_steps(kDecode) + "      - publish: {lag: 8}\n",
     "t.yaml:7:24: key 'lag': needs 'when_slow: split' or 'when_slow: detach'"},
    {"unknown_scheme",
     "streams: {a: {pipeline: [{read: {url: 'ftp://b/x'}}, {decode: {i: {key: "
     "jpg, as: rgb}}}, {batch: {size: 2}}]}}\n",
     "t.yaml:1:39: key 'url': 'ftp://' is unknown; allowed: a path, file:, s3://, "
     "gs://, hf://, http://, https://"},
    {"tokens_without_length",
     "streams: {a: {pipeline: [{read: {url: x, format: tokens}}, {decode: {i: {key: tokens, as: "
     "uint16, shape: [8]}}}, {batch: {size: 2}}]}}\n",
     "t.yaml:1:27: key 'tokens': missing; format tokens needs it, as 'tokens: {length: 1024}'"},
    {"columns_of_another_format",
     "streams: {a: {pipeline: [{read: {url: x, format: mds, parquet: {columns: [a]}}}, {decode: "
     "{i: {key: a, as: text}}}, {batch: {size: 2}}]}}\n",
     "t.yaml:1:55: key 'parquet': is for format parquet; the format is mds"},
    {"read_of_nothing", python_set("{limit: 3}}, {decode: {i: {key: a, as: rgb}}"),
     "t.yaml:1:27: key 'url': missing; it is required"},
    {"address_and_data_set", python_set("{url: x, python: {file: f.py, function: F}}"),
     "t.yaml:1:39: key 'url': is given together with 'python'; leave one of them out"},
    {"format_of_a_data_set", python_set("{format: mds, python: {file: f.py, function: F}}"),
     "t.yaml:1:42: key 'format': is for data at an address, not for 'python'; leave it out"},
    {"fields_of_a_data_set", python_set("{python: {file: f.py, function: F, fields: [a]}}"),
     "t.yaml:1:76: key 'fields': is for the step 'python'; in 'read', 'out' names what is used"},
    {"a_chunk_of_a_data_set",
     python_set("{python: {file: f.py, function: F, batched: false, chunk: 8}}"),
     "t.yaml:1:91: key 'chunk': needs 'batched: true'"},
    {"decode_of_a_data_set",
     python_set("{python: {file: f.py, function: F}}}, {decode: {i: {key: a, as: rgb}}"),
     "t.yaml:1:72: key 'decode': is for encoded records; a data set in Python ('read: python') "
     "makes samples, so leave this step out"},
    {"a_chunk_without_batched",
     with_steps(std::string(kDecode) + "      - python: {file: f.py, function: f, chunk: 8}\n"),
     "t.yaml:6:50: key 'chunk': needs 'batched: true'"},
    {"names_of_a_step",
     with_steps(std::string(kDecode) + "      - python: {file: f.py, function: f, names: [a]}\n"),
     "t.yaml:6:50: key 'names': is for 'read: python'; leave it out"},
    {"settings_that_are_no_mapping",
     with_steps(std::string(kDecode) +
                "      - plugin: {library: a.so, step: s, settings: [1, 2]}\n"),
     "t.yaml:6:52: key 'settings': is no mapping; write its keys and values"},
    {"settings_that_contain_themselves",
     with_steps(std::string(kDecode) +
                "      - plugin: {library: a.so, step: s, settings: &a {b: *a}}\n"),
     "t.yaml:6:52: more than 16 levels"},
    {"settings_with_a_number_that_json_lacks",
     with_steps(std::string(kDecode) +
                "      - plugin: {library: a.so, step: s, settings: {max: .inf}}\n"),
     "t.yaml:6:58: .inf is no number that JSON can hold; for a text, write it in quotes"},
    {"settings_with_a_number_of_more_than_64_bits",
     with_steps(
         std::string(kDecode) +
         "      - plugin: {library: a.so, step: s, settings: {max: 18446744073709551616}}\n"),
     "t.yaml:6:58: 18446744073709551616 is no number that JSON can hold; for a text, write it in "
     "quotes"},
    {"settings_with_a_hexadecimal_number_of_more_than_64_bits",
     with_steps(std::string(kDecode) +
                "      - plugin: {library: a.so, step: s, settings: {max: 0x10000000000000000}}\n"),
     "t.yaml:6:58: 0x10000000000000000 is no number that JSON can hold; for a text, write it in "
     "quotes"},
    {"rows_of_another_format",
     "streams: {a: {pipeline: [{read: {url: x, format: mds, pack: {length: 8}}}, {decode: "
     "{i: {key: a, as: text}}}, {batch: {size: 2}}]}}\n",
     "t.yaml:1:55: key 'pack': is for format megatron; the format is mds"},
};

INSTANTIATE_TEST_SUITE_P(each, ConfigErrors, ::testing::ValuesIn(kMistakes),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(ConfigSyntax, OfEachUsualMistakeIsSaidWithThePlaceThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"a:\n  b: 1\n c: 2\n", "3:2: # this line continues no block above it; begin the keys"},
      {"a:\n  b: 1\n    c: 2\n", "3:5: # this line is indented more than the line before"},
      {"a:\n  b: 1\n- c\n", "3:1: # this line continues no block above it; begin the keys"},
      {"a:\n    - b\n  - c\n", "3:3: # this line continues no block above it; begin the keys"},
      {"a:\n  b: \"x\n  c: 2\n", "2:6: # the quote \" is not closed; the line: b: \"x"},
      {"a:\n  b: 'x, {\n", "2:6: # the quote ' is not closed; the line: b: 'x, {"},
      {"a:\n  b: {c: [1, 2}\n", "2:15: # '}' where the '[' of column 10 is still open; close it"},
      {"a: {b: \"}\", c: 'it''s {'\nd: 3\n", "1:4: # '{' is not closed; write '}' after"},
      {"a: {b: s3://x/{0..4}.tar}\n", "1:15: # '{' inside a value; put the value into quotes"},
      {"a: {b: 1}}\n", "1:10: # '}' closes nothing; remove it; the line: a: {b: 1}}"},
      {"a:\r\n  b 1\r\n\r\n  # d\r\n  c: 2\r\n", "2:3: # a colon and a space are missing between"},
      {"a:\n  b:1\n  c: 2\n", "2:3: # a colon and a space are missing between"},
      {"a: b: c\n", "1:5: # a second ': ' in one line; put a value that contains one into quotes"},
      {"a: - b\n", "1:4: # '- ' begins an entry only on a line of its own"},
      {"a: \"b\" c\n", "1:8: # text after a value that is complete; put the whole value"},
      {"a: @b\n", "1:4: # a value with this sign first needs quotes; the line: a: @b"},
      {"a: *b\n", "1:4: # '*' means the value of an anchor '&', and there is none"},
      {"a: \"\\q\"\n", "1:7: # in double quotes, a backslash is written '\\\\'"},
      {"a: \"\\q\x1b[2J\n", "the line: a: \"\\q\uFFFD[2J"},
  };
  for (const auto& [text, said] : mistakes) {
    std::string wanted = said;
    if (const std::size_t at = said.find('#'); at != std::string::npos) {
      wanted = "t.yaml:" + wanted.replace(at, 1, "not readable as YAML:");
    }
    EXPECT_THAT(error_of(text), ::testing::HasSubstr(wanted)) << text;
  }
}

TEST(ConfigNames, OfOtherLoadersLeadToThoseOfThisOne) {
  const std::string steps = "streams: {a: {pipeline: [";
  const std::vector<std::pair<std::string, std::string>> names = {
      {steps + "{flip: {}}]}}", "; did you mean 'horizontal_flip'?"},
      {steps + "{to_tensor: {}}]}}", "; not needed here: 'decode' makes arrays"},
      {steps + "{batch: {drop_last: true}}]}}", "; here it is 'last: drop' of the step 'batch'"},
      {steps + "{batch: {batch_size: 8}}]}}", "buckets; did you mean 'size'?"},
      {steps + "{read: {path: x}}]}}", "; did you mean 'url'?"},
      {steps + "{read: {urls: x}}]}}", "; did you mean 'url'?"},
      {steps + "{read: {prefetch: 2}}]}}", "; did you mean 'read_ahead'?"},
      {steps + "{prefetch: 2}]}}", "; here it is 'read_ahead' of the step 'read', in bytes"},
      {steps + "{shuffle: {buffer_size: 9}}]}}", "; did you mean 'window'?"},
      {steps + "{shuffle: {seed: 9}}]}}", "; here it belongs to the stream"},
      {steps + "{horizontal_flip: {p: 0.5}}]}}", "; did you mean 'probability'?"},
      {"streams: {a: {batch_size: 8}}", "; here it is 'size' of the step 'batch'"},
      {"streams: {a: {num_workers: 8}}", "; here it is daemon.workers: one daemon has"},
      {"daemon: {num_workers: 8}", "; did you mean 'workers'?"},
  };
  for (const auto& [text, said] : names) EXPECT_THAT(error_of(text), ::testing::HasSubstr(said));
}

TEST(ConfigOverrides, NamesTheFlagInsteadOfAPlaceInTheFile) {
  EXPECT_EQ(
      error_of("daemon: {workers: 2}\n", {"daemon.workers=5000"}),
      "--set daemon.workers=5000: key 'workers': 5000 is out of range; allowed: 1 to 1024, or "
      "auto");
  EXPECT_EQ(error_of("daemon: {workers: 2}\n", {"daemon.wrkers=3"}),
            "--set daemon.wrkers=3: key 'wrkers': unknown; allowed: runtime_dir, metrics, "
            "state_dir, memory, workers, seek_index, reattach_grace, stall_report, control, "
            "serve, etcd, exit_when_idle; did "
            "you mean "
            "'workers'?");
  EXPECT_EQ(error_of("daemon: {workers: 2}\n", {"daemon.workers"}),
            "--set daemon.workers: wanted: key.key=value, as in daemon.workers=4");
  EXPECT_EQ(error_of("streams: {train: {}, test: {}}\n", {"streams.trian.seed=3"}),
            "--set streams.trian.seed=3: key 'trian': no such stream; there are: test, train; did "
            "you mean 'train'?");
}

TEST(ConfigFile, ThatIsMissingOrAFolderIsNamed) {
  EXPECT_THAT(load_config_file("/nowhere/t.yaml").status().message(),
              ::testing::AllOf(::testing::HasSubstr("/nowhere/t.yaml"),
                               ::testing::HasSubstr("No such file")));
  EXPECT_THAT(load_config_file("/proc").status().message(), ::testing::HasSubstr("/proc"));
}

TEST(ConfigText, ThatIsHostileEndsInAnErrorAndQuickly) {
  EXPECT_THAT(error_of(std::string(200'000, '[')), ::testing::HasSubstr("t.yaml"));
  EXPECT_THAT(error_of("daemon: " + std::string(2'000'000, 'a')),
              ::testing::HasSubstr("too many for a configuration"));
  EXPECT_THAT(error_of("a: &a {<<: *a}\n<<: *a\n"), ::testing::HasSubstr("t.yaml"));
  // With this text, yaml-cpp's LoadAll does not return.
  EXPECT_THAT(error_of(std::string(" ,\x03\0", 4)), ::testing::HasSubstr("t.yaml"));
  std::string bomb = "x0: &x0 {seed: 1, pipeline: [{read: {url: x}}]}\n";
  EXPECT_THAT(error_of(bomb), ::testing::HasSubstr("key 'x0': unknown"));
  EXPECT_THAT(error_of(std::string("daemon: {metrics: \"\xff\xfe\"}\n")),
              ::testing::HasSubstr("t.yaml"));
}

}  // namespace
}  // namespace echoline::config
