#include "engine/open/open_remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/preparation.h"
#include "config/values.h"

namespace echoline::engine {
namespace {

// Headers of a frame, about.
constexpr std::uint64_t kFrameOverheadBytes = 128;

}  // namespace

RemoteOptions server_options(const std::string& name, const v1::Prepare& step,
                             std::string fingerprint) {
  RemoteOptions options{.stream = name,
                        .fingerprint = std::move(fingerprint),
                        .fields = {},
                        .servers = {},
                        .certificate = step.certificate(),
                        .key = step.key(),
                        .server_ca = step.server_ca(),
                        .concurrency = step.concurrency(),
                        .wait = step.fallback() == "wait"};
  for (const std::string& server : step.servers()) {
    options.servers.push_back(config::server_address(server));
  }
  return options;
}

RemoteReaderOptions remote_options(const std::string& name, const v1::Prepare& step,
                                   std::string fingerprint, const batch::Preparer& preparer,
                                   double growth, std::size_t sources) {
  RemoteReaderOptions options{.client = server_options(name, step, std::move(fingerprint)),
                              .growth = growth};
  options.client.fields = preparer.prepared_types();
  options.client.concurrency =
      std::max<std::uint32_t>(1, step.concurrency() / static_cast<std::uint32_t>(sources));
  return options;
}

Status check_answers(std::uint64_t decoded_bytes) {
  if (decoded_bytes + kFrameOverheadBytes <= kReceivedBytesMax) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format("prepare: a prepared sample has about {}, more than an answer of a "
                  "preparation server can have ({}); leave out 'prepare'",
                  config::format_bytes(decoded_bytes), config::format_bytes(kReceivedBytesMax)));
}

double growth_of(const record::Index& index, std::uint64_t decoded_bytes) {
  return static_cast<double>(decoded_bytes + kFrameOverheadBytes) /
         std::max(1.0, index.record_bytes_mean());
}

}  // namespace echoline::engine
