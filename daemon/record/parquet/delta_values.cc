#include "record/parquet/delta_values.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "record/parquet/delta.h"

namespace echoline::record {
namespace {

// Texts that repeat what is before them can become much larger than their page.
constexpr std::size_t kBatchBytesMax = std::size_t{256} << 20;

Status wrong_start() { return Status(Code::kDataLoss, "a wrong start of differences"); }

class DeltaIntegers final : public ValueDecoder {
 public:
  DeltaIntegers(DeltaDecoder numbers, std::size_t width)
      : numbers_(std::move(numbers)), width_(width) {}
  bool decode(std::size_t count, ValueBatch& batch) override {
    made_.resize(count);
    if (!numbers_.decode(made_)) return false;
    batch.count = count;
    batch.width = width_;
    batch.fixed.resize(count * width_);
    // Little-endian, so the low half of a value comes first.
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(batch.fixed.data() + i * width_, &made_[i], width_);
    }
    return true;
  }

 private:
  DeltaDecoder numbers_;
  const std::size_t width_;
  std::vector<std::int64_t> made_;
};

class DeltaLengths final : public ValueDecoder {
 public:
  DeltaLengths(std::vector<std::int64_t> lengths, std::span<const std::byte> bytes)
      : lengths_(std::move(lengths)), rest_(bytes) {}
  bool decode(std::size_t count, ValueBatch& batch) override {
    if (count > lengths_.size() - next_) return false;
    batch.count = count;
    batch.width = 0;
    batch.texts.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t bytes = lengths_[next_++];
      if (bytes < 0 || static_cast<std::uint64_t>(bytes) > rest_.size()) return false;
      batch.texts.push_back(rest_.first(static_cast<std::size_t>(bytes)));
      rest_ = rest_.subspan(static_cast<std::size_t>(bytes));
    }
    return true;
  }

 private:
  const std::vector<std::int64_t> lengths_;
  std::size_t next_ = 0;
  std::span<const std::byte> rest_;
};

class DeltaTexts final : public ValueDecoder {
 public:
  DeltaTexts(std::vector<std::int64_t> prefixes, DeltaLengths suffixes, std::size_t width)
      : prefixes_(std::move(prefixes)), suffixes_(std::move(suffixes)), width_(width) {}
  bool decode(std::size_t count, ValueBatch& batch) override;

 private:
  const std::vector<std::int64_t> prefixes_;
  std::size_t next_ = 0;
  DeltaLengths suffixes_;
  ValueBatch parts_;
  const std::size_t width_;
  std::vector<std::byte> last_;
  std::vector<std::byte> made_;
};

bool DeltaTexts::decode(std::size_t count, ValueBatch& batch) {
  if (count > prefixes_.size() - next_ || !suffixes_.decode(count, parts_)) return false;
  made_.clear();
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t prefix = prefixes_[next_++];
    const auto suffix = parts_[i];
    if (prefix < 0 || static_cast<std::uint64_t>(prefix) > last_.size()) return false;
    last_.resize(static_cast<std::size_t>(prefix));
    last_.insert(last_.end(), suffix.begin(), suffix.end());
    if (width_ != 0 && last_.size() != width_) return false;
    if (made_.size() + last_.size() > kBatchBytesMax) return false;
    made_.insert(made_.end(), last_.begin(), last_.end());
    ends.push_back(made_.size());
  }
  batch.count = count;
  batch.width = width_;
  if (width_ != 0) {
    batch.fixed = made_;
    return true;
  }
  batch.texts.clear();
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    batch.texts.push_back(std::span<const std::byte>(made_).subspan(begin, end - begin));
    begin = end;
  }
  return true;
}

// All numbers of a list; `bytes` is then what follows it.
bool take_numbers(std::span<const std::byte>& bytes, std::size_t count_max,
                  std::vector<std::int64_t>& numbers) {
  DeltaDecoder decoder;
  // A few bytes can hold very many equal numbers.
  if (!decoder.begin(bytes) || decoder.count() > count_max) return false;
  // In pieces: a page can claim more numbers than it has.
  constexpr std::uint64_t kPiece = 1 << 16;
  for (std::uint64_t made = 0; made < decoder.count();) {
    const std::uint64_t now = std::min(kPiece, decoder.count() - made);
    numbers.resize(made + now);
    if (!decoder.decode(std::span(numbers).subspan(made))) return false;
    made += now;
  }
  bytes = decoder.rest();
  return true;
}

}  // namespace

Result<std::unique_ptr<ValueDecoder>> make_delta_integers(std::span<const std::byte> values,
                                                          std::size_t width) {
  DeltaDecoder numbers;
  if (!values.empty() && !numbers.begin(values)) return wrong_start();
  return {std::make_unique<DeltaIntegers>(std::move(numbers), width)};
}

Result<std::unique_ptr<ValueDecoder>> make_delta_lengths(std::span<const std::byte> values,
                                                         std::size_t values_max) {
  std::vector<std::int64_t> lengths;
  if (!values.empty() && !take_numbers(values, values_max, lengths)) return wrong_start();
  return {std::make_unique<DeltaLengths>(std::move(lengths), values)};
}

Result<std::unique_ptr<ValueDecoder>> make_delta_texts(std::span<const std::byte> values,
                                                       std::size_t values_max, std::size_t width) {
  std::vector<std::int64_t> prefixes, lengths;
  if (!values.empty() &&
      (!take_numbers(values, values_max, prefixes) || !take_numbers(values, values_max, lengths))) {
    return wrong_start();
  }
  return {std::make_unique<DeltaTexts>(std::move(prefixes),
                                       DeltaLengths(std::move(lengths), values), width)};
}

}  // namespace echoline::record
