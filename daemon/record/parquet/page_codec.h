// Unpacks the bytes of a page (parquet-format, "Compression").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "record/parquet/footer.h"

namespace echoline::record {

// kUnimplemented for LZO and for LZ4 in Hadoop's framing, which the specification deprecates.
Status check_codec(PageCodec codec);

// Fills all of `out`. kDataLoss if the bytes are damaged or have another size when unpacked.
Status unpack_page(PageCodec codec, std::span<const std::byte> packed, std::span<std::byte> out);

}  // namespace echoline::record
