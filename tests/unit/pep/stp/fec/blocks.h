// Both halves of forward error correction against each other: what the sender writes, through the
// frame's codec, into the receiver, with packets taken out on the way.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "pep/base/random.h"
#include "pep/stp/fec/fec.h"
#include "pep/stp/packets/received_packets.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp::test {

using Waiting = FecSender::Waiting;
using Frames = std::vector<std::byte>;

inline constexpr std::size_t kDatagram = 1472;
inline constexpr std::size_t kLargestFrames = kDatagram - 12 - kMaxRepairOverhead;
inline constexpr Duration kRoundTrip = Duration::milliseconds(500);

struct RepairCatcher : IgnoreFrames {
  std::optional<RepairFrame>& caught;
  using IgnoreFrames::operator();
  void operator()(const RepairFrame& frame) const { caught = frame; }
};

inline std::optional<RepairFrame> parse(ConstBytes frames) {
  std::optional<RepairFrame> frame;
  return walk_frames(frames, RepairCatcher{{}, frame}) ? frame : std::nullopt;
}

// A path on which each packet takes 100 us to leave.
class Blocks : public ::testing::Test {
 protected:
  Frames random_frames(std::size_t size) {
    Frames frames(size);
    for (std::byte& b : frames) b = static_cast<std::byte>(random.below(256));
    return frames;
  }
  // Sends a packet that is protected or not; it arrives unless it is lost.
  std::uint64_t send(std::size_t size, bool is_lost, bool is_protected = true,
                     FecSender::Purpose purpose = {}) {
    const std::uint64_t number = next++;
    now += Duration::microseconds(100);
    const Frames frames = random_frames(size);
    if (is_protected) out.sender.add(number, frames, purpose, now);
    if (is_lost) {
      lost.emplace(number, frames);
    } else {
      received.record(number, now);
      if (is_protected) {
        in.receiver.handle_packet(number, frames, received, now);
        take_repaired();
      }
    }
    return number;
  }
  // Sends what repairs may leave until nothing does for the time of a block.
  std::size_t send_repairs(Waiting waiting = Waiting::kNothing,
                           const std::set<std::size_t>& lose = {}) {
    std::size_t sent = 0;
    for (int i = 0; i < 400; ++i) {
      dropped += out.sender.advance(waiting, next, kRoundTrip, now);
      while (out.sender.ready(waiting, next, now)) send_repair(lose.contains(sent++));
      now += Duration::microseconds(100);
    }
    return sent;
  }
  void send_repair(bool is_lost) {
    Frames room(kDatagram - 12);
    ByteWriter writer(room);
    const std::uint64_t number = next++;
    ASSERT_TRUE(out.sender.write(writer, number, now));
    if (is_lost) return;
    const auto frame = parse(ConstBytes(room).first(writer.written()));
    ASSERT_TRUE(frame.has_value());
    received.record(number, now);
    in.receiver.handle_repair(*frame, number, received, now);
    take_repaired();
  }
  void take_repaired() {
    for (const FecReceiver::Packet& packet : in.receiver.repaired()) {
      ASSERT_TRUE(lost.contains(packet.number)) << packet.number;
      EXPECT_TRUE(std::ranges::equal(lost[packet.number], packet.frames)) << packet.number;
      lost.erase(packet.number);
      received.record_repaired(packet.number);
    }
  }

  Random random{11};
  Fec out{kDatagram};
  Fec in{kDatagram};
  ReceivedPackets received;
  std::map<std::uint64_t, Frames> lost;  // not given back yet
  std::uint64_t next = 0;
  std::size_t dropped = 0;
  Instant now = Instant::from_nanoseconds(1'000'000'000);
};

}  // namespace satrelay::stp::test
