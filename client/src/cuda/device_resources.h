// What a loader has on its device for all batches.
#pragma once

#include <memory>

#include "cuda/batch_layout.h"
#include "cuda/buffer.h"
#include "cuda/device.h"
#include "cuda/device_echo.h"
#include "cuda/kernels.h"
#include "cuda/options.h"
#include "loader/loader.h"

namespace echoline::client::cuda {

// Constant after make(); any thread may read it. Kernels are destroyed with the device's context
// current.
struct DeviceResources {
  DeviceResources(const Options& the_options, std::shared_ptr<const Device> the_device)
      : options(the_options),
        echo(the_options.echo_factor, the_options.echo_window),
        device(std::move(the_device)) {}
  // `host` is attached. INVALID_ARGUMENT if the options do not fit the stream's fields.
  Error make(Loader& host);

  const Options options;
  const DeviceEcho echo;
  const std::shared_ptr<const Device> device;
  BatchLayout layout;
  Streams streams;
  std::unique_ptr<Kernels> kernels;  // null if no field needs any
  std::uint64_t seed = 0;            // the stream's
};

}  // namespace echoline::client::cuda
