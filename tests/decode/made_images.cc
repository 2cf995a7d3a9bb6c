#include "decode/made_images.h"

#include <cstdio>
#include <cstdlib>
#include <random>

// clang-format off
#include <avif/avif.h>
#include <jpeglib.h>
#include <png.h>
#include <webp/encode.h>
// clang-format on

namespace echoline::decode {
namespace {

// The offset of the frame header (SOF0 or SOF2).
std::size_t frame_header(const std::string& jpeg) {
  for (std::size_t at = 2; at + 4 < jpeg.size();) {
    const auto marker = static_cast<unsigned char>(jpeg[at + 1]);
    if (marker == 0xC0 || marker == 0xC2) return at;
    at += 2 + (static_cast<unsigned char>(jpeg[at + 2]) << 8 |
               static_cast<unsigned char>(jpeg[at + 3]));
  }
  std::abort();
}

}  // namespace

std::vector<std::uint8_t> made_pixels(std::uint32_t height, std::uint32_t width,
                                      std::uint32_t channels) {
  std::vector<std::uint8_t> pixels;
  std::uint32_t noise = 1;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        noise = noise * 1664525 + 1013904223;
        const std::uint32_t slope = (c == 0 ? x * 200 / width : y * 200 / height) + 20 * c;
        pixels.push_back(static_cast<std::uint8_t>(slope + (noise >> 28)));
      }
    }
  }
  return pixels;
}

std::string made_jpeg(std::uint32_t height, std::uint32_t width, bool progressive) {
  JpegStyle style;
  style.progressive = progressive;
  return made_jpeg(height, width, style);
}

std::string made_jpeg(std::uint32_t height, std::uint32_t width, const JpegStyle& style) {
  std::vector<std::uint8_t> pixels = made_pixels(height, width, style.channels);
  std::minstd_rand random(height * 1000 + width);
  if (style.noise) {
    for (std::uint8_t& value : pixels) value = random() % 2 == 0 ? 0 : 255;
  }
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* made = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&info, &made, &bytes);
  info.image_height = height;
  info.image_width = width;
  info.input_components = static_cast<int>(style.channels);
  info.in_color_space = style.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, style.quality, TRUE);
  info.comp_info[0].h_samp_factor = style.wide;
  info.comp_info[0].v_samp_factor = style.high;
  info.restart_interval = style.restart_mcus;
  info.restart_in_rows = static_cast<int>(style.restart_rows);
  if (style.arithmetic) info.arith_code = TRUE;
  if (style.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < height) {
    JSAMPROW row = pixels.data() + std::size_t{info.next_scanline} * width * style.channels;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<char*>(made), bytes);
  std::free(made);
  return file;
}

std::string made_png(std::uint32_t height, std::uint32_t width) {
  const std::vector<std::uint8_t> pixels = made_pixels(height, width, 3);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = 0;
  if (png_image_write_to_memory(&image, nullptr, &bytes, 0, pixels.data(), 0, nullptr) == 0)
    std::abort();
  std::string file(bytes, '\0');
  png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels.data(), 0, nullptr);
  return file;
}

std::string made_webp(std::uint32_t height, std::uint32_t width, bool lossless) {
  const std::vector<std::uint8_t> pixels = made_pixels(height, width, 3);
  const int wide = static_cast<int>(width);
  const int high = static_cast<int>(height);
  std::uint8_t* made = nullptr;
  const std::size_t bytes = lossless
                                ? WebPEncodeLosslessRGB(pixels.data(), wide, high, wide * 3, &made)
                                : WebPEncodeRGB(pixels.data(), wide, high, wide * 3, 80, &made);
  if (bytes == 0) std::abort();
  std::string file(reinterpret_cast<char*>(made), bytes);
  WebPFree(made);
  return file;
}

std::string made_avif(std::uint32_t height, std::uint32_t width, bool lossless, int frames) {
  std::vector<std::uint8_t> pixels = made_pixels(height, width, 3);
  const auto format = lossless ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420;
  avifImage* image = avifImageCreate(static_cast<int>(width), static_cast<int>(height), 8, format);
  if (lossless) image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_IDENTITY;
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, image);
  rgb.format = AVIF_RGB_FORMAT_RGB;
  rgb.pixels = pixels.data();
  rgb.rowBytes = width * 3;
  if (avifImageRGBToYUV(image, &rgb) != AVIF_RESULT_OK) std::abort();
  avifEncoder* encoder = avifEncoderCreate();
  encoder->speed = AVIF_SPEED_FASTEST;
  encoder->minQuantizer = lossless ? AVIF_QUANTIZER_LOSSLESS : 10;
  encoder->maxQuantizer = encoder->minQuantizer;
  const auto flags = frames == 1 ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE;
  for (int i = 0; i < frames; ++i) {
    if (avifEncoderAddImage(encoder, image, 1, flags) != AVIF_RESULT_OK) std::abort();
  }
  avifRWData made = AVIF_DATA_EMPTY;
  if (avifEncoderFinish(encoder, &made) != AVIF_RESULT_OK) std::abort();
  std::string file(reinterpret_cast<char*>(made.data), made.size);
  avifRWDataFree(&made);
  avifEncoderDestroy(encoder);
  avifImageDestroy(image);
  return file;
}

std::string with_size(std::string jpeg, std::uint32_t height, std::uint32_t width) {
  const std::size_t at = frame_header(jpeg) + 5;
  jpeg[at] = static_cast<char>(height >> 8);
  jpeg[at + 1] = static_cast<char>(height);
  jpeg[at + 2] = static_cast<char>(width >> 8);
  jpeg[at + 3] = static_cast<char>(width);
  return jpeg;
}

std::string with_steps(std::string jpeg, std::uint32_t seed) {
  constexpr std::size_t kSteps = 64;
  constexpr std::size_t kHead = 5;  // marker, length, and the number of the table
  std::minstd_rand random(seed);
  for (std::size_t at = jpeg.find("\xFF\xDB"); at != std::string::npos;
       at = jpeg.find("\xFF\xDB", at + kHead + kSteps)) {
    for (std::size_t i = 0; i < kSteps; ++i) jpeg[at + kHead + i] = static_cast<char>(random());
  }
  return jpeg;
}

std::string without_segments(const std::string& jpeg, std::uint8_t marker) {
  std::string kept = jpeg.substr(0, 2);
  std::size_t at = 2;
  for (std::uint8_t found = 0; found != 0xDA;) {
    found = static_cast<std::uint8_t>(jpeg[at + 1]);
    const std::size_t bytes = 2 + (static_cast<unsigned char>(jpeg[at + 2]) << 8 |
                                   static_cast<unsigned char>(jpeg[at + 3]));
    if (found != marker) kept += jpeg.substr(at, bytes);
    at += bytes;
  }
  return kept + jpeg.substr(at);
}

std::string with_more_scans(const std::string& jpeg, int count) {
  const std::size_t begin = jpeg.find("\xFF\xDA");
  std::size_t end = begin + 2;
  // In the data of a scan, 0 follows every 0xFF; another byte is a marker.
  while (jpeg[end] != '\xFF' || jpeg[end + 1] == '\0') ++end;
  std::string more = jpeg.substr(0, end);
  for (int i = 0; i < count; ++i) more += jpeg.substr(begin, end - begin);
  return more + jpeg.substr(end);
}

std::string with_orientation(const std::string& jpeg, std::uint8_t orientation) {
  std::string exif("Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 24);
  exif += static_cast<char>(orientation);
  exif += std::string(7, '\0');
  std::string segment("\xFF\xE1\0", 3);
  segment += static_cast<char>(exif.size() + 2);
  return jpeg.substr(0, 2) + segment + exif + jpeg.substr(2);
}

}  // namespace echoline::decode
