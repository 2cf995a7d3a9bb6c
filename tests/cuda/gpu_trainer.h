// A trainer on a GPU for tests, on a real or a fake driver: it attaches to a ring_server,
// takes batches on its own stream and checks their bytes there.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "client/server_process.h"
#include "cuda/device.h"
#include "cuda/fake_driver/fake_cuda.h"
#include "cuda/more_driver_api.h"
#include "echoline/echoline.hpp"
#include "echoline/echoline_cuda.h"

namespace echoline::cuda_test {

// Skips without a driver. At the end it checks that nothing is allocated in the fake driver, and
// that the fake driver saw no misuse.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The trainer's stream; destroyed at the end of the test.
  client::cuda::StreamHandle stream() const { return stream_.get(); }
  const client::cuda::DriverTable& driver() const { return device_->driver(); }
  const std::shared_ptr<const client::cuda::Device>& device() const { return device_; }

  const FakeCuda* fake_ = nullptr;  // null: a real driver

 private:
  std::shared_ptr<const client::cuda::Device> device_;
  client::cuda::Stream stream_;
};

// Needs the fake driver: skips on a real one.
class FakeGpuTest : public GpuTest {
 protected:
  void SetUp() override;
  client::cuda::Stream another_stream() const;
};

// Asks every 20 ms, for 10 s at most.
template <typename Done>
bool comes_true(Done done) {
  for (int i = 0; i < 500 && !done(); ++i) usleep(20'000);
  return done();
}

struct DeviceOptions {
  int device = 0;
  std::uint32_t depth = 3, factor = 1, window = 1;
  std::vector<echoline_cuda_field> fields = {};
  std::string state = {};
  std::uint32_t rank = 0, world_size = 1, batch_size = 0;
};

echoline_cuda_field cuda_field(const char* name);

class GpuBatch;

// Owns both handles. If opening the device fails, status() says so.
class GpuTrainer {
 public:
  GpuTrainer(const test::ServerProcess& server, const DeviceOptions& options);
  ~GpuTrainer() { echoline_cuda_close(cuda_); }

  int status() const { return status_; }  // of the open
  const std::string& error() const { return error_; }

  // As echoline_cuda_next with a timeout of 20 s; releases the batch that was in `batch`.
  int next(client::cuda::StreamHandle stream, GpuBatch& batch);
  // Takes batches until an error, whose code it returns, or `steps` of them.
  int take(client::cuda::StreamHandle stream, int steps);
  std::string state() const;
  echoline_cuda_stats stats() const;
  echoline_cuda* handle() const { return cuda_; }
  Loader& loader() { return *loader_; }
  void close_loader() { loader_->close(); }

 private:
  std::unique_ptr<Loader> loader_;
  echoline_cuda* cuda_ = nullptr;
  int status_ = 0;
  std::string error_;
};

class GpuBatch {
 public:
  GpuBatch() = default;
  GpuBatch(GpuBatch&& other) noexcept { *this = std::move(other); }
  GpuBatch& operator=(GpuBatch&& other) noexcept;
  ~GpuBatch() { release(); }

  void release();
  echoline_batch_info info() const;
  std::vector<std::uint32_t> uses() const;
  std::vector<std::uint64_t> sample_ids() const;
  echoline_cuda_tensor tensor(const char* name) const;
  // Waits for the stream.
  std::vector<std::uint8_t> bytes(const char* name) const;
  std::vector<std::uint8_t> bytes(std::uint64_t from, std::size_t count) const;
  // Its rows of the epoch, computed from its labels.
  std::vector<std::uint64_t> rows() const;
  // On the fake driver: puts a kernel on the stream that takes that long and compares image and
  // label with the expected bytes several times. On a real driver: compares them now.
  void check_on_stream(const FakeCuda* fake, unsigned microseconds) const;

 private:
  friend class GpuTrainer;
  echoline_cuda_batch* handle_ = nullptr;
  client::cuda::StreamHandle stream_ = nullptr;
};

}  // namespace echoline::cuda_test
