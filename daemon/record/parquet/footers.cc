// Mostly one request for each file: its last 64 KiB. A longer footer needs a second one.
#include "record/parquet/footers.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "record/index/index_files.h"
#include "record/index/listing.h"
#include "record/parquet/footer.h"
#include "record/parquet/page_codec.h"

namespace echoline::record {
namespace {

constexpr std::uint64_t kTailGuess = 64 << 10;

class FooterReads {
 public:
  FooterReads(const std::vector<source::ObjectInfo>& objects,
              const std::vector<std::string>& wanted, source::Source& source)
      : objects_(objects), wanted_(wanted), source_(source), files_(objects.size()) {}

  Result<ParquetFiles> run() {
    std::vector<std::uint64_t> tails;
    for (const source::ObjectInfo& object : objects_) {
      tails.push_back(std::min(kTailGuess, object.bytes));
    }
    ECHOLINE_TRY(read(tails));
    // Those whose footers are longer.
    const std::vector<std::uint64_t> longer = missing_;
    ECHOLINE_TRY(read(longer));
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (!files_[i]) return footer_bytes({}, 0).status().with_context(objects_[i].url);
    }
    return std::move(files_);
  }

 private:
  // Reads the last bytes of each file that is not known; 0: none.
  Status read(const std::vector<std::uint64_t>& tails) {
    std::vector<ShardRead> reads;
    for (std::size_t i = 0; i < tails.size(); ++i) {
      if (files_[i] || tails[i] == 0) continue;
      reads.push_back({i, objects_[i], objects_[i].bytes - tails[i], tails[i]});
    }
    missing_.assign(objects_.size(), 0);
    answers_.assign(objects_.size(), source::EqualAnswers(source_.answers_needed()));
    read_all(source_, reads, [this](ShardRead& answer) { return landed(answer); });
    return std::move(first_error_);
  }

  // False if the answer is requested again.
  bool landed(ShardRead& answer) {
    if (!answer.status.ok()) return fail(answer, std::move(answer.status));
    source::EqualAnswers& equal = answers_[answer.shard];
    if (!equal.take(answer.buffer, answer.checked)) {
      if (equal.differed()) source_.count_damaged();
      if (!equal.exhausted()) return false;
      return fail(answer, source::never_equal(answer.object, answer.offset, answer.bytes));
    }
    Status status = take(answer);
    if (status.ok()) return true;
    // One answer was enough, and it may have been damaged.
    if (source_.answers_needed() == 1 && may_be_damage(status.code()) &&
        answer.answers < source::kAnswersMax) {
      source_.count_damaged();
      return false;
    }
    return fail(answer, std::move(status).with_context(answer.object.url));
  }

  bool fail(const ShardRead& answer, Status status) {
    // The first file of those that are wrong, whatever the order of answers.
    if (first_error_.ok() || answer.shard < failed_) {
      first_error_ = std::move(status);
      failed_ = answer.shard;
    }
    return true;
  }

  Status take(const ShardRead& answer) {
    const std::span<const std::byte> tail = answer.buffer;
    ECHOLINE_ASSIGN(const std::uint64_t bytes, footer_bytes(tail, answer.object.bytes));
    if (bytes + kParquetTailBytes > tail.size()) {
      missing_[answer.shard] = bytes + kParquetTailBytes;
      return {};
    }
    const auto footer = tail.last(bytes + kParquetTailBytes).first(bytes);
    ECHOLINE_ASSIGN(ParquetFile file, make_parquet_file(footer, answer.object.bytes, wanted_));
    files_[answer.shard] = std::make_shared<const ParquetFile>(std::move(file));
    return {};
  }

  const std::vector<source::ObjectInfo>& objects_;
  const std::vector<std::string>& wanted_;
  source::Source& source_;
  ParquetFiles files_;
  std::vector<std::uint64_t> missing_;
  std::vector<source::EqualAnswers> answers_;
  Status first_error_;
  std::size_t failed_ = 0;
};

}  // namespace

Result<ParquetFile> make_parquet_file(std::span<const std::byte> footer, std::uint64_t file_bytes,
                                      const std::vector<std::string>& wanted) {
  ECHOLINE_ASSIGN(Footer parsed, parse_footer(footer, file_bytes));
  ECHOLINE_ASSIGN(Columns columns, read_schema(parsed.schema, wanted));
  ParquetFile file;
  for (const RowGroup& whole : parsed.row_groups) {
    RowGroup& group = file.groups.emplace_back();
    group.rows = whole.rows;
    for (const Column& column : columns.columns) {
      const ColumnChunk& chunk = whole.columns[column.number];
      if (chunk.type != column.type) {
        return Status(Code::kDataLoss, fmt::format("wrong footer: column '{}' has two types; the "
                                                   "file is damaged: write it again",
                                                   column.key));
      }
      Status codec = check_codec(chunk.codec);
      if (!codec.ok()) {
        return std::move(codec).with_context(fmt::format("column '{}'", column.key));
      }
      group.columns.push_back(chunk);
    }
  }
  file.columns = std::make_shared<const Columns>(std::move(columns));
  return file;
}

Result<ParquetFiles> read_footers(const std::vector<source::ObjectInfo>& objects,
                                  const std::vector<std::string>& wanted, source::Source& source) {
  ECHOLINE_ASSIGN(ParquetFiles files, FooterReads(objects, wanted, source).run());
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (same_fields(*files[0]->columns, *files[i]->columns)) continue;
    return Status(Code::kDataLoss,
                  fmt::format("{}: its columns, or their types, are not those of {}: read them as "
                              "two streams, or name the columns that both have in "
                              "read.parquet.columns",
                              objects[i].url, objects[0].url));
  }
  return files;
}

}  // namespace echoline::record
