// Numbers of one, two, four and eight bytes.
#include "pep/stp/wire/varint.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/stp/wire/transcript.h"

namespace satrelay::stp::test::varint_test {
namespace {

TEST(VarintTest, RoundTripsAtEveryEdge) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{64}, std::uint64_t{16383},
        std::uint64_t{16384}, (std::uint64_t{1} << 30) - 1, std::uint64_t{1} << 30, kMaxVarint}) {
    Buffer buffer;
    write_varint(buffer.out, value);
    EXPECT_EQ(buffer.out.written(), varint_size(value));
    ByteReader in(buffer.bytes());
    EXPECT_EQ(read_varint(in), value);
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), 0U);
    for (std::size_t cut = 0; cut < buffer.out.written(); ++cut) {
      ByteReader truncated(buffer.bytes().first(cut));
      read_varint(truncated);
      EXPECT_FALSE(truncated.ok());
    }
  }
}

}  // namespace
}  // namespace satrelay::stp::test::varint_test
