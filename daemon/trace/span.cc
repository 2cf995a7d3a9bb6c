#include "trace/span.h"

namespace echoline::trace {

const Form& form_of(Kind kind) {
  // In the order of Kind.
  static constexpr std::array<Form, 14> kForms = {{
      {"wait", {}},
      {"wait", {"epoch", "row"}},
      {"batch",
       {"batch", "epoch", "step", "first_row", "rows", "fresh_rows", "first_record", "slot"}},
      {"bytes", {"batch"}},
      {"rows", {"batch"}},
      {"turn", {"batch"}},
      {"publish", {"batch"}},
      {"row", {"pass", "batch", "row", "record", "use", "made"}},
      {"step", {}},
      {"memory", {"record", "hit"}},
      {"samples", {"record", "hit"}},
      {"disk", {"record", "hit", "bytes"}},
      {"fleet", {"records", "hits"}},
      {"read",
       {"shard", "offset", "bytes", "records", "first_record", "last_record", "answered", "ok"}},
  }};
  return kForms.at(static_cast<std::size_t>(kind));
}

}  // namespace echoline::trace
