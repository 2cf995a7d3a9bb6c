#include "cuda/device_resources.h"

namespace echoline::client::cuda {

Error DeviceResources::make(Loader& host) {
  echoline_loader_info info{};
  if (Error e = host.info(info); !e.ok()) return e;
  seed = info.seed;
  const std::shared_ptr<Attachment> attachment = host.attachment();
  const std::uint32_t rows_max = (info.batch_size + info.world_size - 1) / info.world_size;
  if (Error e = BatchLayout::make(attachment->ring(), rows_max, options.echo_factor, options.fields,
                                  layout);
      !e.ok()) {
    return e;
  }
  if (layout.needs_kernels) {
    if (Error e = Kernels::load(device->driver(), kernels); !e.ok()) return e;
  }
  if (Error e = make_stream(device, streams.copy); !e.ok()) return e;
  return make_stream(device, streams.prepare);
}

}  // namespace echoline::client::cuda
