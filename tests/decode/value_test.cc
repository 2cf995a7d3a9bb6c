// Numbers, arrays, text and bytes: which values are read, and the errors for the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decode/decode_one.h"

namespace echoline::decode {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Number, IsReadFromDecimalTextWithBlanksAround) {
  OneField label("key: 'cls' as: 'int64'");
  EXPECT_TRUE(label.type().fixed);
  EXPECT_EQ(label.type().shape.rank, 0U);
  ASSERT_TRUE(label.decode("-417\r\n", "cls").ok());
  EXPECT_EQ(label.number<std::int64_t>(), -417);
  ASSERT_TRUE(label.decode(" 9223372036854775807", "cls").ok());
  EXPECT_EQ(label.number<std::int64_t>(), INT64_MAX);
  OneField weight("key: 'w' as: 'float32'");
  ASSERT_TRUE(weight.decode("1.5e-3\n", "w").ok());
  EXPECT_EQ(weight.number<float>(), 1.5e-3F);
}

TEST(Number, ALabelThatIsNotANumberIsRefusedWithItsText) {
  OneField label("key: 'cls' as: 'int64'");
  for (const char* text : {"cat", "12 3", "1.5", "0x10", "+7", "--1", "12abc"}) {
    const Status status = label.decode(text, "cls");
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr(std::string("\"") + text + "\"")) << text;
    EXPECT_THAT(status.message(), HasSubstr("field value (cls)"));
  }
  EXPECT_THAT(label.decode("", "cls").message(), HasSubstr("empty"));
  EXPECT_THAT(label.decode("\n", "cls").message(), HasSubstr("blank"));
}

TEST(Number, BinaryIntegersAreRefused) {
  OneField label("key: 'cls' as: 'int32'");
  const Status status = label.decode(std::string("\x05\0\0\0", 4), "cls");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("\\x05\\x00"));
  EXPECT_THAT(status.message(), Not(HasSubstr("read.classes")));
}

TEST(Number, ANameIsRefusedWithAHintToTheClassesFile) {
  OneField label("key: 'cls' as: 'int64'");
  EXPECT_THAT(label.decode("n04310018", "cls").message(),
              HasSubstr("is no number of type int64; for labels that are names in a list of files, "
                        "name a file of classes in read.classes"));
}

TEST(Number, BeyondItsTypeIsRefused) {
  OneField byte("key: 'cls' as: 'uint8'");
  EXPECT_TRUE(byte.decode("255", "cls").ok());
  EXPECT_THAT(byte.decode("256", "cls").message(), HasSubstr("beyond the range of uint8"));
  EXPECT_EQ(byte.decode("-1", "cls").code(), Code::kInvalidArgument);
  OneField real("key: 'w' as: 'float32'");
  EXPECT_EQ(real.decode("1e99", "w").code(), Code::kInvalidArgument);
  EXPECT_EQ(real.decode("nan", "w").code(), Code::kInvalidArgument);
  EXPECT_EQ(real.decode("inf", "w").code(), Code::kInvalidArgument);
}

TEST(Array, HasExactlyTheBytesOfItsShape) {
  OneField array("key: 'bin' as: 'uint16' shape: [2, 3]");
  const std::string elements("\x01\0\x02\0\x03\0\x04\0\x05\0\x06\0", 12);
  ASSERT_TRUE(array.decode(elements, "bin").ok());
  EXPECT_EQ(array.bytes(), elements);
  EXPECT_EQ(array.tensor().shape, (Shape{{2, 3}, 2}));
  const Status status = array.decode(elements.substr(1), "bin");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("11 bytes; uint16 of shape [2, 3] have 12"));
}

std::string npy(const std::string& dictionary, const std::string& elements) {
  std::string file("\x93NUMPY\x01\0", 8);
  file += static_cast<char>(dictionary.size());
  file += '\0';
  return file + dictionary + elements;
}

TEST(Array, ANumpyFileOfTheSameTypeAndShapeIsReadToo) {
  OneField array("key: 'npy' as: 'float32' shape: [2]");
  const std::string elements(8, 'x');
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  ASSERT_TRUE(array.decode(npy(header, elements), "npy").ok());
  EXPECT_EQ(array.bytes(), elements);
  const auto refusal = [&](const std::string& dictionary, const std::string& data) {
    const Status status = array.decode(npy(dictionary, data), "npy");
    EXPECT_FALSE(status.ok());
    return status.message();
  };
  EXPECT_THAT(
      refusal("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", elements + elements),
      HasSubstr("holds float64 of shape [2]; float32 of shape [2] is configured"));
  EXPECT_THAT(refusal("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", elements),
              HasSubstr("'>f4'"));
  EXPECT_THAT(refusal("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", elements),
              HasSubstr("Fortran"));
  EXPECT_THAT(refusal(header, elements + "more"), HasSubstr("12 bytes"));
  EXPECT_THAT(refusal("{'shape': (2", elements), HasSubstr(".npy header"));
}

TEST(Array, EveryTruncationOfANumpyFileIsRefused) {
  OneField array("key: 'npy' as: 'float32' shape: [2]");
  const std::string whole =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", std::string(8, 'x'));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    if (length == 8) continue;  // the length of elements without a header: read as such
    EXPECT_FALSE(array.decode(whole.substr(0, length), "npy").ok()) << length;
  }
}

TEST(Array, OfBytesWithChannelsIsAnImage) {
  EXPECT_TRUE(OneField("key: 'b' as: 'uint8' shape: [28, 28, 1]").type().image);
  EXPECT_FALSE(OneField("key: 'b' as: 'uint8' shape: [28, 28]").type().image);
  EXPECT_FALSE(OneField("key: 'b' as: 'uint8' shape: [28, 28, 2]").type().image);
  EXPECT_FALSE(OneField("key: 'b' as: 'int8' shape: [28, 28, 1]").type().image);
}

TEST(RaggedArray, HasAnyNumberOfElementsUpToItsShape) {
  OneField boxes("key: 'bin' as: 'float32' shape: [3, 2] ragged: true");
  EXPECT_TRUE(boxes.type().ragged);
  EXPECT_FALSE(boxes.type().fixed);
  for (const std::size_t elements : {0U, 1U, 3U}) {
    ASSERT_TRUE(boxes.decode(std::string(8 * elements, 'x'), "bin").ok());
    EXPECT_EQ(boxes.tensor().shape, (Shape{{static_cast<std::uint32_t>(elements), 2}, 2}));
    EXPECT_EQ(boxes.bytes(), std::string(8 * elements, 'x'));
  }
  EXPECT_THAT(boxes.decode(std::string(32, 'x'), "bin").message(),
              HasSubstr("4 elements; shape allows up to 3"));
  EXPECT_THAT(boxes.decode(std::string(12, 'x'), "bin").message(),
              HasSubstr("12 bytes; float32 of shape [up to 3, 2] have a multiple of 8"));
}

TEST(RaggedArray, ANpyFileSaysHowManyElementsItHas) {
  OneField boxes("key: 'npy' as: 'float32' shape: [3, 2] ragged: true");
  const auto file = [](const char* shape, std::size_t bytes) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(shape) + "}",
               std::string(bytes, 'x'));
  };
  ASSERT_TRUE(boxes.decode(file("(2, 2)", 16), "npy").ok());
  EXPECT_EQ(boxes.tensor().shape, (Shape{{2, 2}, 2}));
  ASSERT_TRUE(boxes.decode(file("(0, 2)", 0), "npy").ok());
  EXPECT_EQ(boxes.bytes(), "");
  EXPECT_THAT(boxes.decode(file("(4, 2)", 32), "npy").message(), HasSubstr("4 elements"));
  EXPECT_THAT(boxes.decode(file("(2, 4)", 32), "npy").message(), HasSubstr("shape [2, 4]"));
  EXPECT_THAT(boxes.decode(file("(2, 2)", 12), "npy").message(), HasSubstr("12 bytes"));
}

TEST(Text, IsUnchangedUpToItsMaximumLength) {
  OneField text("key: 'txt' as: 'text' max_bytes: 8");
  EXPECT_TRUE(text.type().ragged);
  EXPECT_EQ(text.type().shape.sizes[0], 8U);
  ASSERT_TRUE(text.decode("gr\xC3\xBC\xC3\x9F\n", "txt").ok());
  EXPECT_EQ(text.bytes(), "gr\xC3\xBC\xC3\x9F\n");
  ASSERT_TRUE(text.decode("", "txt").ok());
  EXPECT_EQ(text.tensor().shape.sizes[0], 0U);
  EXPECT_TRUE(text.decode("12345678", "txt").ok());
  const Status status = text.decode("123456789", "txt");
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("9 bytes are more than max_bytes, 8"));
}

TEST(Text, MustBeUtf8AndBytesNeedNot) {
  OneField text("key: 'txt' as: 'text'");
  OneField bytes("key: 'txt' as: 'bytes'");
  EXPECT_TRUE(text.decode("\xF4\x8F\xBF\xBF \xED\x9F\xBF \xE0\xA0\x80 \xC2\x80", "txt").ok());
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xC3(", "a\xFF"}) {
    const Status status = text.decode(std::string("seven..") + bad, "txt");
    EXPECT_EQ(status.code(), Code::kDataLoss) << testing::PrintToString(bad);
    EXPECT_THAT(status.message(), HasSubstr(bad[0] == 'a' ? "byte 8" : "byte 7"));
    EXPECT_TRUE(bytes.decode(bad, "txt").ok());
  }
}

}  // namespace
}  // namespace echoline::decode
