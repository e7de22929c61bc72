#include "relay/gateway/flows/host_windows.h"

#include <algorithm>

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

HostWindows::HostWindows(const MemoryPlan& plan, const FlowStore& flows, const LanHosts& hosts)
    : flows_(flows),
      hosts_(hosts),
      host_window_(plan.host_window),
      host_windows_(plan.host_windows),
      reopening_(kReopen),
      retrying_(kRetry) {}

HostWindows::Means HostWindows::means(const Arena& part) const {
  const std::uint64_t block = part.block_size();
  const std::uint64_t total = part.total_blocks() * block;
  Means means{.host_windows = host_windows_, .flows = flows_.size()};
  // A margin for blocks that are not full.
  std::uint64_t margin = total / 32;
  // The streams into which the hosts' bytes go need room, beyond what each has to itself.
  std::uint64_t for_streams = total / 8;
  if (part.is_shared()) {
    const std::uint64_t attainable = part.attainable_blocks() * block;
    const std::uint64_t beside = attainable - std::min(attainable, part.promised());
    const double share = static_cast<double>(beside) /
                         static_cast<double>(std::max<std::uint64_t>(part.beside_promises(), 1));
    const auto scaled = [share](std::uint64_t bytes) {
      return static_cast<std::uint64_t>(static_cast<double>(bytes) * share);
    };
    margin = scaled(margin);
    for_streams = scaled(for_streams);
    means.host_windows = scaled(host_windows_);
    means.flows = part.reserves_held() / kStoresOfAFlow;
  }
  const std::uint64_t own = means.flows * part.reserve_size();
  means.kept_for_streams = for_streams > own ? for_streams - own : 0;
  // A peer has never more stored than its limit.
  const std::uint64_t free = part.free_blocks() * block;
  const std::uint64_t kept = margin + part.promise_left();
  means.spare = free > kept ? free - kept : 0;
  if (part.is_shared()) {
    means.sure = std::min(means.spare, part.kept() - std::min(part.kept(), part.promise_left()));
    means.held = part.held() - std::min(part.held(), part.promise_used());
  }
  return means;
}

// Half of the memory for hosts' windows is for flows that the link drains, in a fair part each; so
// however many others there are, whose far hosts read nothing, they cannot take that.
std::uint64_t HostWindows::first(const Means& means, LanHosts::Index host) const {
  const std::uint64_t kept = means.kept_for_streams + means.host_windows / 2;
  const std::uint64_t part = means.host_windows / 2 / std::max<std::uint64_t>(means.flows, 1);
  return std::min({host_window_, kFirstWindow, std::max(part, kSmallWindow),
                   means.spare > kept ? (means.spare - kept) / 4 : 0, available(means, host)});
}

std::uint64_t HostWindows::first(const Arena& part, LanHosts::Index host) const {
  return first(means(part), host);
}

// As much as the link takes in a round trip and some tenths of a second, which bounds all windows
// together by what the links carry; and never more than a quarter of what is spare, nor than its
// host's part of that.
std::uint64_t HostWindows::limit(const Flow& f, Duration round_trip, Instant now) const {
  const Means there = means(part_of(f));
  const std::uint64_t kept = there.kept_for_streams;
  const std::uint64_t paced =
      f.hot() == nullptr
          ? 0
          : f.hot()->drained.in(std::max(round_trip + kStoredBeyond, kLeastStored), kPace, now);
  const std::uint64_t most = there.spare > kept ? (there.spare - kept) / 4 : 0;
  return std::min(std::max(first(there, f.host), std::min({host_window_, paced, most})),
                  f.endpoint.received().stored() + available(there, f.host));
}

void HostWindows::adjust(Flow& f, Duration round_trip, Instant now) {
  const std::uint64_t own = part_of(f).reserve_size();
  const std::uint64_t most = std::min(std::max(limit(f, round_trip, now), own), mirrored_window(f));
  f.endpoint.set_receive_limit(most);
  if (most < kSmallWindow) reopening_.bring_forward(f.retry_at, flows_.size(), now);
}

void HostWindows::note_drained(Flow& f, std::uint64_t bytes, Instant now) {
  // Of a host that has been silent for long nothing is remembered, until it sends again.
  if (FlowHot* hot = f.hot()) hot->drained.add(bytes, kPace, now);
}

// A promised window is not taken back, and many at once may promise more than there is.
bool HostWindows::crowds_streams(const Flow& f, std::size_t payload) const {
  const Means there = means(part_of(f));
  return there.spare < there.kept_for_streams + payload ||
         available(there, f.host) < std::max<std::size_t>(payload, 1);
}

void HostWindows::retry_later(Flow& f, Instant now) {
  retrying_.bring_forward(f.retry_at, flows_.size(), now);
}

bool HostWindows::has_place(const Arena& part) const {
  return flows_.free_slots() > 0 && part.free_reserves() >= kStoresOfAFlow;
}

bool HostWindows::has_place_for_host(const Arena& part, std::uint64_t half_open,
                                     std::uint64_t half_open_of_all) const {
  const auto needed = [](std::uint64_t waiting) {
    return kStoresOfAFlow + kStoresOfAStream * waiting;
  };
  return flows_.free_slots() > 0 && (part.sure_reserves() >= needed(half_open) ||
                                     part.free_reserves() >= needed(half_open_of_all));
}

bool HostWindows::has_window(const Arena& part, LanHosts::Index host) const {
  return first(part, host) >= kSmallWindow;
}

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
std::uint64_t HostWindows::memory_for_host(const Flow& f) const {
  const Means there = means(part_of(f));
  return std::max<std::uint64_t>(std::min(there.spare, available(there, f.host)),
                                 part_of(f).reserve_size());
}

}  // namespace satrelay::gateway
