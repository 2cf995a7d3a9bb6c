// What the operations on a store's objects have in common.
#pragma once

#include "source/http/http_operation.h"
#include "source/store/object_store.h"

namespace echoline::source {

class StoreOperation : public HttpOperation {
 public:
  // The store must outlive it.
  explicit StoreOperation(ObjectStore& store) : store_(store) {}

  Verdict ready(std::time_t now) final { return store_.ready(now); }
  Verdict accept(const HttpResponse& response) final {
    store_.note_accepted(response);
    return take_head(response);
  }

 protected:
  ObjectStore& store_;

 private:
  // As HttpOperation::accept.
  virtual Verdict take_head(const HttpResponse&) { return {}; }
};

}  // namespace echoline::source
