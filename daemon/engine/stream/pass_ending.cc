#include "engine/stream/pass_ending.h"

#include <utility>

namespace echoline::engine {

void PassEnding::add(const Stream& stream) {
  for (const std::shared_ptr<Pass>& pass : stream.passes()) passes.push_back(pass);
  for (const std::uint64_t connection : stream.connections()) connections.push_back(connection);
}

PassEnding ending_of(const Stream& stream, shm::NoticeKind kind, Status status) {
  PassEnding ending;
  ending.kind = kind;
  ending.status = std::move(status);
  ending.add(stream);
  return ending;
}

}  // namespace echoline::engine
