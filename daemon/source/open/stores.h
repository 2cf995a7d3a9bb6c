// The store that a `read` step names, from its settings and the environment.
#pragma once

#include <memory>
#include <string>

#include "base/scheme.h"
#include "base/status.h"
#include "source/core/access.h"
#include "source/store/object_store.h"

namespace echoline::v1 {
class Read;
}

namespace echoline::source {

struct OpenedStore {
  std::unique_ptr<ObjectStore> store;
  std::string ca_file;  // trusted authorities; empty for the system's
};

// Not for files. Asks nothing of the network. kUnimplemented for writing to web servers.
Result<OpenedStore> open_store(const v1::Read& read, Scheme scheme, Access access);

}  // namespace echoline::source
