// Readers and writers that never pass the end of their buffer.
#include "pep/base/bytes.h"

#include <gtest/gtest.h>

#include <array>

namespace satrelay::bytes_test {
namespace {

TEST(ByteReader, FailsForGoodPastTheEnd) {
  std::array<std::byte, 15> bytes{};
  ByteWriter writer(bytes);
  writer.u8(0x01);
  writer.u16(0x0203);
  writer.u32(0x04050607);
  writer.u64(0x08090a0b0c0d0e0f);
  EXPECT_TRUE(writer.ok());
  writer.u8(0xff);
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(writer.written(), 15U);
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(load_u8(&bytes[i]), i + 1);

  ByteReader reader(bytes);
  EXPECT_EQ(reader.u8(), 0x01U);
  EXPECT_EQ(reader.u16(), 0x0203U);
  EXPECT_EQ(reader.u32(), 0x04050607U);
  EXPECT_EQ(reader.bytes(4).size(), 4U);
  EXPECT_EQ(reader.remaining(), 4U);
  EXPECT_EQ(reader.u64(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0U);  // a failed reader yields nothing more
}

TEST(ByteWriter, AFailedWriteChangesNothing) {
  std::array<std::byte, 3> bytes{};
  ByteWriter writer(bytes);
  writer.u32(0xffff'ffffU);
  EXPECT_FALSE(writer.ok());
  writer.u8(0xff);  // would fit, but the writer has failed already
  EXPECT_TRUE(writer.reserve(1).empty());
  EXPECT_EQ(writer.written(), 0U);
  for (const std::byte b : bytes) EXPECT_EQ(b, std::byte{0});
}

}  // namespace
}  // namespace satrelay::bytes_test
