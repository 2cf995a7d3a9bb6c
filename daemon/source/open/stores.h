// Opens the object store that a `read` step names, by its settings and the environment.
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
  std::string ca_file;       // trusted authorities; empty for the system's
  bool etag_is_md5 = false;  // as ChecksumPolicy has it
};

// The endpoint of the store: that of the `read` step, the environment or the profile; empty for the
// cloud's own.
std::string endpoint_of(const v1::Read& read, Scheme scheme);

// For every scheme except files. Sends no request. kUnimplemented for writing to web servers and
// to the Hub.
Result<OpenedStore> open_store(const v1::Read& read, Scheme scheme, Access access);

}  // namespace echoline::source
