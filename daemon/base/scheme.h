// The kind of storage of an address, by its scheme. It is in base because configuration, sources
// and metrics need it, and these modules do not use each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace echoline {

enum class Scheme : std::uint8_t { kFile, kS3, kGcs, kHttp, kHub };

// "file", "s3", "gs", "http" or "hf", for messages and metrics.
std::string_view to_string(Scheme scheme);

// The letters before "://"; empty for a plain path and for file:/path.
std::string_view scheme_word(std::string_view address);

// The scheme's name in an address that lacks its slashes, as in s3:/bucket/key or https:host, and
// is therefore a path; else empty.
std::string_view word_without_slashes(std::string_view address);

// A plain path is a file. Empty for an unknown scheme, as in ftp://host.
std::optional<Scheme> scheme_of(std::string_view address);

inline bool is_local(std::string_view address) { return scheme_of(address) == Scheme::kFile; }

}  // namespace echoline
