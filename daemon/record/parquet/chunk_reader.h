// Reads the pages of one column chunk and passes on what each row has (parquet-format, "Column
// chunks" and "Nested encoding").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/status.h"
#include "record/parquet/footer.h"
#include "record/parquet/page_header.h"
#include "record/parquet/row_assembly.h"
#include "record/parquet/schema.h"
#include "record/parquet/values.h"

namespace echoline::record {

// Single-threaded. The column and the sink must live as long. Errors name the column and the place
// of the page in the file.
class ChunkReader {
 public:
  // `rows`: of the row group.
  ChunkReader(const Column& column, const ColumnChunk& chunk, std::uint64_t rows, RowSink& sink);

  // Where the next page begins, in the chunk.
  std::uint64_t position() const { return position_; }
  bool done() const { return position_ == chunk_.bytes; }
  // How many bytes from position() on take() needs.
  std::uint64_t needed() const { return needed_; }
  // Reads the page at the start of `bytes` and returns its size; 0 if not all of it is there. The
  // last page ends the chunk, which then must have all values.
  Result<std::uint64_t> take(std::span<const std::byte> bytes);

 private:
  Result<std::uint64_t> take_page(std::span<const std::byte> bytes);
  Status read_page(const PageHeader& page, std::span<const std::byte> stored);
  Status read_dictionary(const PageHeader& page, std::span<const std::byte> stored);
  Status read_data(const PageHeader& page, std::span<const std::byte> stored);
  // The content of a page behind its first `plain` bytes, which are never compressed.
  Result<std::span<const std::byte>> unpack(const PageHeader& page,
                                            std::span<const std::byte> stored, std::size_t plain);
  Status end();

  const Column& column_;
  const ColumnChunk chunk_;
  std::uint64_t position_ = 0;
  std::uint64_t needed_;
  std::uint64_t values_ = 0;
  bool has_data_ = false;
  std::optional<Dictionary> dictionary_;
  Buffer unpacked_;
  RowAssembly rows_;
};

}  // namespace echoline::record
