// Compares the bytes of a small ring with a file in git. A different byte means a new layout
// version.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hex_dump.h"
#include "small_ring.h"
#include "trainer.h"

namespace echoline::ring {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream stream(std::string(ECHOLINE_SOURCE_DIR) + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The content of a ring with 2 slots of 2 rows, after its first batch and a factor change
// and a change of weights, as a trainer sees it: header, fields, first descriptor, writer page,
// factor log, weight log.
std::string dump_small_ring() {
  RingSpec spec = small_spec(2, 2);
  spec.fields = {field("image", shm::kUint8, {28, 28}), ragged_field("tokens", shm::kUint16, {8})};
  spec.has_weights = true;
  const auto ring = make_ring(spec);
  shm::Descriptor descriptor{};
  descriptor.epoch = 1;
  descriptor.step = 7;
  descriptor.row = 14;
  descriptor.flags = shm::kEndOfEpoch;
  descriptor.valid_rows = 2;
  descriptor.fresh_rows = 1;
  (void)ring->publish(descriptor);
  ring->log_factor({.block = 3,
                    .rows = 250,
                    .rows_after = 200,
                    .since_row = 17,
                    .since_epoch = 1,
                    .epoch = 1,
                    .factor = 1500,
                    .reserved0 = 0});
  ring->log_weights({.row = 40,
                     .since_row = 17,
                     .since_epoch = 1,
                     .epoch = 1,
                     .source_count = 3,
                     .reserved0 = 0,
                     .weights = {500, 300, 200}});
  const auto reader = ring->add_reader(0);
  const Trainer trainer(ring->data_fd(), reader.value().cursor_fd, 0);
  const shm::RingHeader& header = trainer.header();
  shm::Descriptor first;
  std::memcpy(&first, trainer.section(header.descriptors), sizeof first);
  first.published_ns = 0;  // the only value that differs between runs
  const std::byte* base = trainer.section({0, 0});
  std::string text = hex_dump({base, sizeof header}, 0);
  text += hex_dump({trainer.section(header.fields), header.field_count * sizeof(shm::FieldEntry)},
                   header.fields.offset);
  text += hex_dump(std::as_bytes(std::span(&first, 1)), header.descriptors.offset);
  text += hex_dump({trainer.section(header.writer), sizeof(shm::WriterPage)}, header.writer.offset);
  text += hex_dump({trainer.section(header.factor_log), sizeof(shm::FactorLog)},
                   header.factor_log.offset);
  text += hex_dump({trainer.section(header.weight_log), sizeof(shm::WeightLog)},
                   header.weight_log.offset);
  return text;
}

TEST(Golden, TheBytesOfLayout1EqualTheFileInGit) {
  const std::string dump = dump_small_ring();
  // The bytes of this build, to compare them after a failure. A new layout version adds its own
  // file.
  std::ofstream(std::string(ECHOLINE_BINARY_DIR) + "/layout_now.hex") << dump;
  EXPECT_EQ(dump, text_of("tests/ring/golden/layout_1_4.hex"));
}

TEST(Golden, TheDocumentShowsTheSameBytes) {
  const std::string document = text_of("docs/ring_format.md");
  const std::string dump = text_of("tests/ring/golden/layout_1_4.hex");
  ASSERT_FALSE(dump.empty());
  EXPECT_NE(document.find("```\n" + dump + "```"), std::string::npos)
      << "docs/ring_format.md does not hold tests/ring/golden/layout_1_4.hex";
}

}  // namespace
}  // namespace echoline::ring
