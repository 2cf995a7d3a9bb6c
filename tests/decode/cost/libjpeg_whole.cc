// The measure of cost_test.py: decodes JPEG files completely with libjpeg-turbo, into rows of RGB
// that it throws away.
//   libjpeg_whole < list of files, one per line
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

// clang-format off
#include <jpeglib.h>  // after cstdio
// clang-format on

int main() {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  std::vector<JSAMPLE> pixels;
  for (std::string path; std::getline(std::cin, path);) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    pixels.resize(std::size_t{info.output_width} * 3);
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = pixels.data();
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
  }
  jpeg_destroy_decompress(&info);
}
