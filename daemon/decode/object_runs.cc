#include "decode/object_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace echoline::decode {
namespace {

constexpr std::uint32_t kNumbers = 4;           // of a run, and of the first row
constexpr std::uint32_t kObjectsMax = 1 << 24;  // the largest `max_objects`
static_assert(sizeof(ObjectRun) == kNumbers * sizeof(std::uint32_t));
static_assert(std::is_trivially_copyable_v<ObjectRun>);

Status not_masks(std::string_view why) {
  return {Code::kDataLoss, fmt::format("the masks of objects have {}", why)};
}

bool is_in(const ObjectRuns& masks, const ObjectRun& run) {
  return run.object < masks.objects && run.column < masks.size.width && run.begin < run.end &&
         run.end <= masks.size.height;
}

bool is_before(const ObjectRun& one, const ObjectRun& next) {
  if (one.object != next.object) return one.object < next.object;
  return one.column < next.column || (one.column == next.column && one.end <= next.begin);
}

// Sorts the runs, and joins those that overlap or touch.
void join(std::vector<PixelRun>& pixels) {
  std::ranges::sort(pixels, {}, &PixelRun::begin);
  std::size_t count = 0;
  for (const PixelRun& run : pixels) {
    if (run.begin == run.end) continue;
    if (count > 0 && run.begin <= pixels[count - 1].end) {
      pixels[count - 1].end = std::max(pixels[count - 1].end, run.end);
    } else {
      pixels[count++] = run;
    }
  }
  pixels.resize(count);
}

}  // namespace

FieldType object_masks_type(std::uint32_t objects_max) {
  FieldType type;
  type.dtype = shm::kUint32;
  type.ragged = true;
  type.shape = {{1 + kObjectRunsMax, kNumbers}, 2};
  type.objects_max = objects_max;
  return type;
}

void make_drawn(FieldType& type) {
  type.dtype = shm::kUint8;
  type.shape = {{type.objects_max, type.objects_size.height, type.objects_size.width}, 3};
  type.objects_max = 0;
}

Status too_many_runs() {
  return {Code::kResourceExhausted,
          fmt::format("the masks of its objects have more than {} runs of pixels", kObjectRunsMax)};
}

Status check_count(const ObjectRuns& masks) {
  return masks.runs.size() <= kObjectRunsMax ? Status() : too_many_runs();
}

Status add_object(std::uint32_t object, std::vector<PixelRun>& pixels, ObjectRuns& out) {
  join(pixels);
  const std::uint64_t height = out.size.height;
  for (PixelRun run : pixels) {
    while (run.begin < run.end) {
      const std::uint64_t column = run.begin / height;
      const std::uint64_t end = std::min(run.end, (column + 1) * height);
      out.runs.push_back({object, static_cast<std::uint32_t>(column),
                          static_cast<std::uint32_t>(run.begin - column * height),
                          static_cast<std::uint32_t>(end - column * height)});
      run.begin = end;
    }
    ECHOLINE_TRY(check_count(out));
  }
  return {};
}

Result<ObjectRuns> read_head(const Tensor& tensor) {
  const std::span<const std::byte> content = tensor.content();
  std::uint32_t head[kNumbers] = {};
  if (content.size() < sizeof head || content.size() % sizeof head != 0) {
    return not_masks("no first row");
  }
  std::memcpy(head, content.data(), sizeof head);
  ObjectRuns masks;
  masks.start({head[1], head[2]}, head[0]);
  // So that no number of bytes overflows.
  if (masks.objects > kObjectsMax || masks.size.pixels() > UINT32_MAX) {
    return not_masks("an impossible size");
  }
  return masks;
}

Status load(const Tensor& tensor, ObjectRuns& out) {
  ECHOLINE_ASSIGN(const ObjectRuns head, read_head(tensor));
  out.start(head.size, head.objects);
  const std::span<const std::byte> rest = tensor.content().subspan(sizeof(ObjectRun));
  out.runs.resize(rest.size() / sizeof(ObjectRun));
  if (!rest.empty()) std::memcpy(out.runs.data(), rest.data(), rest.size());
  ECHOLINE_TRY(check_count(out));
  for (std::size_t i = 0; i < out.runs.size(); ++i) {
    if (!is_in(out, out.runs[i])) return not_masks("pixels outside of their picture");
    if (i > 0 && !is_before(out.runs[i - 1], out.runs[i])) return not_masks("runs out of order");
  }
  return {};
}

void store(const ObjectRuns& masks, Tensor& out) {
  const ObjectRun head{masks.objects, masks.size.height, masks.size.width, 0};
  out.dtype = shm::kUint32;
  out.shape = {{static_cast<std::uint32_t>(1 + masks.runs.size()), kNumbers}, 2};
  out.part.reset();
  out.reduction = {};
  out.borrowed.reset();
  out.bytes.resize((1 + masks.runs.size()) * sizeof(ObjectRun));
  std::memcpy(out.bytes.data(), &head, sizeof head);
  if (masks.runs.empty()) return;
  std::memcpy(out.bytes.data() + sizeof head, masks.runs.data(),
              masks.runs.size() * sizeof(ObjectRun));
}

void set_count(std::uint32_t objects, Tensor& tensor) {
  std::memcpy(tensor.bytes.data(), &objects, sizeof objects);
}

void draw(const ObjectRuns& masks, std::byte* out) {
  if (masks.objects > 0) std::memset(out, 0, masks.bytes_drawn());
  for (const ObjectRun& run : masks.runs) {
    const std::size_t first = run.object * masks.size.pixels() + run.column;
    for (std::size_t row = run.begin; row < run.end; ++row) {
      out[first + row * masks.size.width] = std::byte{1};
    }
  }
}

}  // namespace echoline::decode
