// Kinds of storage, told apart by how an address begins. Here because settings, sources and metrics
// all ask, and none of them may look into the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace echoline {

enum class Scheme : std::uint8_t { kFile, kS3, kGcs, kHttp };

// "file", "s3", "gs", "http": for messages and metrics.
std::string_view to_string(Scheme scheme);

// The letters before "://"; empty for a plain path and for file:/path.
std::string_view scheme_word(std::string_view address);

// The word of a store in what is taken for a path, as in s3:/bucket/key or https:host; else empty.
std::string_view word_without_slashes(std::string_view address);

// A plain path is a file; nothing for a word that no source knows, as in ftp://host.
std::optional<Scheme> scheme_of(std::string_view address);

inline bool is_local(std::string_view address) { return scheme_of(address) == Scheme::kFile; }

}  // namespace echoline
