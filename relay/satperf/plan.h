// The plan of a run, which both ends know. It consists of the client's options, which the client
// sends to the server in its request.
#pragma once

#include <cstdint>

#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/session.h"

namespace satrelay::satperf {

inline constexpr std::uint16_t kDefaultPort = 7879;
inline constexpr std::uint16_t kSmallestSegment = 576;
inline constexpr std::uint16_t kSmallestSegmentV6 = 1280;  // RFC 8200 section 5
inline constexpr std::uint32_t kMostStreams = 1000;
// Payload is generated and checked in blocks of this size.
inline constexpr std::uint64_t kBlock = 64 * 1024;

enum class Direction : std::uint8_t {
  kForward,  // the client sends
  kReverse,  // the server sends
};
enum class End : std::uint8_t { kClient, kServer };

struct Plan {
  Direction direction = Direction::kForward;
  BitRate rate = BitRate::bits_per_second(10'000'000);  // the capacity from sender to receiver
  // The capacity from receiver to sender.
  BitRate return_rate = BitRate::bits_per_second(10'000'000);
  config::Controller controller = config::Controller::kFixedRate;  // controls the sender's rate
  stp::FeedbackMode feedback = stp::FeedbackMode::kAdaptive;
  BitRate feedback_budget = BitRate::bits_per_second(50'000);
  std::uint32_t overhead = 38;   // bytes that the link counts in addition to the IP packet
  std::uint16_t segment = 1500;  // size of the largest IP packet, in bytes
  // Payload of all streams together; 0 means that only `duration` limits the run.
  std::uint64_t bytes = 0;
  Duration duration;  // length of the run; zero means that only `bytes` limits the run
  std::uint32_t streams = 1;
  // One block in `crc_interval` is checked; 0 means that no block is checked.
  std::uint32_t crc_interval = 1;
  Duration interval = Duration::seconds(1);

  End sender() const { return direction == Direction::kForward ? End::kClient : End::kServer; }
};

}  // namespace satrelay::satperf
