#include "cuda/gpu_trainer.h"

#include <unistd.h>

#include <cstring>
#include <numeric>
#include <utility>

#include "client/made_stream.h"
#include "cuda/driver.h"

namespace echoline::cuda_test {
namespace {

constexpr std::int64_t kPatienceMs = 20'000;

std::vector<std::uint8_t> expected_images(std::uint32_t epoch,
                                          const std::vector<std::uint64_t>& rows) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint64_t row : rows) {
    for (std::uint32_t i = 0; i < test::kImageBytes; ++i) {
      bytes.push_back(test::made_pixel(epoch, row, i));
    }
  }
  return bytes;
}

std::vector<std::uint8_t> expected_labels(std::uint32_t epoch,
                                          const std::vector<std::uint64_t>& rows) {
  std::vector<std::uint8_t> bytes(rows.size() * sizeof(std::int64_t));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t label = test::made_label(epoch, rows[i]);
    std::memcpy(&bytes[i * sizeof(label)], &label, sizeof(label));
  }
  return bytes;
}

}  // namespace

void GpuTest::SetUp() {
  const client::cuda::DriverTable* driver = nullptr;
  if (const client::Error e = client::cuda::load_driver(driver); !e.ok()) GTEST_SKIP() << e.text();
  fake_ = FakeCuda::find();
  if (fake_ != nullptr) fake_->reset();
  ASSERT_TRUE(client::cuda::Device::open(0, device_).ok());
  ASSERT_TRUE(client::cuda::make_stream(device_, stream_).ok());
}

void GpuTest::TearDown() {
  if (fake_ == nullptr || device_ == nullptr) return;
  stream_ = {};
  device_.reset();
  // A thread may still free the memory of the last batch.
  for (int i = 0; i < 1000 && fake_->count().contexts > 0; ++i) usleep(20'000);
  const FakeCudaCounters left = fake_->count();
  EXPECT_EQ(left.contexts, 0U);
  EXPECT_EQ(left.streams, 0U);
  EXPECT_EQ(left.events, 0U);
  EXPECT_EQ(left.modules, 0U);
  EXPECT_EQ(left.device_allocations, 0U);
  EXPECT_EQ(left.host_allocations, 0U);
  EXPECT_EQ(left.registrations, 0U);
  EXPECT_EQ(left.torn_reads, 0U);
  EXPECT_EQ(fake_->misuses(), std::vector<std::string>{});
}

void FakeGpuTest::SetUp() {
  GpuTest::SetUp();
  if (!IsSkipped() && fake_ == nullptr) GTEST_SKIP() << "needs the fake driver";
}

client::cuda::Stream FakeGpuTest::another_stream() const {
  client::cuda::Stream made;
  EXPECT_TRUE(client::cuda::make_stream(device(), made).ok());
  return made;
}

echoline_cuda_field cuda_field(const char* name) {
  echoline_cuda_field field;
  echoline_cuda_field_init(&field, sizeof(field));
  field.name = name;
  return field;
}

GpuTrainer::GpuTrainer(const test::ServerProcess& server, const DeviceOptions& options) {
  loader_ = std::make_unique<Loader>("train", LoaderOptions{.rank = options.rank,
                                                            .world_size = options.world_size,
                                                            .batch_size = options.batch_size,
                                                            .runtime_dir = server.dir(),
                                                            .state = options.state});
  echoline_cuda_options cuda_options;
  echoline_cuda_options_init(&cuda_options, sizeof(cuda_options));
  cuda_options.device = options.device;
  cuda_options.depth = options.depth;
  cuda_options.echo_factor = options.factor;
  cuda_options.echo_window = options.window;
  cuda_options.fields = options.fields.data();
  cuda_options.field_count = static_cast<std::uint32_t>(options.fields.size());
  status_ = echoline_cuda_open(loader_->handle(), &cuda_options, &cuda_);
  if (status_ != ECHOLINE_OK) error_ = echoline_last_error();
}

int GpuTrainer::next(client::cuda::StreamHandle stream, GpuBatch& batch) {
  batch.release();
  const int status = echoline_cuda_next(cuda_, stream, kPatienceMs, &batch.handle_);
  batch.stream_ = stream;
  return status;
}

int GpuTrainer::take(client::cuda::StreamHandle stream, int steps) {
  GpuBatch batch;
  for (int step = 0; step < steps; ++step) {
    const int status = next(stream, batch);
    if (status != ECHOLINE_OK && status != ECHOLINE_END_OF_EPOCH) return status;
  }
  return ECHOLINE_OK;
}

std::string GpuTrainer::state() const {
  std::string text(4096, '\0');
  std::size_t length = 0;
  EXPECT_EQ(echoline_cuda_state(cuda_, text.data(), text.size(), &length), ECHOLINE_OK);
  text.resize(length);
  return text;
}

echoline_cuda_stats GpuTrainer::stats() const {
  echoline_cuda_stats stats;
  stats.size = sizeof(stats);
  EXPECT_EQ(echoline_cuda_get_stats(cuda_, &stats), ECHOLINE_OK);
  return stats;
}

GpuBatch& GpuBatch::operator=(GpuBatch&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(stream_, other.stream_);
  return *this;
}

void GpuBatch::release() { echoline_cuda_release(std::exchange(handle_, nullptr), stream_); }

echoline_batch_info GpuBatch::info() const {
  echoline_batch_info info;
  info.size = sizeof(info);
  EXPECT_EQ(echoline_cuda_batch_get_info(handle_, &info), ECHOLINE_OK);
  return info;
}

std::vector<std::uint32_t> GpuBatch::uses() const {
  const std::uint32_t* uses = echoline_cuda_batch_uses(handle_);
  return {uses, uses + info().rows};
}

std::vector<std::uint64_t> GpuBatch::sample_ids() const {
  const std::uint64_t* ids = echoline_cuda_batch_sample_ids(handle_);
  return {ids, ids + info().rows};
}

echoline_cuda_tensor GpuBatch::tensor(const char* name) const {
  echoline_cuda_tensor tensor;
  tensor.size = sizeof(tensor);
  EXPECT_EQ(echoline_cuda_batch_find_tensor(handle_, name, &tensor), ECHOLINE_OK);
  return tensor;
}

std::vector<std::uint8_t> GpuBatch::bytes(std::uint64_t from, std::size_t count) const {
  std::vector<std::uint8_t> bytes(count);
  std::shared_ptr<const client::cuda::Device> device;
  EXPECT_TRUE(client::cuda::Device::open(echoline_cuda_batch_device(handle_), device).ok());
  const client::cuda::CurrentContext current(*device);
  const MoreDriver& driver = *MoreDriver::find();
  EXPECT_EQ(driver.copy_to_host(bytes.data(), from, count, stream_), 0);
  EXPECT_EQ(driver.stream_synchronize(stream_), 0);
  return bytes;
}

std::vector<std::uint8_t> GpuBatch::bytes(const char* name) const {
  const echoline_cuda_tensor t = tensor(name);
  return bytes(t.data, t.bytes);
}

std::vector<std::uint64_t> GpuBatch::rows() const {
  const std::vector<std::uint8_t> labels = bytes("label");
  std::vector<std::uint64_t> rows(labels.size() / sizeof(std::int64_t));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::int64_t label = 0;
    std::memcpy(&label, &labels[i * sizeof(label)], sizeof(label));
    rows[i] = static_cast<std::uint64_t>(label - test::made_label(info().epoch, 0));
  }
  return rows;
}

void GpuBatch::check_on_stream(const FakeCuda* fake, unsigned microseconds) const {
  const echoline_batch_info facts = info();
  std::vector<std::uint64_t> rows(facts.rows);
  std::iota(rows.begin(), rows.end(), facts.row);
  const auto check = [&](const char* name, const std::vector<std::uint8_t>& expected) {
    if (fake == nullptr) {
      EXPECT_EQ(bytes(name), expected);
      return;
    }
    const std::uint64_t sum = fake->checksum(expected.data(), expected.size());
    EXPECT_EQ(fake->read_on_stream(stream_, tensor(name).data, expected.size(), microseconds, &sum),
              0);
  };
  check("image", expected_images(facts.epoch, rows));
  check("label", expected_labels(facts.epoch, rows));
}

}  // namespace echoline::cuda_test
