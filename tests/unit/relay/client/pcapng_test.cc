// The blocks, octet by octet, as the description of the format has them.
// tests/e2e/observation/test_capture.py reads such files with tshark.
#include "relay/client/pcapng.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <vector>

namespace satrelay::ctl::pcapng_test {
namespace {

struct Block {
  std::uint32_t type = 0;
  std::string body;
};

template <typename Number>
Number number(const std::string& bytes, std::size_t at) {
  Number value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::vector<Block> blocks_of(const std::string& file) {
  std::vector<Block> blocks;
  for (std::size_t at = 0; at < file.size();) {
    const auto size = number<std::uint32_t>(file, at + 4);
    EXPECT_EQ(size % 4, 0U);
    EXPECT_EQ(number<std::uint32_t>(file, at + size - 4), size);  // the size is at both ends
    blocks.push_back({number<std::uint32_t>(file, at), file.substr(at + 8, size - 12)});
    at += size;
  }
  return blocks;
}

TEST(Pcapng, HasASectionAnInterfaceItsPacketsAndWhatWasLost) {
  std::ostringstream out;
  PcapngWriter writer(out, {.name = "lan", .description = "", .filter = "tcp", .longest = 96},
                      "test");
  std::vector<std::byte> bytes(61, std::byte{0xab});
  writer.packet(0x1122334455667788, PcapngWriter::Way::kOutbound, 1500, bytes);
  writer.statistics(1, 10, 9);
  const auto blocks = blocks_of(out.str());
  ASSERT_EQ(blocks.size(), 4U);
  EXPECT_EQ(blocks[0].type, 0x0A0D0D0AU);
  EXPECT_EQ(number<std::uint32_t>(blocks[0].body, 0), 0x1A2B3C4DU);
  EXPECT_EQ(blocks[1].type, 1U);
  EXPECT_EQ(number<std::uint16_t>(blocks[1].body, 0), 1);  // Ethernet
  EXPECT_EQ(number<std::uint32_t>(blocks[1].body, 4), 96U);
  EXPECT_EQ(blocks[2].type, 6U);
  EXPECT_EQ(number<std::uint32_t>(blocks[2].body, 4), 0x11223344U);
  EXPECT_EQ(number<std::uint32_t>(blocks[2].body, 8), 0x55667788U);
  EXPECT_EQ(number<std::uint32_t>(blocks[2].body, 12), 61U);
  EXPECT_EQ(number<std::uint32_t>(blocks[2].body, 16), 1500U);
  EXPECT_EQ(number<std::uint16_t>(blocks[2].body, 20 + 64), 2);  // epb_flags
  EXPECT_EQ(number<std::uint32_t>(blocks[2].body, 20 + 64 + 4), 2U);
  EXPECT_EQ(blocks[3].type, 5U);
  EXPECT_EQ(number<std::uint64_t>(blocks[3].body, 12 + 4), 10U);
  EXPECT_EQ(number<std::uint64_t>(blocks[3].body, 12 + 16), 9U);
}

}  // namespace
}  // namespace satrelay::ctl::pcapng_test
