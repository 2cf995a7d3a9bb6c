// Answers of S3 that come as XML: pages of a listing, and errors. Bytes from the network: nothing
// is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "source/store/object_store.h"

namespace echoline::source {

// A page of ListObjectsV2. kDataLoss if it isn't one.
Result<ListPage> parse_s3_list(std::string_view xml);

struct S3Error {
  std::string code;     // "NoSuchKey"
  std::string message;  // printable, at most 300 bytes
  std::string region;   // where the bucket is, if the store said so
};

// What can be understood of an error body; empty fields otherwise.
S3Error parse_s3_error(std::string_view xml);

// An ETag without its quotes.
std::string_view unquoted_etag(std::string_view etag);

}  // namespace echoline::source
