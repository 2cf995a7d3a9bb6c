// Compares every kernel with the loops of host_kernels.h, bit by bit, for random sizes: on the
// host's threads, which proves the indices, and on the driver that is found.
#include "cuda/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "cuda/host_kernels.h"
#include "cuda/kernel_device.h"

namespace echoline::cuda_test {
namespace {

using namespace client::cuda;
using client::Error;

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMargin = 64;  // around outputs; no thread may touch it
constexpr std::uint8_t kUntouched = 0xa5;

void run_on_host(const std::string& name, void* params) {
  for (const HostKernel& kernel : host_kernels()) {
    void* parameters[] = {params};
    if (kernel.name == name) return kernel.run(parameters);
  }
  FAIL() << "no loop for " << name;
}

class KernelsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const bool host = std::string(GetParam()) == "HostThreads";
    std::string why;
    device_ = host ? KernelDevice::of_host_threads() : KernelDevice::of_driver(why);
    if (device_ == nullptr) GTEST_SKIP() << why;
    const Error error = host ? Kernels::load_image(device_->driver(), nullptr, kernels_)
                             : Kernels::load(device_->driver(), kernels_);
    if (error.code() == ECHOLINE_UNIMPLEMENTED) GTEST_SKIP() << error.text();
    ASSERT_TRUE(error.ok()) << error.text();
  }

  std::uint32_t draw(std::uint32_t first, std::uint32_t last) {
    return std::uniform_int_distribution<std::uint32_t>(first, last)(random_);
  }
  template <typename... Options>
  auto one_of(Options... options) {
    const std::common_type_t<Options...> all[] = {options...};
    return all[draw(0, sizeof...(options) - 1)];
  }
  Bytes noise(std::size_t bytes) {
    Bytes made(bytes);
    for (std::uint8_t& byte : made) byte = static_cast<std::uint8_t>(random_());
    return made;
  }
  // As for photos, or so that results are far too large or nearly zero.
  float number() {
    const float magnitude = one_of(1.0F, 1.0F, 0.0171F, 1e4F, 1e-7F, 1e-38F, 1e38F);
    return magnitude * std::uniform_real_distribution<float>(-2, 2)(random_);
  }

  // Calls `launch` with the address of the output; returns the output with its margins.
  template <typename Launch>
  Bytes output(std::size_t bytes, std::size_t skew, Launch launch) {
    const Bytes before(bytes + 2 * kMargin, kUntouched);
    std::uint8_t* out = device_->put(before, skew);
    const Error error = launch(out + kMargin);
    EXPECT_TRUE(error.ok()) << error.text();
    return device_->get(out, before.size());
  }
  static Bytes with_margins(const Bytes& bytes) {
    Bytes all(bytes.size() + 2 * kMargin, kUntouched);
    std::copy(bytes.begin(), bytes.end(), all.begin() + kMargin);
    return all;
  }

  // Fewer on a driver: its calls cost more than a loop.
  int cases() const { return std::string(GetParam()) == "HostThreads" ? 2000 : 200; }

  NormalizeParams drawn_sizes();
  void try_normalize(NormalizeParams p, echoline_dtype dtype, Layout layout);
  void try_flip();
  void try_pad();

  std::mt19937 random_{7};
  std::unique_ptr<KernelDevice> device_;
  std::unique_ptr<Kernels> kernels_;
};

NormalizeParams KernelsTest::drawn_sizes() {
  NormalizeParams p{};
  p.rows = draw(0, 4);
  p.height = draw(1, 9);
  p.width = draw(0, 3) * 16 + one_of(0U, 0U, 4U, 8U, draw(0, 15));
  p.channels = one_of(1U, 3U, 3U, 3U, 4U, draw(1, 8));
  return p;
}

void KernelsTest::try_normalize(NormalizeParams p, echoline_dtype dtype, Layout layout) {
  for (float& scale : p.scale) scale = number();
  for (float& shift : p.shift) shift = number();
  const std::size_t values = std::size_t{p.rows} * p.height * p.width * p.channels;
  const std::size_t element = dtype == ECHOLINE_FLOAT32 ? 4 : 2;
  const Bytes pixels = noise(values);
  Bytes flips(p.rows);
  for (std::uint8_t& flip : flips) flip = static_cast<std::uint8_t>(draw(0, 1));
  const bool flipping = draw(0, 3) > 0;
  SCOPED_TRACE(testing::Message() << p.rows << " x " << p.height << " x " << p.width << " x "
                                  << p.channels << (flipping ? ", mirrored" : ""));

  p.pixels = device_->put(pixels, one_of(0U, 0U, 0U, 4U, draw(1, 15)));
  p.flips = flipping ? device_->put(flips, 0) : nullptr;
  const std::size_t skew = element * one_of(0U, 0U, 0U, draw(1, 7));
  const Bytes out = output(values * element, skew, [&](std::uint8_t* place) {
    p.out = place;
    return kernels_->normalize(p, dtype, layout, device_->stream());
  });

  Bytes expected(values * element);
  p.pixels = pixels.data();
  p.flips = flipping ? flips.data() : nullptr;
  p.out = expected.data();
  const char* type = dtype == ECHOLINE_FLOAT32 ? "f32" : dtype == ECHOLINE_FLOAT16 ? "f16" : "bf16";
  run_on_host(
      std::string("echoline_normalize_") + type + (layout == Layout::kChw ? "_chw" : "_hwc"), &p);
  ASSERT_EQ(out, with_margins(expected));
  device_->forget();
}

void KernelsTest::try_flip() {
  FlipParams p{};
  p.rows = draw(0, 4);
  p.height = draw(1, 9);
  p.width = one_of(draw(0, 70), 8 * draw(1, 6));
  p.pixel_bytes = one_of(1U, 2U, 3U, 4U, 6U, 12U, draw(1, 33));
  const std::size_t bytes = std::size_t{p.rows} * p.height * p.width * p.pixel_bytes;
  const Bytes pixels = noise(bytes);
  Bytes flips(p.rows);
  for (std::uint8_t& flip : flips) flip = static_cast<std::uint8_t>(draw(0, 1));
  SCOPED_TRACE(testing::Message() << p.rows << " x " << p.height << " x " << p.width << " of "
                                  << p.pixel_bytes << " bytes");

  p.pixels = device_->put(pixels, one_of(0U, 0U, 8U, draw(1, 15)));
  p.flips = device_->put(flips, 0);
  const Bytes out = output(bytes, one_of(0U, 0U, draw(1, 15)), [&](std::uint8_t* place) {
    p.out = place;
    return kernels_->flip(p, device_->stream());
  });

  Bytes expected(bytes);
  p.pixels = pixels.data();
  p.flips = flips.data();
  p.out = expected.data();
  run_on_host("echoline_flip", &p);
  ASSERT_EQ(out, with_margins(expected));
  device_->forget();
}

void KernelsTest::try_pad() {
  PadParams p{};
  p.rows = draw(0, 6);
  p.element_bytes = 1U << draw(0, 3);
  p.row_bytes = std::uint64_t{p.element_bytes} * one_of(draw(0, 40), 8 * draw(0, 90));
  p.fill = std::uint64_t{random_()} << 32 | random_();
  std::vector<std::uint64_t> offsets{8 * draw(0, 1000)};
  for (std::uint32_t row = 0; row < p.rows; ++row) {
    const std::uint64_t fits = p.row_bytes / p.element_bytes;
    const std::uint64_t elements =
        one_of<std::uint64_t>(0, fits, fits + 1, draw(0, static_cast<std::uint32_t>(2 * fits)));
    offsets.push_back(offsets.back() + elements * p.element_bytes);
  }
  const Bytes values = noise(offsets.back() - offsets.front());
  const std::size_t bytes = p.rows * p.row_bytes;
  SCOPED_TRACE(testing::Message() << p.rows << " x " << p.row_bytes << " bytes of "
                                  << p.element_bytes);

  p.values = device_->put(values, p.element_bytes * draw(0, 3));
  const auto* begin = reinterpret_cast<const std::uint8_t*>(offsets.data());
  p.offsets = reinterpret_cast<const std::uint64_t*>(
      device_->put({begin, offsets.size() * sizeof offsets[0]}, 0));
  const Bytes out =
      output(bytes, p.element_bytes * one_of(0U, 0U, draw(0, 7)), [&](std::uint8_t* place) {
        p.out = place;
        return kernels_->pad(p, device_->stream());
      });

  Bytes expected(bytes);
  p.values = values.data();
  p.offsets = offsets.data();
  p.out = expected.data();
  run_on_host("echoline_pad", &p);
  ASSERT_EQ(out, with_margins(expected));
  device_->forget();
}

constexpr echoline_dtype kTypes[] = {ECHOLINE_FLOAT32, ECHOLINE_FLOAT16, ECHOLINE_BFLOAT16};
constexpr Layout kLayouts[] = {Layout::kChw, Layout::kHwc};

TEST_P(KernelsTest, NormalisedPixelsAreThoseOfTheLoopsInEveryTypeAndOrder) {
  for (const echoline_dtype dtype : kTypes) {
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(testing::Message() << "type " << dtype << ", order " << int(layout));
      for (int i = 0; i < cases(); ++i) {
        ASSERT_NO_FATAL_FAILURE(try_normalize(drawn_sizes(), dtype, layout));
      }
    }
  }
}

TEST_P(KernelsTest, ABatchOfPhotosIsThatOfTheLoops) {
  NormalizeParams p{};
  p.rows = 8;
  p.height = p.width = 224;
  p.channels = 3;
  for (const echoline_dtype dtype : kTypes) {
    for (const Layout layout : kLayouts) {
      ASSERT_NO_FATAL_FAILURE(try_normalize(p, dtype, layout));
    }
  }
}

TEST_P(KernelsTest, FlippedPixelsAreThoseOfTheLoops) {
  for (int i = 0; i < cases(); ++i) ASSERT_NO_FATAL_FAILURE(try_flip());
}

TEST_P(KernelsTest, PaddedRowsAreThoseOfTheLoops) {
  for (int i = 0; i < cases(); ++i) ASSERT_NO_FATAL_FAILURE(try_pad());
}

INSTANTIATE_TEST_SUITE_P(On, KernelsTest, testing::Values("HostThreads", "Driver"),
                         [](const auto& device) { return std::string(device.param); });

}  // namespace
}  // namespace echoline::cuda_test
