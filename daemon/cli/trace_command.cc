// `echoline trace`: records what a stream does, for a viewer of traces.
#include <fmt/core.h>

#include <memory>
#include <optional>

#include "base/pluralize.h"
#include "cli/commands.h"
#include "cli/control_client.h"
#include "cli/output_file.h"
#include "cli/trace_file.h"

namespace echoline::cli {

Status trace_stream(const DaemonOptions& daemon, const std::string& stream,
                    const TraceOptions& options) {
  const std::string path = options.out.empty() ? stream + ".trace.json" : options.out;
  v1::WatchTraceRequest request;
  request.set_name(stream);
  request.set_duration_ms(options.seconds * 1000);
  // A wrong path costs no trace, which would refuse the next one.
  if (!options.out.empty()) ECHOLINE_TRY(check_output("--out", path));
  const std::unique_ptr<ControlClient> client = ControlClient::open(daemon);
  // The first answer creates the file: a wrong name leaves what is there.
  std::optional<TraceFile> file;
  const Status ended = client->trace(request, [&](const v1::WatchTraceResponse& part) -> Status {
    if (!file) {
      ECHOLINE_ASSIGN(file, TraceFile::create(path));
    }
    file->add(part);
    return Status();
  });
  // What was recorded until an error is a whole document, too.
  if (file) ECHOLINE_TRY(file->finish(stream));
  ECHOLINE_TRY(ended);
  if (!file) return Status(Code::kInternal, "the daemon sent no trace");
  fmt::print("{}: {} of {:.1f} s; open it in https://ui.perfetto.dev\n", path,
             pluralize(file->spans(), "span"), file->seconds());
  if (file->dropped() > 0) {
    fmt::print("{} more were dropped: the stream did more than the buffers hold\n",
               pluralize(file->dropped(), "span"));
  }
  return Status();
}

}  // namespace echoline::cli
