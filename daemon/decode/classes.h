// The setting `classes`: which number a class of a file of annotations has.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace echoline::v1 {
class DecodeField;
}

namespace echoline::decode {

class Classes {
 public:
  // `first`: the number of the first class of the list.
  explicit Classes(const v1::DecodeField& entry, std::int64_t first = 0);

  // kInvalidArgument if a name is in the list twice: it would have two numbers.
  static Status check(const v1::DecodeField& entry);
  // The place of a name in the list of classes; without a list the number that the name is.
  Result<std::int64_t> number_of(std::string_view name) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> numbers_;
};

}  // namespace echoline::decode
