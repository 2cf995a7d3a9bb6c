// Keeps what was read last: the fields of one record are often made of the same file.
#pragma once

#include <cstddef>
#include <span>

#include "decode/annotations.h"

namespace echoline::decode {

// One thread. Call `forget` before the next record: its bytes can be at the same address.
class AnnotationMemo {
 public:
  void forget() { reader_ = nullptr; }

  // Reads `file`, or takes what was read from it before. After an error nothing is kept.
  Status read(ReadAnnotations reader, std::span<const std::byte> file, std::size_t objects_max) {
    if (reader != reader_ || file.data() != file_.data() || file.size() != file_.size()) {
      forget();
      ECHOLINE_TRY(reader(file, objects_max, found_));
      reader_ = reader;
      file_ = file;
    }
    return found_.objects.size() <= objects_max ? Status() : too_many_objects(objects_max);
  }
  const Annotations& found() const { return found_; }

 private:
  ReadAnnotations reader_ = nullptr;  // null: nothing was read
  std::span<const std::byte> file_;
  Annotations found_;
};

}  // namespace echoline::decode
