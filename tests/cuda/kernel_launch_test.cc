// The launches for a batch, refusals, and sizes that are larger than the test's memory.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <limits>

#include "cuda/flip_kernel.h"
#include "cuda/host_kernels.h"
#include "cuda/host_threads.h"
#include "cuda/kernels.h"
#include "cuda/normalize_kernel.h"

namespace echoline::cuda_test {
namespace {

using namespace client::cuda;
using client::Error;
using testing::AllOf;
using testing::HasSubstr;

class KernelLaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    const Error error = Kernels::load_image(host_threads(), nullptr, kernels_);
    ASSERT_TRUE(error.ok()) << error.text();
    take_grids();
  }
  void TearDown() override { fail_host_threads(kSuccess); }

  static NormalizeParams sizes(std::uint32_t rows, std::uint32_t height, std::uint32_t width,
                               std::uint32_t channels) {
    NormalizeParams p{};
    p.rows = rows;
    p.height = height;
    p.width = width;
    p.channels = channels;
    return p;
  }
  Error normalize(const NormalizeParams& p, echoline_dtype out = ECHOLINE_FLOAT16) const {
    return kernels_->normalize(p, out, Layout::kChw, nullptr);
  }

  std::unique_ptr<Kernels> kernels_;
};

TEST_F(KernelLaunchTest, ThereIsAThreadFor16BytesOfAPlaneAndARowOfBlocksForAPhoto) {
  std::vector<std::uint8_t> pixels(2 * 224 * 224 * 3);
  std::vector<std::uint16_t> out(pixels.size());
  NormalizeParams p = sizes(2, 224, 224, 3);
  p.pixels = pixels.data();
  p.out = out.data();
  ASSERT_TRUE(normalize(p).ok());
  const std::vector<Grid> grids = take_grids();
  ASSERT_EQ(grids.size(), 1U);
  EXPECT_EQ(grids[0].threads, 256U);
  EXPECT_EQ(grids[0].blocks, (224U * 224 / 8 + 255) / 256);
  EXPECT_EQ(grids[0].rows, 2U);
}

TEST_F(KernelLaunchTest, SmallRowsGetSmallBlocksOfWholeWarps) {
  std::uint8_t pixels[5 * 7] = {};
  std::uint16_t out[5 * 7] = {};
  NormalizeParams p = sizes(1, 5, 7, 1);
  p.pixels = pixels;
  p.out = out;
  ASSERT_TRUE(normalize(p).ok());
  EXPECT_EQ(take_grids().at(0).threads, 64U);
}

TEST_F(KernelLaunchTest, NothingIsLaunchedForAnEmptyBatch) {
  EXPECT_TRUE(normalize(sizes(0, 224, 224, 3)).ok());
  EXPECT_TRUE(normalize(sizes(8, 0, 224, 3)).ok());
  FlipParams flips{};
  flips.pixel_bytes = 3;
  EXPECT_TRUE(kernels_->flip(flips, nullptr).ok());
  PadParams pads{};
  pads.element_bytes = 4;
  pads.rows = 3;
  EXPECT_TRUE(kernels_->pad(pads, nullptr).ok());
  EXPECT_TRUE(take_grids().empty());
}

TEST_F(KernelLaunchTest, MoreRowsThanAGridHasAreDoneInTurns) {
  constexpr std::uint32_t kRows = 3 * 65535 + 17;
  std::vector<std::uint8_t> pixels(kRows);
  for (std::uint32_t i = 0; i < kRows; ++i) pixels[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  std::vector<float> out(kRows);
  NormalizeParams p = sizes(kRows, 1, 1, 1);
  p.pixels = pixels.data();
  p.out = out.data();
  p.scale[0] = 1;
  ASSERT_TRUE(normalize(p, ECHOLINE_FLOAT32).ok());
  EXPECT_EQ(take_grids().at(0).rows, 65535U);
  EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(), out.begin()));
}

TEST_F(KernelLaunchTest, WhatNoKernelTakesIsRefusedWithTheSizes) {
  const Error channels = normalize(sizes(4, 5, 6, 9));
  EXPECT_EQ(channels.code(), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_THAT(channels.text(), AllOf(HasSubstr("normalize_f16_chw of 4 x 5 x 6 x 9"),
                                     HasSubstr("channels, must be 1 to 8")));
  EXPECT_EQ(normalize(sizes(4, 5, 6, 0)).code(), ECHOLINE_INVALID_ARGUMENT);
  EXPECT_THAT(normalize(sizes(4, 5, 6, 3), ECHOLINE_UINT8).text(), HasSubstr("float16"));
  EXPECT_THAT(normalize(sizes(1, 65536, 65536, 1)).text(), HasSubstr("4294967295"));
  EXPECT_THAT(normalize(sizes(1, 4294967295U, 4294967295U, 8)).text(), HasSubstr("4294967295"));

  NormalizeParams askew = sizes(1, 1, 1, 1);
  askew.out = reinterpret_cast<void*>(0x1001);
  EXPECT_THAT(normalize(askew).text(), HasSubstr("not aligned"));

  FlipParams flips{};
  EXPECT_THAT(kernels_->flip(flips, nullptr).text(), HasSubstr("at least one byte"));
  flips.height = flips.width = 65536;
  flips.pixel_bytes = 3;
  EXPECT_THAT(kernels_->flip(flips, nullptr).text(),
              HasSubstr("echoline_flip of 0 x 65536 x 65536 x 3 bytes"));

  PadParams pads{};
  pads.element_bytes = 3;
  EXPECT_THAT(kernels_->pad(pads, nullptr).text(), HasSubstr("1, 2, 4 or 8"));
  pads.element_bytes = 4;
  pads.row_bytes = 6;
  EXPECT_THAT(kernels_->pad(pads, nullptr).text(), HasSubstr("whole elements"));
  pads.rows = 1;
  pads.row_bytes = std::uint64_t{1} << 62;
  EXPECT_THAT(kernels_->pad(pads, nullptr).text(), HasSubstr("too long for a grid"));
  EXPECT_TRUE(take_grids().empty());
}

TEST_F(KernelLaunchTest, ADriverThatRefusesIsQuotedWithTheKernelAndTheSizes) {
  fail_host_threads(kOutOfMemory);
  const Error error = normalize(sizes(4, 5, 6, 3));
  EXPECT_EQ(error.code(), ECHOLINE_RESOURCE_EXHAUSTED);
  EXPECT_THAT(error.text(), HasSubstr("can't launch echoline_normalize_f16_chw of 4 x 5 x 6 x 3"));

  fail_host_threads(kNoBinaryForGpu);
  std::unique_ptr<Kernels> none;
  EXPECT_EQ(Kernels::load_image(host_threads(), nullptr, none).code(), ECHOLINE_UNIMPLEMENTED);
  EXPECT_EQ(none, nullptr);
}

TEST_F(KernelLaunchTest, ABuildWithoutKernelsSaysWhatItLacks) {
  if (Kernels::built()) GTEST_SKIP() << "this build has kernels";
  std::unique_ptr<Kernels> none;
  const Error error = Kernels::load(host_threads(), none);
  EXPECT_EQ(error.code(), ECHOLINE_UNIMPLEMENTED);
  EXPECT_THAT(error.text(), HasSubstr("build it where nvcc is found"));
}

// A range of addresses that gets memory only where it is touched.
class Sparse {
 public:
  explicit Sparse(std::uint64_t bytes) : bytes_(bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place != MAP_FAILED) begin_ = static_cast<std::uint8_t*>(place);
  }
  ~Sparse() {
    if (begin_ != nullptr) munmap(begin_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  std::uint8_t* begin() const { return begin_; }
  std::uint8_t* end() const { return begin_ + bytes_; }

 private:
  std::uint64_t bytes_;
  std::uint8_t* begin_ = nullptr;
};

struct Float32 {
  using Bits = float;
  static Bits round(float value) { return value; }
};

// Runs the last unit of the last row: it must read the end of the input and write the end of the
// output, which are far beyond 2^32.
template <Layout layout>
void expect_the_end(NormalizeParams p) {
  const std::uint64_t values = std::uint64_t{p.rows} * p.height * p.width * p.channels;
  const Sparse pixels(values);
  const Sparse out(values * sizeof(float));
  if (pixels.begin() == nullptr || out.begin() == nullptr) GTEST_SKIP() << "too few addresses";
  for (std::uint32_t c = 0; c < p.channels; ++c) {
    pixels.end()[-1 - std::int64_t{c}] = static_cast<std::uint8_t>(200 - c);
    p.scale[c] = 1;
  }
  p.pixels = pixels.begin();
  p.out = out.begin();
  const std::uint64_t units = normalize_units(p, layout, sizeof(float));
  normalize<Float32, layout>(p, {units - 1, p.rows - 1, 65535});
  float last = 0;
  std::memcpy(&last, out.end() - sizeof last, sizeof last);
  EXPECT_EQ(last, 200);
}

TEST_F(KernelLaunchTest, BatchesOfMoreThan4GibAreCountedIn64Bits) {
  for (const std::uint32_t width : {224U, 223U}) {
    expect_the_end<Layout::kChw>(sizes(70000, 224, width, 3));
    expect_the_end<Layout::kHwc>(sizes(70000, 224, width, 3));
  }
}

TEST_F(KernelLaunchTest, AnImageMayHaveNearly4Gib) {
  for (const std::uint32_t width : {65535U, 65532U}) {
    expect_the_end<Layout::kChw>(sizes(1, 65535, width, 1));
    expect_the_end<Layout::kHwc>(sizes(1, 65535, width, 1));
  }
  expect_the_end<Layout::kChw>(sizes(1, 35000, 40000, 3));
  expect_the_end<Layout::kHwc>(sizes(1, 35000, 40000, 3));
}

TEST_F(KernelLaunchTest, FlipsOfLargeBatchesAreCountedIn64Bits) {
  for (const std::uint32_t width : {224U, 223U}) {
    FlipParams p{};
    p.rows = 40000;
    p.height = 224;
    p.width = width;
    p.pixel_bytes = 3;
    const std::uint64_t image = 224ULL * width * 3;
    const Sparse pixels(image * p.rows);
    const Sparse out(image * p.rows);
    if (pixels.begin() == nullptr || out.begin() == nullptr) GTEST_SKIP() << "too few addresses";
    std::vector<std::uint8_t> flips(p.rows, 1);
    p.pixels = pixels.begin();
    p.out = out.begin();
    p.flips = flips.data();
    pixels.end()[-3 * std::int64_t{width} + 2] = 77;  // the first pixel of the last line
    flip(p, {flip_units(p) - 1, p.rows - 1, 65535});
    EXPECT_EQ(out.end()[-1], 77);
  }
}

}  // namespace
}  // namespace echoline::cuda_test
