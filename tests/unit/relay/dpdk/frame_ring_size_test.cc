// The ring of a packet socket fits frames and the kernel's rules.
#include "relay/dpdk/frame_ring_size.h"

#include <gtest/gtest.h>

namespace satrelay::dpdk {
namespace {

TEST(FrameRingSize, FitsTheFrameAndTheKernelsRules) {
  for (const unsigned mtu : {576U, 1500U, 1960U, 1961U, 2000U, 4000U, 8999U, 9000U}) {
    const auto size = FrameRingSize::for_mtu(static_cast<std::uint16_t>(mtu));
    EXPECT_GE(size.frame_size, 66 + 14 + 8 + mtu);
    EXPECT_EQ(size.frame_size % 16, 0U);    // TPACKET_ALIGNMENT
    EXPECT_EQ(size.block_size % 4096, 0U);  // pages
    EXPECT_EQ(size.block_size % size.frame_size, 0U) << "slots must follow each other";
    EXPECT_EQ(size.frame_count % (size.block_size / size.frame_size), 0U);
  }
}

}  // namespace
}  // namespace satrelay::dpdk
