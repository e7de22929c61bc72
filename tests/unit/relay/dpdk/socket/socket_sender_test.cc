// The messages that a kernel gets, and what happens to the refused ones.
#include "relay/dpdk/socket/socket_sender.h"

#include <cerrno>
#include <deque>
#include <vector>

#include "pep/wire/segmenter.h"
#include "tests/unit/pep/wire/large_frame.h"
#include "tests/unit/relay/dpdk/device/packet_fixture.h"

namespace satrelay::dpdk::socket_sender_test {
namespace {

using wire::LargeFrame;
constexpr std::size_t kMss = 1448;

struct Sent {
  OffloadHeader head;
  std::vector<std::byte> frame;
};

// A kernel that answers as `answers` says. 0 takes one message, and any other number is an error.
// Once no answers are left, it takes all messages.
std::vector<Sent> taken;
std::deque<int> answers;
bool knows_udp = true;
constexpr std::size_t kNoLimit = ~std::size_t{0};
std::size_t most_bytes = kNoLimit;  // octets of the longest frame that the device takes or cuts
std::size_t refused = 0;            // frames that were longer

int fake_sendmmsg(int, mmsghdr* messages, unsigned count, int) {
  unsigned sent = 0;
  while (sent < count) {
    const int answer = answers.empty() ? 0 : answers.front();
    if (answer != 0 && sent > 0) break;  // the next call reports it
    if (!answers.empty()) answers.pop_front();
    errno = answer;
    if (answer != 0) return -1;
    const msghdr& message = messages[sent].msg_hdr;
    Sent each;
    std::memcpy(&each.head, message.msg_iov[0].iov_base, sizeof each.head);
    if (!knows_udp && each.head.kind == OffloadHeader::kUdp) {
      errno = EINVAL;
      if (sent > 0) break;
      return -1;
    }
    for (std::size_t i = 1; i < message.msg_iovlen; ++i) {
      const auto* begin = static_cast<const std::byte*>(message.msg_iov[i].iov_base);
      each.frame.insert(each.frame.end(), begin, begin + message.msg_iov[i].iov_len);
    }
    if (each.frame.size() > most_bytes) {
      if (sent > 0) break;
      ++refused;
      errno = ENOBUFS;
      return -1;
    }
    taken.push_back(std::move(each));
    ++sent;
  }
  return static_cast<int>(sent);
}

class SocketSenderTest : public PacketTest {
 protected:
  void SetUp() override {
    taken.clear();
    answers.clear();
    knows_udp = true;
    most_bytes = kNoLimit;
    refused = 0;
  }
  void TearDown() override { EXPECT_EQ(used(), 0U); }

  // Puts the pieces of a large frame into the burst, as this program would write them.
  static void put(Burst& burst, const LargeFrame& large) {
    const auto frame = large.write();
    auto segmenter = wire::Segmenter::of(
        frame, large.is_tcp ? wire::SegmentedProtocol::kTcp : wire::SegmentedProtocol::kUdp, kMss);
    while (!segmenter->done()) {
      Packet packet = pool().allocate();
      packet.set_size(segmenter->next_size());
      segmenter->write_next(packet.mutable_bytes());
      burst.push(std::move(packet));
    }
  }

  SocketSender sender{-1, SocketSender::LargeFrames::kWhereTaken, fake_sendmmsg};
};

TEST_F(SocketSenderTest, MakesOneFrameOfConsecutiveSegments) {
  const LargeFrame large{.payload = 5 * kMss + 9};
  Burst burst;
  burst.push(packet_of(60, 1));
  put(burst, large);
  burst.push(packet_of(60, 2));
  EXPECT_EQ(sender.send(burst, 0), 8U);
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0].head.kind, OffloadHeader::kNotLarge);
  EXPECT_EQ(taken[0].frame.size(), 60U);
  EXPECT_EQ(taken[1].frame, large.write());
  EXPECT_EQ(taken[1].head.kind, OffloadHeader::kTcpV4);
  EXPECT_EQ(taken[1].head.flags, OffloadHeader::kNeedsChecksum);
  EXPECT_EQ(taken[1].head.segment_size, kMss);
  EXPECT_EQ(taken[1].head.header_size, 14 + 20 + 32);
  EXPECT_EQ(taken[1].head.checksum_start, 34);
  EXPECT_EQ(taken[1].head.checksum_offset, 16);
  EXPECT_EQ(sender.counters().frames, 8U);
  EXPECT_EQ(sender.counters().large, 1U);
  EXPECT_EQ(sender.counters().bytes, 120U + 6 * 66U + 5 * kMss + 9);
}

TEST_F(SocketSenderTest, AChecksumIsLeftToTheKernel) {
  Burst burst;
  put(burst, {.tags = 1, .payload = 333});
  Packet packet = burst.pop();
  packet.leave_checksum(38);
  burst.push(std::move(packet));
  put(burst, {.sequence = 5, .payload = 333});
  EXPECT_EQ(sender.send(burst, 0), 2U);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].head.flags, OffloadHeader::kNeedsChecksum);
  EXPECT_EQ(taken[0].head.kind, OffloadHeader::kNotLarge);
  EXPECT_EQ(taken[0].head.checksum_start, 38);
  EXPECT_EQ(taken[0].head.checksum_offset, 16);
  EXPECT_EQ(taken[1].head.flags, 0);
}

TEST_F(SocketSenderTest, SendsNoneWhereItIsToldNotTo) {
  SocketSender plain{-1, SocketSender::LargeFrames::kNever, fake_sendmmsg};
  Burst burst;
  put(burst, {.payload = 3 * kMss});
  EXPECT_EQ(plain.send(burst, 0), 3U);
  EXPECT_EQ(taken.size(), 3U);
}

TEST_F(SocketSenderTest, AKernelThatKnowsNoUdpGetsDatagrams) {
  knows_udp = false;
  const LargeFrame datagrams{.is_tcp = false, .payload = 4 * kMss};
  Burst burst;
  put(burst, datagrams);
  EXPECT_EQ(sender.send(burst, 0), 4U) << "the same call cuts them";
  EXPECT_EQ(taken.size(), 4U);
  put(burst, datagrams);
  put(burst, {.payload = 2 * kMss});
  EXPECT_EQ(sender.send(burst, 0), 6U);
  EXPECT_EQ(taken.size(), 9U) << "TCP leaves as one";
  EXPECT_EQ(sender.counters().errors, 0U);
}

TEST_F(SocketSenderTest, ADeviceThatCannotCutLosesNothing) {
  most_bytes = 1600;
  Burst burst;
  for (std::size_t sent = 4; sent <= 40; sent += 4) {
    put(burst, {.payload = 4 * kMss});
    while (!burst.empty()) sender.send(burst, 0);
    EXPECT_EQ(taken.size(), sent);
  }
  EXPECT_EQ(sender.counters().errors, 0U);
  EXPECT_EQ(refused, 4U) << "two calls each for four and for two frames: it is believed then";
  taken.clear();
  most_bytes = kNoLimit;
  // The interface has come back, and may be another one.
  put(burst, {.payload = 4 * kMss});
  EXPECT_EQ(sender.send(burst, 1), 4U);
  EXPECT_EQ(taken.size(), 1U);
}

TEST_F(SocketSenderTest, WhatFindsNoRoomWaitsOnce) {
  Burst burst;
  for (std::uint8_t i = 0; i < 4; ++i) burst.push(packet_of(60, i));
  answers = {0, ENOBUFS};
  EXPECT_EQ(sender.send(burst, 0), 1U);
  EXPECT_EQ(burst.size(), 3U);
  answers = {ENOBUFS, 0, EAGAIN};
  EXPECT_EQ(sender.send(burst, 0), 2U) << "one dropped, one sent";
  EXPECT_EQ(sender.counters().errors, 1U);
  EXPECT_EQ(burst.size(), 1U);
  for (int i = 0; i < 5; ++i) {
    answers = {EAGAIN};
    EXPECT_EQ(sender.send(burst, 0), 0U) << "the socket's own buffer is full: no loss";
  }
  EXPECT_EQ(sender.send(burst, 0), 1U);
  EXPECT_EQ(sender.counters().frames, 3U);
}

TEST_F(SocketSenderTest, AnInterfaceThatIsDownTakesAll) {
  Burst burst;
  for (std::uint8_t i = 0; i < 4; ++i) burst.push(packet_of(60, i));
  answers = {ENETDOWN};
  EXPECT_EQ(sender.send(burst, 0), 0U) << "it may be an error of before";
  answers = {ENETDOWN};
  EXPECT_EQ(sender.send(burst, 0), 4U);
  EXPECT_EQ(sender.counters().down, 4U);
}

TEST_F(SocketSenderTest, AFrameThatIsRefusedDoesNotStopOthers) {
  Burst burst;
  for (std::uint8_t i = 0; i < 3; ++i) burst.push(packet_of(60, i));
  answers = {EMSGSIZE, 0, EINVAL, EINVAL};
  EXPECT_EQ(sender.send(burst, 0), 3U);
  EXPECT_EQ(sender.counters().errors, 2U);
  EXPECT_EQ(taken.size(), 1U);
  EXPECT_EQ(sender.counters().errors_of_receiver, 0U);
}

// The device's segmentation offload is switched off while the port runs. The link does not change.
TEST_F(SocketSenderTest, ADeviceThatCutsNoMoreLosesNothing) {
  Burst burst;
  put(burst, {.payload = 4 * kMss});
  EXPECT_EQ(sender.send(burst, 0), 4U);
  EXPECT_EQ(taken.size(), 1U);
  most_bytes = 1600;
  for (int i = 0; i < 100; ++i) {
    put(burst, {.payload = 4 * kMss});
    while (!burst.empty()) sender.send(burst, 0);
  }
  EXPECT_EQ(sender.counters().errors, 0U);
  EXPECT_EQ(taken.size(), 401U);
  EXPECT_EQ(refused, 4U);
}

TEST_F(SocketSenderTest, ADeviceThatTakesNoMoreThanSoMuchGetsSoMuch) {
  most_bytes = 8000;
  Burst burst;
  for (int i = 0; i < 10; ++i) {
    put(burst, {.payload = 20 * kMss});
    while (!burst.empty()) sender.send(burst, 0);
  }
  EXPECT_EQ(sender.counters().errors, 0U);
  EXPECT_EQ(sender.counters().frames, 200U);
  EXPECT_EQ(refused, 4U) << "20 and 10 frames, twice each; 5 are taken";
  EXPECT_GE(sender.counters().large, 30U);
}

// A device that refused a kind may only have been busy, so the kind is tried again.
TEST_F(SocketSenderTest, WhatWasRefusedOnceIsTriedAgain) {
  most_bytes = 1600;
  Burst burst;
  for (int i = 0; i < 4; ++i) {
    put(burst, {.payload = 2 * kMss});
    while (!burst.empty()) sender.send(burst, 0);
  }
  most_bytes = kNoLimit;
  EXPECT_EQ(sender.counters().large, 0U);
  for (std::size_t sent = 0; sent <= 2 * LargeSendKinds::kTrial + 8; sent += 2) {
    put(burst, {.payload = 2 * kMss});
    while (!burst.empty()) sender.send(burst, 0);
    taken.clear();
  }
  EXPECT_GT(sender.counters().large, 0U);
}

// A call of the receiver has left the error on the shared socket.
TEST_F(SocketSenderTest, AnErrorOfTheReceiverCostsNothing) {
  Burst burst;
  burst.push(packet_of(60, 1));
  answers = {EINVAL};
  EXPECT_EQ(sender.send(burst, 0), 1U);
  EXPECT_EQ(sender.counters().errors, 0U);
  put(burst, {.payload = 4 * kMss});
  answers = {EINVAL};
  sender.send(burst, 0);
  taken.clear();
  put(burst, {.payload = 4 * kMss});
  sender.send(burst, 0);
  EXPECT_EQ(taken.size(), 1U) << "it was no word on large frames";
  EXPECT_EQ(sender.counters().errors_of_receiver, 2U);
}

// Nor does an error count that comes again while the device is busy.
TEST_F(SocketSenderTest, AnErrorOfTheReceiverIsNoWordOnFramesOfAnotherRound) {
  Burst burst;
  put(burst, {.payload = 4 * kMss});
  for (int round = 0; round < 3; ++round) {
    answers = {EINVAL, EAGAIN};
    EXPECT_EQ(sender.send(burst, 0), 0U);
  }
  EXPECT_EQ(sender.counters().errors_of_receiver, 3U);
  sender.send(burst, 0);
  EXPECT_EQ(taken.size(), 1U) << "large frames go on";
  burst.push(packet_of(60, 1));
  answers = {EINVAL, ENOBUFS};
  EXPECT_EQ(sender.send(burst, 0), 0U);
  answers = {EINVAL};
  EXPECT_EQ(sender.send(burst, 0), 1U);
  EXPECT_EQ(sender.counters().errors, 0U);
}

}  // namespace
}  // namespace satrelay::dpdk::socket_sender_test
