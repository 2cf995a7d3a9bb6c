// The reusable state of one thread that decodes.
#pragma once

#include <cstdint>

#include "audio/audio_reader.h"
#include "base/buffer.h"
#include "decode/annotation_memo.h"
#include "decode/image_decoder.h"
#include "decode/jpeg.h"
#include "decode/object_runs.h"
#include "decode/outline_pixels.h"

namespace echoline::decode {

// One thread at a time. It keeps the image libraries' objects and buffers from record to record, so
// that nothing is allocated per sample in the steady state.
struct Scratch {
  explicit Scratch(const ImageShared& image_shared = ImageShared())
      : shared(image_shared), images(ImageLimits{}, &shared) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::uint64_t record = 0;  // the number of the record that is decoded next, for seek indexes
  ImageShared shared;
  ImageDecoder images;
  audio::AudioReader audio;
  AnnotationMemo annotations;  // of the record
  OutlineScratch outlines;
  ObjectRuns objects;
  Buffer numbers;  // of objects, by pixel
};

}  // namespace echoline::decode
