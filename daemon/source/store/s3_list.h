// Parses the XML answers of S3: pages of a listing, and errors. They are untrusted bytes from the
// network.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "source/store/object_store.h"

namespace echoline::source {

// A page of ListObjectsV2; kDataLoss for anything else.
Result<ListPage> parse_s3_list(std::string_view xml);

struct S3Error {
  std::string code;     // "NoSuchKey"
  std::string message;  // printable, at most 300 bytes
  std::string region;   // of the bucket, if the store sent it
};

// The fields of an error body; those that cannot be read are empty.
S3Error parse_s3_error(std::string_view xml);

// An ETag without its quotes.
std::string_view unquoted_etag(std::string_view etag);

}  // namespace echoline::source
