// Both files are read into memory, because gzip has no random access.
#include "pack/pack_idx.h"

#include <fmt/core.h>
#include <png.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "record/arrays/array_header.h"

namespace echoline::cli {
namespace {

struct IdxFile {
  record::ArrayHeader header;
  std::vector<std::byte> bytes;  // header included
};

struct GzCloser {
  void operator()(gzFile file) const { gzclose_r(file); }
};

// zlib reads uncompressed files as they are.
Result<std::vector<std::byte>> read_gz(const std::string& path) {
  constexpr std::size_t kPiece = 1 << 20;
  const std::unique_ptr<gzFile_s, GzCloser> file(gzopen(path.c_str(), "rb"));
  if (!file) return errno_status(errno, "cannot open " + path);
  std::vector<std::byte> bytes;
  std::size_t filled = 0;
  while (true) {
    // The unpacked size is not known before.
    bytes.resize(filled + kPiece);
    const int got = gzread(file.get(), bytes.data() + filled, kPiece);
    int error = Z_OK;
    const char* const text = gzerror(file.get(), &error);
    // Z_STREAM_END is no error: the end of the file.
    if (got < 0 || (error != Z_OK && error != Z_STREAM_END)) {
      return Status(Code::kDataLoss, fmt::format("cannot unpack {}: {}", path, text));
    }
    filled += static_cast<std::size_t>(got);
    if (got == 0) break;
  }
  bytes.resize(filled);
  return bytes;
}

Result<IdxFile> read_idx(const std::string& path) {
  IdxFile file;
  ECHOLINE_ASSIGN(file.bytes, read_gz(path));
  auto header = record::parse_idx_header(file.bytes);
  if (!header.ok()) return header.status().with_context(path);
  file.header = std::move(*header);
  // A size that differs from the header means a truncated file.
  const std::uint64_t expected = file.header.header_bytes + file.header.data_bytes();
  if (file.bytes.size() != expected) {
    return Status(Code::kDataLoss, fmt::format("{} has {} bytes where its header says {}", path,
                                               file.bytes.size(), expected));
  }
  return file;
}

// "u8", "i16", "f32": the type for `as` and `shape` of a decode step.
std::string raw_extension(const record::ElementType& type) {
  const char kind = type.kind == record::ElementKind::kFloat      ? 'f'
                    : type.kind == record::ElementKind::kUnsigned ? 'u'
                                                                  : 'i';
  return fmt::format("{}{}", kind, type.bytes * 8);
}

Status encode_png(const std::byte* pixels, const std::vector<std::uint64_t>& shape,
                  std::string& out) {
  // The simplified interface of libpng.
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(shape[1]);
  image.width = static_cast<png_uint_32>(shape[2]);
  image.format = shape.size() == 4 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  // An upper bound; the second size is the real one.
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  out.resize(bytes);
  if (png_image_write_to_memory(&image, out.data(), &bytes, 0, pixels, 0, nullptr) == 0) {
    return Status(Code::kInternal, fmt::format("cannot write PNG: {}", image.message));
  }
  out.resize(bytes);
  return {};
}

bool fits_png(const record::ArrayHeader& header) {
  // [count, height, width], or with three channels.
  const bool gray = header.shape.size() == 3;
  const bool color = header.shape.size() == 4 && header.shape[3] == 3;
  return header.type.kind == record::ElementKind::kUnsigned && header.type.bytes == 1 &&
         (gray || color);
}

class IdxInput final : public PackInput {
 public:
  IdxInput(IdxFile images, std::optional<IdxFile> labels, bool png)
      : images_(std::move(images)), labels_(std::move(labels)), png_(png) {}

  std::uint64_t count() const override { return images_.header.shape[0]; }

  Status read(std::uint64_t record, PackItem& item) override {
    const record::ArrayHeader& header = images_.header;
    const std::uint64_t bytes = header.elements(1) * header.type.bytes;
    // Items follow each other behind the header.
    const auto raw = std::span(images_.bytes).subspan(header.header_bytes + record * bytes, bytes);
    item.label.reset();
    if (labels_) {
      // Room for the largest element type.
      std::array<std::byte, 8> element{};
      const std::uint64_t size = labels_->header.type.bytes;
      const auto label =
          std::span(labels_->bytes).subspan(labels_->header.header_bytes + record * size, size);
      record::copy_little_endian(label, labels_->header.type, element.data());
      item.label = record::element_text(labels_->header.type, element.data());
    }
    if (png_) {
      item.extension = "png";
      return encode_png(raw.data(), header.shape, item.data);
    }
    item.extension = raw_extension(header.type);
    item.data.resize(bytes);
    record::copy_little_endian(raw, header.type, reinterpret_cast<std::byte*>(item.data.data()));
    return {};
  }

 private:
  const IdxFile images_;
  const std::optional<IdxFile> labels_;
  const bool png_;
};

}  // namespace

Result<std::unique_ptr<PackInput>> open_idx_input(const PackOptions& options) {
  if (options.inputs.size() > 2) {
    return Status(Code::kInvalidArgument, "IDX inputs are one file of images and one of labels");
  }
  ECHOLINE_ASSIGN(IdxFile images, read_idx(options.inputs[0]));
  std::optional<IdxFile> labels;
  if (options.inputs.size() == 2) {
    ECHOLINE_ASSIGN(labels, read_idx(options.inputs[1]));
    // One label for each image, and nothing else in the file.
    if (labels->header.shape.size() != 1 || labels->header.shape[0] != images.header.shape[0]) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} holds no label for each of the {} images: images come first",
                                options.inputs[1], images.header.shape[0]));
    }
  }
  // Checked last: if labels and images are swapped, the error above is the helpful one.
  if (options.png && !fits_png(images.header)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} holds no uint8 images: pack it without --png", options.inputs[0]));
  }
  return std::unique_ptr<PackInput>(
      std::make_unique<IdxInput>(std::move(images), std::move(labels), options.png));
}

}  // namespace echoline::cli
