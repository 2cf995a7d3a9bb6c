// Reflection finds the field of an augmentation: every augmentation has the key `field`.
#include "config/step_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "base/field_name.h"
#include "base/scheme.h"
#include "config/maps.h"
#include "config/names.h"
#include "config/pipeline.h"

namespace echoline::config {
namespace {

Status check_url(const v1::Read& read, const std::string& url, const SourceLocations& locations) {
  if (!scheme_of(url)) {
    return locations.error(read, "url",
                           fmt::format("'{}://' is unknown; allowed: a path, file:, s3://, gs://, "
                                       "hf://, http://, https://",
                                       scheme_word(url)));
  }
  // "s3:bucket" would be read as a local path.
  if (const std::string_view word = word_without_slashes(url); !word.empty()) {
    return locations.error(
        read, "url",
        fmt::format("'{}' is a path, as the slashes are missing; did you mean '{}://{}'?", url,
                    word, url.substr(url.find_first_not_of('/', word.size() + 1))));
  }
  if (url.empty() || url == "file:" || url.ends_with("://")) {
    return locations.error(read, "url", fmt::format("'{}' names nothing", url));
  }
  return Status();
}

// Refuses a profile or a credentials file that the configured kind of credentials ignores.
Status check_credentials(const v1::Read& read, const SourceLocations& locations) {
  const std::string& way = read.credentials();
  // For Google, `environment` names a file, so a credentials file is not ignored.
  const bool gcs = scheme_of(read.url(0)) == Scheme::kGcs;
  if (way == "auto" || way == "file" || way == "anonymous" || (gcs && way == "environment")) {
    return Status();
  }
  const bool profile = !read.profile().empty();
  if (!profile && read.credentials_file().empty()) return Status();
  const char* key = profile ? "profile" : "credentials_file";
  return locations.error(
      read, key,
      fmt::format("is not looked at with 'credentials: {}'; leave one of the two out", way));
}

// All addresses must be of one kind of storage, because a stream has one source.
Status check_urls(const v1::Read& read, const SourceLocations& locations) {
  // The first address decides.
  for (const std::string& url : read.url()) {
    ECHOLINE_TRY(check_url(read, url, locations));
    if (scheme_of(url) != scheme_of(read.url(0))) {
      return locations.error(read, "url",
                             fmt::format("'{}' and '{}' are different kinds of storage; "
                                         "one stream reads from one",
                                         read.url(0), url));
    }
  }
  return Status();
}

// A scheme, as in memcached://host:port, is not part of a host name.
bool is_host_and_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  // "memcached://host" has a slash.
  if (text.find('/') != std::string_view::npos) return false;
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, port);
  return error == std::errc() && rest == end && port > 0;
}

// Channels of an image field, decoded or raw uint8 [height, width, 1 or 3]; 0 for other fields.
int image_channels(const v1::DecodeField& field) {
  if (field.as() == "rgb") return 3;
  if (field.as() == "gray") return 1;
  if (field.as() != "uint8" || field.shape_size() != 3) return 0;
  // The last dimension has the channels.
  if (field.ragged()) return 0;
  const auto channels = static_cast<int>(field.shape(2));
  return channels == 1 || channels == 3 ? channels : 0;
}

// The settings that only boxes and what belongs to them, and masks have.
Status check_annotations(const v1::DecodeField& field, const SourceLocations& locations) {
  const std::string& as = field.as();
  const bool annotations =
      as.starts_with("voc_") || as.starts_with("coco_") || as.starts_with("yolo_");
  const bool masks =
      as == "mask" || as == "mask16" || as.starts_with("coco_mask") || as.starts_with("yolo_mask");
  const bool objects = as == "object_masks";
  const bool labels = annotations && (as.ends_with("_labels") || masks);
  if (field.classes_size() > 0 && !labels) {
    return locations.error(
        field, "classes",
        "is for labels, as: voc_labels and such, for coco_mask and for yolo_mask");
  }
  if (!masks && !objects && field.has_ignore()) {
    return locations.error(field, "ignore", "is for masks, not for " + as);
  }
  if (field.points() != 0 && as != "coco_keypoints") {
    return locations.error(field, "points",
                           "is for coco_keypoints; the shape of other fields has it");
  }
  if (field.pairs_size() > 0 && as != "coco_keypoints" && as != "keypoints") {
    return locations.error(field, "pairs", "is for key points, not for " + as);
  }
  if (as == "voc_labels" && field.classes_size() == 0) {
    return locations.error(field, "classes",
                           "missing; the names of the classes in the order of their numbers, as "
                           "'classes: [cat, dog]'");
  }
  if (field.max_objects() != 0 && !annotations && !objects) {
    return locations.error(field, "max_objects",
                           "is for fields made of annotations and object_masks, not for " + as);
  }
  const bool belongs = annotations || masks || objects || as == "keypoints" || field.ragged();
  if (!field.of().empty() && !belongs) {
    return locations.error(field, "of",
                           "is for boxes, labels, masks, and arrays with 'ragged: true'");
  }
  return Status();
}

Status check_field(const std::string& name, const v1::DecodeField& field,
                   const SourceLocations& locations) {
  if (!is_field_name(name)) {
    return key_error(locations.where(field, 0), name,
                     "is no name; allowed: letters, digits and '_', no digit first, at most 63");
  }
  const bool text = field.as() == "text" || field.as() == "bytes";
  if (text && field.shape_size() > 0) {
    return locations.error(field, "shape", "'" + field.as() + "' has no shape; leave it out");
  }
  // Height and width; the channels follow from rgb or gray.
  const bool decoded_image = field.as() == "rgb" || field.as() == "gray";
  if (decoded_image && field.shape_size() != 0 && field.shape_size() != 2) {
    return locations.error(field, "shape", "an image's shape is [height, width]");
  }
  if (field.fast() && !decoded_image) {
    return locations.error(field, "fast",
                           "is for images, as: rgb or gray, and not for '" + field.as() + "'");
  }
  ECHOLINE_TRY(check_annotations(field, locations));
  if (field.ragged() && (text || decoded_image || field.shape_size() == 0)) {
    return locations.error(
        field, "ragged", "is for arrays of numbers with a shape, whose first size is the largest");
  }
  if (!text && field.has_max_bytes() &&
      // Only if it was written: complete() fills in the default for every field.
      locations.find(field, v1::DecodeField::kMaxBytesFieldNumber)) {
    return locations.error(
        field, "max_bytes",
        "is for text and bytes; '" + field.as() + "' has a fixed size; leave it out");
  }
  return Status();
}

std::vector<std::string> field_names(const v1::Decode& decode) {
  std::vector<std::string> names;
  for (const auto& [name, field] : decode.fields()) names.push_back(name);
  // Sorted, so that messages do not depend on the map's order.
  std::sort(names.begin(), names.end());
  return names;
}

// The message of the step's kind.
const google::protobuf::Message& settings_of(const v1::Step& step) {
  const auto* field = v1::Step::descriptor()->FindFieldByNumber(static_cast<int>(step.step_case()));
  return step.GetReflection()->GetMessage(step, field);
}

// The key of a step's settings that names an image field; null if it works on other fields.
const google::protobuf::FieldDescriptor* image_key(const google::protobuf::Message& settings) {
  const auto* key = settings.GetDescriptor()->FindFieldByName("field");
  const bool names_image = key != nullptr && key->options().GetExtension(v1::image_field);
  return names_image ? key : nullptr;
}

// The image field that an augmentation names must come from `decode`.
Status check_image_field(const v1::Decode& decode, const google::protobuf::Message& settings,
                         const google::protobuf::FieldDescriptor& key,
                         const SourceLocations& locations) {
  const std::string name = settings.GetReflection()->GetString(settings, &key);
  const auto found = decode.fields().find(name);
  const std::vector<std::string> names = field_names(decode);
  if (found == decode.fields().end()) {
    return locations.error(settings, key,
                           fmt::format("'{}' does not come out of 'decode'; allowed: {}{}", name,
                                       join_names(names), did_you_mean(name, names)));
  }
  if (image_channels(found->second) != 0) return Status();
  return locations.error(settings, key,
                         fmt::format("'{}' is no image but {}; allowed: fields decoded as rgb or "
                                     "gray, or as uint8 of shape [height, width, 1 or 3]",
                                     name, found->second.as()));
}

Status check_normalize(const v1::Decode& decode, const v1::Normalize& step,
                       const SourceLocations& locations) {
  const int channels = image_channels(decode.fields().at(step.field()));
  for (const auto& [name, count] :
       {std::pair{"mean", step.mean_size()}, {"std", step.std_size()}}) {
    // One value for all channels, or one for each.
    if (count == 1 || count == channels) continue;
    return locations.error(step, name,
                           fmt::format("{} values; '{}' has {} channel{}", count, step.field(),
                                       channels, channels == 1 ? "" : "s"));
  }
  return Status();
}

// Which samples are kept depends on the free memory, pixels must not.
Status check_fast(const v1::Stream& stream, const SourceLocations& locations) {
  // A place that the daemon chooses can be this one.
  const bool keeps = echo_place(stream) == EchoPlace::kSample || stream.has_echo();
  if (!caches_decoded(stream) && !keeps) return Status();
  const v1::Decode& decode = decode_step(stream);
  for (const std::string& name : field_names(decode)) {
    const v1::DecodeField& field = decode.fields().at(name);
    if (!field.fast()) continue;
    return locations.error(field, "fast",
                           "decodes for one crop, but this pipeline keeps decoded samples for "
                           "others; leave it out, or move 'echo' or 'cache' to another place");
  }
  return Status();
}

Status check_chunk(const v1::Python& python, const SourceLocations& locations) {
  if (!python.has_chunk() || python.batched()) return Status();
  return locations.error(python, "chunk", "needs 'batched: true'");
}

// A data set in Python: most keys are about addresses, and have no meaning for it.
Status check_python_set(const v1::Read& read, const SourceLocations& locations) {
  if (read.url_size() > 0)
    return locations.error(read, "url", "is given together with 'python'; leave one of them out");
  for (int i = 0; i < v1::Read::descriptor()->field_count(); ++i) {
    const google::protobuf::FieldDescriptor& key = *v1::Read::descriptor()->field(i);
    const int number = key.number();
    const bool allowed = number == v1::Read::kPythonFieldNumber ||
                         number == v1::Read::kSplitFieldNumber ||
                         number == v1::Read::kLimitFieldNumber;
    // Only what was written: complete() has filled in defaults.
    if (allowed || locations.find(read, number) == nullptr) continue;
    return locations.error(read, key, "is for data at an address, not for 'python'; leave it out");
  }
  ECHOLINE_TRY(check_chunk(read.python(), locations));
  if (read.python().fields_size() == 0) return Status();
  return locations.error(read.python(), "fields",
                         "is for the step 'python'; in 'read', 'out' names what is used");
}

// The addresses, and how they are asked.
Status check_addresses(const v1::Read& read, const SourceLocations& locations) {
  if (read.url().empty()) return locations.error(read, "url", "missing; it is required");
  ECHOLINE_TRY(check_urls(read, locations));
  const std::string& endpoint = read.endpoint();
  // Only the form; the source parses it later.
  if (!endpoint.empty() && !endpoint.starts_with("http://") && !endpoint.starts_with("https://")) {
    return locations.error(read, "endpoint",
                           fmt::format("'{}' is no address; allowed: "
                                       "http://host:port, https://host:port",
                                       endpoint));
  }
  return check_credentials(read, locations);
}

}  // namespace

Status check_read(const v1::Read& read, const SourceLocations& locations) {
  ECHOLINE_TRY(read.has_python() ? check_python_set(read, locations)
                                 : check_addresses(read, locations));
  if (read.format() == "tokens" && !read.has_tokens()) {
    return locations.error(read, "tokens",
                           "missing; format tokens needs it, as 'tokens: {length: 1024}'");
  }
  if (read.has_tokens() && read.format() != "tokens") {
    return locations.error(read, "tokens", "is for format tokens; the format is " + read.format());
  }
  if (read.has_split() && read.split().from() >= read.split().to()) {
    return locations.error(read.split(), "to",
                           fmt::format("{} is not more than from, {}; the part would be empty",
                                       read.split().to(), read.split().from()));
  }
  if (read.has_parquet() && read.format() != "parquet" && read.format() != "auto") {
    return locations.error(read, "parquet",
                           "is for format parquet; the format is " + read.format());
  }
  if (read.has_pack() && read.format() != "megatron") {
    return locations.error(read, "pack", "is for format megatron; the format is " + read.format());
  }
  // The formats that have classes.
  const bool named =
      read.format() == "folder" || read.format() == "files" || read.format() == "auto";
  if (!read.classes().empty() && !named) {
    return locations.error(read, "classes",
                           "is for formats folder and files; the format is " + read.format());
  }
  return Status();
}

Status check_shuffle(const v1::Stream& stream, const SourceLocations& locations) {
  const v1::Shuffle* shuffle = shuffle_step(stream);
  if (shuffle == nullptr) return Status();
  if (!shuffle->has_order()) {
    if (shuffle->has_window()) return Status();
    return locations.error(*shuffle, "window", "missing; give a window, or an order of yours");
  }
  if (shuffle->has_window()) {
    return locations.error(*shuffle, "order",
                           "is given together with 'window'; leave one of them out");
  }
  const std::string& order = shuffle->order();
  if (order.empty() || scheme_of(order) != Scheme::kFile) {
    return locations.error(*shuffle, "order",
                           fmt::format("'{}' is no local file; write its path", order));
  }
  const std::size_t epoch = order.find("{epoch}");
  const bool once = epoch == order.rfind("{epoch}");
  if (epoch == std::string::npos || (once && order.find('/', epoch) == std::string::npos)) {
    return Status();
  }
  return locations.error(*shuffle, "order",
                         fmt::format("'{}': {{epoch}} belongs once into the name of the file, not "
                                     "into that of a folder",
                                     order));
}

Status check_fields(const v1::Decode& decode, const SourceLocations& locations) {
  if (decode.fields().empty()) {
    return key_error(locations.where(decode, 0), "decode",
                     "no fields; write at least one, as 'image: {key: jpg, as: rgb}'");
  }
  // In the order of names, so that the first error is always the same one.
  for (const std::string& name : field_names(decode)) {
    ECHOLINE_TRY(check_field(name, decode.fields().at(name), locations));
  }
  return Status();
}

Status check_decode(const v1::Stream& stream, const SourceLocations& locations) {
  ECHOLINE_TRY(check_fields(decode_step(stream), locations));
  return check_fast(stream, locations);
}

Status check_cache(const v1::Stream& stream, const SourceLocations& locations) {
  const v1::Cache* cache = cache_step(stream);
  if (cache == nullptr) return Status();
  if (!cache->has_memory() && !cache->has_disk() && cache->fleet_size() == 0) {
    return locations.error(*cache, "memory", "missing; a cache needs 'memory', 'disk' or 'fleet'");
  }
  if (caches_decoded(stream) && (cache->has_disk() || cache->fleet_size() > 0)) {
    return locations.error(*cache, cache->has_disk() ? "disk" : "fleet",
                           "keeps encoded records; put this cache directly after 'read', or keep "
                           "decoded samples in 'memory' alone");
  }
  // Two daemons that share the cache must mean the same folder.
  if (cache->has_disk() && !cache->disk().path().starts_with('/')) {
    return locations.error(
        cache->disk(), "path",
        fmt::format("'{}' would depend on the folder that the daemon was started "
                    "in; write it from the root, as /nvme/echoline",
                    cache->disk().path()));
  }
  for (const std::string& server : cache->fleet()) {
    if (!is_host_and_port(server)) {
      return locations.error(*cache, "fleet",
                             fmt::format("'{}' is no address; allowed: host:port", server));
    }
  }
  return Status();
}

Status check_augmentations(const v1::Stream& stream, const SourceLocations& locations) {
  for (const v1::Step& step : stream.pipeline()) {
    if (!step.python().names().empty())
      return locations.error(step.python(), "names", "is for 'read: python'; leave it out");
    ECHOLINE_TRY(check_chunk(step.python(), locations));
  }
  // As after a step that may change any field, below.
  if (reads_python(stream)) return Status();
  const v1::Decode& decode = decode_step(stream);
  for (const v1::Step& step : stream.pipeline()) {
    if (!is_augmentation(step.step_case())) continue;
    const google::protobuf::FieldDescriptor* const key = image_key(settings_of(step));
    // Such a step may change any field, so the fields are checked when the stream is opened.
    if (key == nullptr) return Status();
    ECHOLINE_TRY(check_image_field(decode, settings_of(step), *key, locations));
    if (step.has_normalize()) ECHOLINE_TRY(check_normalize(decode, step.normalize(), locations));
    if (step.has_multi_crop()) return Status();  // it makes other fields
  }
  return Status();
}

}  // namespace echoline::config
