#include "augment/object_mover.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace echoline::augment {
namespace {

using decode::ObjectRun;

constexpr std::uint32_t kTogether = 8;  // objects, one in each bit of a pixel

// The end of the runs of the first object.
std::size_t end_of_object(std::span<const ObjectRun> runs) {
  const auto end = std::ranges::upper_bound(runs, runs.front().object, {}, &ObjectRun::object);
  return static_cast<std::size_t>(end - runs.begin());
}

void draw_bit(const ObjectRun& run, std::size_t width, std::uint8_t bit, std::byte* pixels) {
  for (std::size_t row = run.begin; row < run.end; ++row) {
    pixels[row * width + run.column] |= std::byte{bit};
  }
}

}  // namespace

void ObjectMover::move(const recipes::Affine& back, const decode::ImageSize&) {
  show_all();
  const decode::ImageSize size = masks_.size;
  const std::span<const ObjectRun> runs = masks_.runs;
  scratch_.runs.clear();
  scratch_.moved.resize(size.pixels());
  recipes::Pixels pixels;
  pixels.size = size;
  pixels.channels = 1;
  pixels.stride = size.width;
  for (std::size_t at = 0; at < runs.size() && !is_full();) {
    const std::uint32_t first = runs[at].object;
    scratch_.before.resize(size.pixels());
    std::memset(scratch_.before.data(), 0, size.pixels());
    for (; at < runs.size() && runs[at].object - first < kTogether; ++at) {
      const auto bit = static_cast<std::uint8_t>(1U << (runs[at].object - first));
      draw_bit(runs[at], size.width, bit, scratch_.before.data());
    }
    pixels.data = reinterpret_cast<const std::uint8_t*>(scratch_.before.data());
    transform(pixels, back, {}, reinterpret_cast<std::uint8_t*>(scratch_.moved.data()));
    add_runs(first);
  }
  std::ranges::sort(scratch_.runs);
  take_runs();
}

void ObjectMover::add_runs(std::uint32_t first) {
  const std::size_t width = masks_.size.width;
  const auto* const pixels = reinterpret_cast<const std::uint8_t*>(scratch_.moved.data());
  scratch_.begins.resize(width * kTogether);
  // One row more, where all runs end.
  for (std::uint32_t row = 0; row <= masks_.size.height && !is_full(); ++row) {
    for (std::uint32_t column = 0; column < width; ++column) {
      const std::uint8_t above = row == 0 ? 0 : pixels[(row - 1) * width + column];
      const std::uint8_t here = row == masks_.size.height ? 0 : pixels[row * width + column];
      for (unsigned changed = above ^ here; changed != 0; changed &= changed - 1) {
        const auto object = static_cast<std::uint32_t>(std::countr_zero(changed));
        std::uint32_t& begin = scratch_.begins[column * kTogether + object];
        if ((here >> object & 1U) != 0) {
          begin = row;
        } else {
          scratch_.runs.push_back({first + object, column, begin, row});
        }
      }
    }
  }
}

void ObjectMover::take_runs() {
  lacks_runs_ |= is_full();
  std::swap(masks_.runs, scratch_.runs);
  lines().start(masks_.size);
}

Status ObjectMover::finish() {
  show_all();
  return lacks_runs_ ? decode::too_many_runs() : Status();
}

void ObjectMover::show_all() {
  number_rows();
  scratch_.runs.clear();
  for (std::span<const ObjectRun> rest = masks_.runs; !rest.empty() && !is_full();) {
    const std::size_t end = end_of_object(rest);
    show(rest.first(end));
    rest = rest.subspan(end);
  }
  masks_.size = lines().size();
  take_runs();
}

// Rows of the source that are shown follow each other, in its order.
void ObjectMover::number_rows() {
  const std::vector<std::uint32_t>& rows = lines().rows;
  std::size_t at = 0;
  while (at < rows.size() && rows[at] == kAddedLine) ++at;
  scratch_.row_of.resize(masks_.size.height + 1);
  for (std::uint32_t row = 0; row <= masks_.size.height; ++row) {
    while (at < rows.size() && rows[at] < row) ++at;
    scratch_.row_of[row] = static_cast<std::uint32_t>(at);
  }
}

void ObjectMover::show(std::span<const ObjectRun> runs) {
  const std::vector<std::uint32_t>& columns = lines().columns;
  for (std::uint32_t column = 0; column < columns.size() && !is_full(); ++column) {
    const std::uint32_t from = columns[column];
    if (from < runs.front().column || from > runs.back().column) continue;
    auto run = std::ranges::lower_bound(runs, from, {}, &ObjectRun::column);
    for (; run != runs.end() && run->column == from; ++run) {
      const std::uint32_t begin = scratch_.row_of[run->begin];
      const std::uint32_t end = scratch_.row_of[run->end];
      if (begin < end) scratch_.runs.push_back({run->object, column, begin, end});
    }
  }
}

std::vector<std::size_t> objects_of_image(const std::vector<decode::FieldType>& fields,
                                          const std::string& image) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].objects_max > 0 && fields[i].of == image) found.push_back(i);
  }
  return found;
}

}  // namespace echoline::augment
