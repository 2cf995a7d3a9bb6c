// The store that a `read` step names, from its settings and the environment.
#pragma once

#include <memory>
#include <string>

#include "base/scheme.h"
#include "base/status.h"
#include "source/object_store.h"

namespace echoline::v1 {
class Read;
}

namespace echoline::source {

struct OpenedStore {
  std::unique_ptr<ObjectStore> store;
  std::string ca_file;  // trusted authorities; empty for the system's
};

// Not for files. Asks nothing of the network.
Result<OpenedStore> open_store(const v1::Read& read, Scheme scheme);

}  // namespace echoline::source
