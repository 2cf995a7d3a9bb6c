// Runs the decode and augmentation steps of a stream on files, and writes each tensor to a .npy
// file, which another program can compare. A line has the files of a record, separated by tabs;
// their extensions are the keys.
//   pipeline_dump STREAM.textproto OUT_FOLDER [EPOCH USE] < records, one per line
// Sample ids count them from 0. Prints one line per record: "ok", or "CODE message".
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/text_format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <list>
#include <sstream>
#include <string>

#include "augment/chain.h"
#include "decode/decoder.h"
#include "echoline/v1/config.pb.h"

namespace echoline {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string numpy_type(shm::DType dtype) {
  const std::string name(shm::dtype_name(dtype));
  return fmt::format("<{}{}", name[0], shm::dtype_bytes(dtype));
}

void write_npy(const std::string& path, const decode::FieldType& type, const decode::Shape& shape,
               std::span<const std::byte> bytes) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   numpy_type(type.dtype), fmt::join(shape.span(), ", "),
                                   shape.rank == 1 ? "," : "");
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() & 0xFF)
       << static_cast<char>(header.size() >> 8) << header;
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

class Dump {
 public:
  Dump(const v1::Stream& stream, std::string folder)
      : stream_(stream), folder_(std::move(folder)) {}

  Status compile() {
    for (const v1::Step& step : stream_.pipeline()) {
      if (!step.has_decode()) continue;
      ECHOLINE_ASSIGN(decoder_, decode::Decoder::compile(step.decode()));
    }
    ECHOLINE_ASSIGN(chain_, augment::Chain::compile(stream_, decoder_->fields()));
    decode_scratch_ = decoder_->make_scratch();
    augment_scratch_ = chain_->make_scratch();
    return {};
  }

  Status run(const std::string& paths, const UseKey& key) {
    std::list<std::string> texts;  // extensions and bytes, which the record refers to
    record::Fields record;
    std::istringstream line(paths);
    for (std::string path; std::getline(line, path, '\t');) {
      const std::string& extension = texts.emplace_back(path.substr(path.rfind('.') + 1));
      const std::string& bytes = texts.emplace_back(read_file(path));
      record.fields.push_back({extension, std::as_bytes(std::span(bytes))});
    }
    const auto part_of = [&](std::size_t field, const decode::ImageSize& size) {
      return chain_->part_of(field, size, key);
    };
    ECHOLINE_TRY(decoder_->decode_parts(record, part_of, *decode_scratch_, sample_));
    const auto types = chain_->outputs_for(sample_).value();
    std::vector<Buffer> buffers(types.size());
    std::vector<std::span<std::byte>> rows;
    std::vector<std::uint64_t> lengths(types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      buffers[i].resize(types[i].shape.elements() * shm::dtype_bytes(types[i].dtype));
      rows.push_back(buffers[i].span());
    }
    ECHOLINE_TRY(chain_->run(sample_, key, *augment_scratch_, rows, lengths));
    for (std::size_t i = 0; i < types.size(); ++i) {
      decode::Shape shape = types[i].shape;
      const std::size_t size = types[i].ragged ? lengths[i] : buffers[i].size();
      if (types[i].ragged) {
        shape.sizes[0] = static_cast<std::uint32_t>(size / types[i].inner_bytes());
      }
      write_npy(fmt::format("{}/{}_{}.npy", folder_, key.sample, types[i].name), types[i], shape,
                buffers[i].span().first(size));
    }
    return {};
  }

 private:
  const v1::Stream& stream_;
  const std::string folder_;
  std::unique_ptr<decode::Decoder> decoder_;
  std::unique_ptr<augment::Chain> chain_;
  std::unique_ptr<decode::Scratch> decode_scratch_;
  std::unique_ptr<augment::Scratch> augment_scratch_;
  decode::Sample sample_;
};

int dump(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::cerr << "usage: pipeline_dump STREAM.textproto OUT_FOLDER [EPOCH USE] < files\n";
    return 2;
  }
  v1::Stream stream;
  if (!google::protobuf::TextFormat::ParseFromString(read_file(argv[1]), &stream)) return 2;
  UseKey key{.seed = stream.seed(), .sample = 0, .epoch = 0, .use = 0};
  if (argc == 5) {
    key.epoch = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
    key.use = static_cast<std::uint16_t>(std::strtoul(argv[4], nullptr, 10));
  }
  Dump dumper(stream, argv[2]);
  if (const Status status = dumper.compile(); !status.ok()) {
    std::cerr << status.message() << '\n';
    return 1;
  }
  for (std::string path; std::getline(std::cin, path); ++key.sample) {
    const Status status = dumper.run(path, key);
    std::cout << (status.ok() ? "ok"
                              : fmt::format("{} {}", to_string(status.code()), status.message()))
              << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace echoline

int main(int argc, char** argv) { return echoline::dump(argc, argv); }
