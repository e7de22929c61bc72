// How the gateway's memory is shared between flows: what hosts may send, what is queued for them,
// and whether there is room for one flow more.
#include <algorithm>

#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/flows/flow_relay.h"

namespace satrelay::gateway {
namespace {

constexpr Duration kRetry = Duration::milliseconds(10);
constexpr Duration kReopen = Duration::milliseconds(100);
// What a host may send before it is known how fast the link takes it.
constexpr std::uint64_t kFirstWindow = 64 * 1024;
// A window smaller than this is offered anew on a timer, as the host may not ask soon.
constexpr std::uint64_t kSmallWindow = 8 * 1024;
// Queued for a host beyond what its TCP can send now.
constexpr std::uint32_t kSpareSegments = 4;

}  // namespace

std::uint64_t FlowRelay::spare_memory() const {
  const std::uint64_t free = arena_.free_blocks() * arena_.block_size();
  // A margin for blocks that are not full.
  const std::uint64_t margin = arena_.total_blocks() * arena_.block_size() / 32;
  // A peer has never more stored than its limit.
  const std::uint64_t kept = margin + promised_to_peers_ - stored_of_peers_;
  return free > kept ? free - kept : 0;
}

// The streams into which the hosts' bytes go need room, beyond what each has to itself.
std::uint64_t FlowRelay::kept_for_streams() const {
  const std::uint64_t wanted = arena_.total_blocks() * arena_.block_size() / 8;
  const std::uint64_t own = flows_.size() * kOwnBlocks * arena_.block_size();
  return wanted > own ? wanted - own : 0;
}

// Half of the memory for hosts' windows is for flows that the link drains, in a fair part each; so
// however many others there are, whose far hosts read nothing, they cannot take that.
std::uint64_t FlowRelay::first_window() const {
  const std::uint64_t spare = spare_memory();
  const std::uint64_t kept = kept_for_streams() + plan_.host_windows / 2;
  const std::uint64_t part = plan_.host_windows / 2 / std::max<std::uint64_t>(flows_.size(), 1);
  return std::min({plan_.host_window, kFirstWindow, std::max(part, kSmallWindow),
                   spare > kept ? (spare - kept) / 4 : 0});
}

// As much as the link takes in some tenths of a second, which bounds all windows together by what
// the links carry; and never more than a quarter of what is spare.
std::uint64_t FlowRelay::window_limit(Flow& f, Instant now) const {
  const std::uint64_t spare = spare_memory();
  const std::uint64_t kept = kept_for_streams();
  const std::uint64_t paced = 2 * f.drained.amount(kPace, now);
  return std::max(first_window(),
                  std::min({plan_.host_window, paced, spare > kept ? (spare - kept) / 4 : 0}));
}

void FlowRelay::adjust_window(Flow& f, Instant now) {
  const std::uint64_t limit =
      std::min(std::max(window_limit(f, now), own_store()), mirrored_window(f));
  f.endpoint.set_receive_limit(limit);
  if (limit < kSmallWindow) f.retry_at = earlier(f.retry_at, now + kReopen);
}

void FlowRelay::retry_later(Flow& f, Instant now) {
  f.retry_at = earlier(f.retry_at, now + kRetry);
}

std::optional<Counter> FlowRelay::lack_of_room(std::size_t peer) const {
  if (flows_.free_slots() == 0) return Counter::kBridgedTableFull;
  if (!has_place() || first_window() < kSmallWindow || !peers_[peer]->session.has_lane_share()) {
    return Counter::kBridgedMemoryLow;
  }
  return std::nullopt;
}

bool FlowRelay::has_place() const {
  constexpr std::size_t kStores = 4;
  return flows_.free_slots() > 0 && arena_.free_blocks() >= kStores * kOwnBlocks;
}

// What the host's TCP can have under way now, and a little more, so that segments are full. The
// rest waits in the stream, where its credit bounds it: what is queued for a host that reads
// nothing would be taken from those that read.
std::uint64_t FlowRelay::host_allowance(const Flow& f) {
  const tcp::Endpoint& host = f.endpoint;
  const std::uint64_t useful = std::min(host.congestion_window(), host.peer_window()) +
                               std::uint64_t{kSpareSegments} * host.send_mss();
  const std::uint64_t queued = host.unacknowledged();
  return useful > queued ? useful - queued : 0;
}

}  // namespace satrelay::gateway
