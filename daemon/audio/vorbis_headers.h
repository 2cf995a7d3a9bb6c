// Reads the headers of an Ogg Vorbis file, before libsndfile does: libsndfile 1.2 leaks some KB of
// memory for each file whose Vorbis headers are damaged.
#pragma once

#include <cstddef>
#include <span>

namespace echoline::audio {

// False for a file that begins with Vorbis headers that libvorbis refuses, or that end too early.
// True for all other bytes.
bool vorbis_headers_are_good(std::span<const std::byte> bytes);

}  // namespace echoline::audio
