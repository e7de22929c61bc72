#include "relay/satlink/sizing.h"

#include <algorithm>

#include "relay/link/capacity.h"
#include "relay/link/serializer.h"

namespace satrelay::satlink {
namespace {

// Packets for the two ports: receive queues, send queues, bursts, and caches of the pool.
constexpr std::size_t kPortPackets = 10240;
constexpr std::size_t kFewestFrames = 16384;
constexpr std::size_t kSmallestIpFrame = 46;
// The delay times an unlimited rate would be infinite, so assume this rate instead.
constexpr BitRate kRateForUnlimited = BitRate::bits_per_second(1'000'000'000);

std::size_t frames_for(const config::LinkDirection& direction, std::size_t mtu,
                       std::size_t overhead) {
  const link::Peak peak = link::peak_of(direction);
  const BitRate rate = peak.unlimited ? std::max(peak.rate, kRateForUnlimited) : peak.rate;
  const ByteCount queue = link::Serializer(rate, direction.queue).limit();
  // Keep room for two frames for each waiting frame, since a frame may be delivered twice.
  const std::uint64_t places = link::frames_wait(direction) ? 2 : 1;
  const std::size_t bytes = rate.bytes_in(peak.time).value() + places * queue.value();
  const std::size_t of_full_size = bytes / (mtu + overhead) * 5 / 4 + 1024;
  const std::size_t of_any_size = bytes / (kSmallestIpFrame + overhead) + 1024;
  return std::max(of_full_size, std::min(of_any_size, kFewestFrames));
}

}  // namespace

Sizing size_for(const config::SatLink& config, std::size_t packet_bytes) {
  const std::size_t mtu = std::max(config.a.mtu, config.b.mtu);
  Sizing sizing;
  sizing.a_to_b_frames = frames_for(config.a_to_b, mtu, config.overhead);
  sizing.b_to_a_frames = frames_for(config.b_to_a, mtu, config.overhead);
  if (config.memory != ByteCount(0)) {
    // Divide the memory between the directions in proportion to their needs.
    const std::size_t wanted = sizing.a_to_b_frames + sizing.b_to_a_frames;
    const std::size_t given = std::max<std::size_t>(config.memory.value() / packet_bytes, 64);
    sizing.a_to_b_frames = std::max<std::size_t>(given * sizing.a_to_b_frames / wanted, 32);
    sizing.b_to_a_frames = std::max<std::size_t>(given - std::min(given, sizing.a_to_b_frames), 32);
  }
  sizing.packets = sizing.a_to_b_frames + sizing.b_to_a_frames + kPortPackets;
  return sizing;
}

}  // namespace satrelay::satlink
