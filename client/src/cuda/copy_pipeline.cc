#include "cuda/copy_pipeline.h"

#include <algorithm>
#include <thread>

namespace echoline::client::cuda {

CopyPipeline::CopyPipeline(Loader& host, const Options& options,
                           std::shared_ptr<const Device> device)
    : resources(options, std::move(device)),
      meter(resources.device),
      pages(resources.device),
      copier(host, resources, meter, pages, table),
      finisher(resources, meter, table),
      trainer(host, resources, meter, table) {}

Error CopyPipeline::make(Loader& host, const Options& options, std::shared_ptr<const Device> device,
                         std::unique_ptr<CopyPipeline>& pipeline) {
  const CurrentContext current(*device);
  std::unique_ptr<CopyPipeline> made(new CopyPipeline(host, options, device));
  if (Error e = made->make_parts(host); !e.ok()) return e;
  pipeline = std::move(made);
  return {};
}

// All memory is taken here: a training needs none later, and a capture of a CUDA graph must not see
// an allocation.
Error CopyPipeline::make_parts(Loader& host) {
  if (Error e = resources.make(host); !e.ok()) return e;
  if (Error e = meter.make(); !e.ok()) return e;
  if (Error e = pages.open(host.attachment()); !e.ok()) return e;
  // The echo keeps up to kept_max() batches; without echo that is one.
  table.slots = std::vector<DeviceSlot>(resources.options.depth + resources.echo.kept_max() - 1);
  for (DeviceSlot& slot : table.slots) {
    if (Error e = Buffer::make(resources.device, resources.layout, slot.buffer); !e.ok()) return e;
  }
  State position;
  // The copies continue where the host loader is.
  if (Error e = host.state(position); !e.ok()) return e;
  const auto& resumed = host.device_echo_position();
  table.queue.emplace(resources.echo, std::move(position), resumed ? resumed->step : 0);
  return {};
}

// Needs no lock: the buffers are constant, and idle() only asks the driver.
bool CopyPipeline::idle() const {
  const CurrentContext current(*resources.device);
  return std::ranges::all_of(table.slots, [](const DeviceSlot& slot) {
    return slot.buffer == nullptr || slot.buffer->idle();
  });
}

bool CopyPipeline::wait_idle(std::chrono::steady_clock::time_point end) const {
  while (!idle()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    // Polls, because a wait in the driver has no limit.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// The streams and the meter's events are destroyed as usual: the driver keeps them until their work
// has ended.
void CopyPipeline::leave_to_driver() {
  for (DeviceSlot& slot : table.slots) (void)slot.buffer.release();
  (void)resources.kernels.release();
  pages.leave_to_driver();
}

}  // namespace echoline::client::cuda
