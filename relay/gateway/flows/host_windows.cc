#include "relay/gateway/flows/host_windows.h"

#include <algorithm>
#include <numeric>

#include "relay/gateway/flows/flow_modes.h"

namespace satrelay::gateway {
namespace {

constexpr Duration kRetry = Duration::milliseconds(10);
constexpr Duration kReopen = Duration::milliseconds(100);
// Over this time a flow's rate is taken: long enough for a few blocks of one of many.
constexpr Duration kPace = Duration::milliseconds(500);
// What the link takes in this time lies here at least, and beyond a round trip: a host whose bytes
// are late keeps nothing waiting, and a flow can grow.
constexpr Duration kLeastStored = Duration::milliseconds(400);
constexpr Duration kStoredBeyond = Duration::milliseconds(200);
// What a host may send before it is known how fast the link takes it.
constexpr std::uint64_t kFirstWindow = 64 * 1024;
// A window smaller than this is offered anew on a timer, as the host may not ask soon.
constexpr std::uint64_t kSmallWindow = 8 * 1024;
// Queued for a host beyond what its TCP can send now.
constexpr std::uint32_t kSpareSegments = 4;

}  // namespace

HostWindows::HostWindows(const MemoryPlan& plan, const Arena& arena, const FlowStore& flows)
    : arena_(arena),
      flows_(flows),
      host_window_(plan.host_window),
      host_windows_(plan.host_windows),
      promised_to_peers_(std::accumulate(plan.lane_receive_limit.begin(),
                                         plan.lane_receive_limit.end(), std::uint64_t{0})) {}

std::uint64_t HostWindows::spare() const {
  const std::uint64_t free = arena_.free_blocks() * arena_.block_size();
  // A margin for blocks that are not full.
  const std::uint64_t margin = arena_.total_blocks() * arena_.block_size() / 32;
  // A peer has never more stored than its limit.
  const std::uint64_t kept = margin + promised_to_peers_ - stored_of_peers_;
  return free > kept ? free - kept : 0;
}

// The streams into which the hosts' bytes go need room, beyond what each has to itself.
std::uint64_t HostWindows::kept_for_streams() const {
  const std::uint64_t wanted = arena_.total_blocks() * arena_.block_size() / 8;
  const std::uint64_t own = flows_.size() * arena_.reserve_size();
  return wanted > own ? wanted - own : 0;
}

// Half of the memory for hosts' windows is for flows that the link drains, in a fair part each; so
// however many others there are, whose far hosts read nothing, they cannot take that.
std::uint64_t HostWindows::first() const {
  const std::uint64_t free = spare();
  const std::uint64_t kept = kept_for_streams() + host_windows_ / 2;
  const std::uint64_t part = host_windows_ / 2 / std::max<std::uint64_t>(flows_.size(), 1);
  return std::min({host_window_, kFirstWindow, std::max(part, kSmallWindow),
                   free > kept ? (free - kept) / 4 : 0});
}

// As much as the link takes in a round trip and some tenths of a second, which bounds all windows
// together by what the links carry; and never more than a quarter of what is spare.
std::uint64_t HostWindows::limit(Flow& f, Duration round_trip, Instant now) const {
  const std::uint64_t free = spare();
  const std::uint64_t kept = kept_for_streams();
  const std::uint64_t paced =
      f.hot() == nullptr
          ? 0
          : f.hot()->drained.in(std::max(round_trip + kStoredBeyond, kLeastStored), kPace, now);
  return std::max(first(), std::min({host_window_, paced, free > kept ? (free - kept) / 4 : 0}));
}

void HostWindows::adjust(Flow& f, Duration round_trip, Instant now) const {
  const std::uint64_t most =
      std::min(std::max(limit(f, round_trip, now), own_store()), mirrored_window(f));
  f.endpoint.set_receive_limit(most);
  if (most < kSmallWindow) f.retry_at = earlier(f.retry_at, now + kReopen);
}

void HostWindows::note_drained(Flow& f, std::uint64_t bytes, Instant now) {
  // Of a host that has been silent for long nothing is remembered, until it sends again.
  if (FlowHot* hot = f.hot()) hot->drained.add(bytes, kPace, now);
}

// A promised window is not taken back, and many at once may promise more than there is.
bool HostWindows::crowds_streams(std::size_t payload) const {
  return spare() < kept_for_streams() + payload;
}

void HostWindows::retry_later(Flow& f, Instant now) {
  f.retry_at = earlier(f.retry_at, now + kRetry);
}

bool HostWindows::has_place() const {
  return flows_.free_slots() > 0 && arena_.free_reserves() >= kStoresOfAFlow;
}

bool HostWindows::has_place_for_host() const {
  return flows_.free_slots() > 0 &&
         arena_.free_reserves() >= kStoresOfAFlow + kStoresOfAStream * flows_.half_open();
}

bool HostWindows::has_window() const { return first() >= kSmallWindow; }

// What the host's TCP can have under way now, and a little more, so that segments are full. The
// rest waits in the stream, where its credit bounds it: what is queued for a host that reads
// nothing would be taken from those that read.
std::uint64_t HostWindows::allowance(const Flow& f) {
  const tcp::Endpoint& host = f.endpoint;
  const std::uint64_t useful = std::min(host.congestion_window(), host.peer_window()) +
                               std::uint64_t{kSpareSegments} * host.send_mss();
  const std::uint64_t queued = host.unacknowledged();
  return useful > queued ? useful - queued : 0;
}

// However little is spare, its reserve is the flow's.
std::uint64_t HostWindows::memory_for_host() const { return std::max(spare(), own_store()); }

}  // namespace satrelay::gateway
