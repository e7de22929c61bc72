#include "relay/gateway/flows/table/memory_plan.h"

#include <algorithm>
#include <bit>

#include "pep/stp/streams/credit/lane_share.h"
#include "relay/gateway/steering/lane_addresses.h"

namespace satrelay::gateway {
namespace {

constexpr Duration kLinkTime = Duration::seconds(4);
// If `limits.host_window` is not set, a host's window is large enough for this time: a round trip
// over two satellites, and some tenths of a second.
constexpr Duration kFlight = Duration::milliseconds(1250);
constexpr ByteCount kLeastHostWindow = ByteCount(4ULL << 20);
// The smallest arena if `limits.memory` is not set.
constexpr ByteCount kLeastUseful = ByteCount(64ULL << 20);
constexpr std::size_t kSmallestReserve = 512;
// If there are very many streams and no host reads, each stream has only its reserve. A block is
// then no larger than a stream's share of the lane. The share fits into the reserve, so every block
// becomes complete.
static_assert(kSmallestReserve >= stp::LaneShares::kShare);
// A large reserve holds whole segments, which then need no block.
constexpr std::size_t kLargestReserve = 4096;
// Large blocks cost less time, but leave more memory unused. In addition to the reserves there must
// be a block for each flow of the table, and some more for each of the flows that are busy at the
// same time.
constexpr std::size_t kLargestBlock = 4096;
constexpr std::uint64_t kBusyFlows = 4096;
constexpr std::uint64_t kBlocksOfABusyFlow = 4;

std::uint64_t receive_rate(const config::Gateway& config, const config::Peer& peer) {
  std::uint64_t rate = 0;
  for (const std::string& name : peer.links) {
    const auto link = std::ranges::find(config.links, name, &config::Link::name);
    if (link == config.links.end()) continue;
    rate += std::max<std::uint64_t>(link->receive_rate.to_bits_per_second(), 1);
  }
  return rate;
}

}  // namespace

MemoryPlan plan_memory(const config::Gateway& config, Share share) {
  MemoryPlan plan;
  config::Limits limits = config.limits;
  divide(limits, share.workers);
  plan.arena = limits.memory;
  ByteCount useful = plan.arena;  // memory that a small number of flows can use
  if (plan.arena == ByteCount(0)) {
    for (const config::Link& link : config.links) {
      plan.arena += link.planned_rate().bytes_in(kLinkTime) + link.receive_rate.bytes_in(kLinkTime);
    }
    useful = std::max(plan.arena, kLeastUseful);
    plan.arena = std::max(useful, config::kMemoryOfAFlow * limits.flows);
  }
  const std::uint64_t half = plan.arena.value() / 2;
  const std::uint64_t flows = std::max<std::uint64_t>(limits.flows, 1);
  plan.reserve_size = std::clamp<std::size_t>(std::bit_floor(half / (kStoresOfAFlow * flows)),
                                              kSmallestReserve, kLargestReserve);
  const std::uint64_t blocks = std::max(kBlocksOfABusyFlow * std::min(flows, kBusyFlows), flows);
  plan.block_size =
      std::clamp<std::size_t>(std::bit_floor(half / blocks), plan.reserve_size, kLargestBlock);
  // Three eighths of the arena are for credit. The peers share it in proportion to the rates at
  // which they can fill it. Memory that exists only because of many flows is no reason to store
  // more bytes of one flow.
  const std::uint64_t credit = plan.arena.value() / 8 * 3;
  const std::uint64_t useful_credit = useful.value() / 8 * 3;
  std::uint64_t rates = 0;
  for (const config::Peer& peer : config.peers) rates += receive_rate(config, peer);
  const auto explicit_limit = [&](std::uint64_t derived, std::uint64_t most) {
    const std::uint64_t given = config.limits.flow_memory.value();
    return given == 0 ? derived : std::min(given, most);
  };
  const ByteCount of_one_lane = plan.arena;
  const LaneAddresses lanes(config, share);
  for (const LaneId id : lanes.ids()) {
    const config::Peer& peer = config.peers[lanes[id].peer.index()];
    const unsigned sessions = lanes_of_worker(peer, share.workers);
    const unsigned sharing = limits.memory == ByteCount(0) ? 1 : sessions;
    const std::uint64_t part =
        quotient(static_cast<Uint128>(credit) * receive_rate(config, peer), rates) / sharing;
    plan.lane_receive_limit.push_back(part);
    // A single flow with a slow reader leaves a quarter of its lane to the other flows.
    const std::uint64_t useful_part =
        quotient(static_cast<Uint128>(useful_credit) * receive_rate(config, peer), rates) / sharing;
    plan.flow_receive_limit.push_back(
        explicit_limit(std::min(part, useful_part) / 4 * 3, part / 4 * 3));
    const bool is_further = id != lanes.first_of(lanes[id].peer);
    if (is_further && sharing == 1) plan.arena += ByteCount(part);
  }
  plan.flow_send_limit = explicit_limit(std::min(credit, useful_credit) / 4 * 3, credit / 4 * 3);
  // The bytes that the fastest link sends in kFlight.
  std::uint64_t window = config.limits.host_window.value();
  for (const config::Link& link : config.links) {
    if (config.limits.host_window != ByteCount(0)) break;
    window =
        std::max({window, kLeastHostWindow.value(), link.planned_rate().bytes_in(kFlight).value()});
  }
  window = std::min(window, of_one_lane.value() / 8);
  plan.host_window = explicit_limit(window, window);
  // Half of the memory that remains after the credit, the margin and the memory for the streams are
  // subtracted.
  plan.host_windows = of_one_lane.value() / 64 * 15;
  return plan;
}

}  // namespace satrelay::gateway
