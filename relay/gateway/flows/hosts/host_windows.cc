#include "relay/gateway/flows/hosts/host_windows.h"

#include <algorithm>

#include "relay/gateway/flows/flow_modes.h"

namespace satrelay::gateway {
namespace {

constexpr Duration kRetry = Duration::milliseconds(10);
constexpr Duration kReopen = Duration::milliseconds(100);
// The largest window for a host before the link has sent any of the host's bytes.
constexpr std::uint64_t kMostFirst = 64 * 1024;
// If the offered window is smaller than this, a timer makes the gateway try to enlarge it, since
// the host may not ask for a larger window soon.
constexpr std::uint64_t kSmallWindow = 8 * 1024;
// How many segments may be queued for a host in addition to those that its TCP can send now.
constexpr std::uint32_t kSpareSegments = 4;

// The amount by which `all` exceeds `that`; zero if `all` is not larger.
constexpr std::uint64_t beyond(std::uint64_t all, std::uint64_t that) {
  return all > that ? all - that : 0;
}

}  // namespace

HostWindows::HostWindows(const MemoryPlan& plan, const FlowStore& flows, const LanHosts& hosts)
    : flows_(flows),
      hosts_(hosts),
      host_window_(plan.host_window),
      host_windows_(plan.host_windows),
      reopening_(kReopen),
      retrying_(kRetry) {}

HostWindows::Means HostWindows::means(const Arena& part) const {
  const unsigned shift = part.block_shift();
  const std::uint64_t total = std::uint64_t{part.total_blocks()} << shift;
  // A margin for blocks of the arena that are only partly filled.
  const std::uint64_t margin = total / 32;
  // Memory for the streams into which the hosts' bytes are written, in addition to their reserves.
  const std::uint64_t for_streams = total / 8;
  // Peers may still send this many bytes, so as much must stay free.
  const std::uint64_t promised = part.promise_left();
  const std::uint64_t free = std::uint64_t{part.free_blocks()} << shift;
  if (!part.is_shared()) {
    const std::uint64_t flows = flows_.size();
    return {.spare = beyond(free, margin + promised),
            .kept_for_streams = beyond(for_streams, flows * part.reserve_size()),
            .host_windows = host_windows_,
            .flows = flows};
  }
  const std::uint64_t attainable = std::uint64_t{part.attainable_blocks()} << shift;
  const double share = static_cast<double>(beyond(attainable, part.promised())) /
                       static_cast<double>(std::max<std::uint64_t>(part.beside_promises(), 1));
  const auto scaled = [share](std::uint64_t bytes) {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) * share);
  };
  const std::uint64_t flows = part.reserves_held() / kStoresOfAFlow;
  const std::uint64_t spare = beyond(free, scaled(margin) + promised);
  return {.spare = spare,
          .sure = std::min(spare, beyond(part.kept(), promised)),
          .held = beyond(part.held(), part.promise_used()),
          .kept_for_streams = beyond(scaled(for_streams), flows * part.reserve_size()),
          .host_windows = scaled(host_windows_),
          .flows = flows};
}

// The window of a flow from which the link has sent nothing yet. Such flows together get at most
// half of the memory for hosts' windows, in equal parts. The other half is reserved for flows that
// the link already serves. So flows to far hosts that read nothing cannot use up that half, however
// many there are.
std::uint64_t HostWindows::first(const Means& means, LanHosts::Index host) const {
  const std::uint64_t kept = means.kept_for_streams + means.host_windows / 2;
  const std::uint64_t part = means.host_windows / 2 / std::max<std::uint64_t>(means.flows, 1);
  return std::min({host_window_, kMostFirst, std::max(part, kSmallWindow),
                   beyond(means.spare, kept) / 4, available(means, host)});
}

std::uint64_t HostWindows::first(const Arena& part, LanHosts::Index host) const {
  return first(means(part), host);
}

// The window is at most a quarter of the spare memory, and at most the host's part of that memory.
std::uint64_t HostWindows::limit(const Flow& f, const Means& there) const {
  const std::uint64_t most = beyond(there.spare, there.kept_for_streams) / 4;
  return std::min(
      {host_window_, most, f.endpoint.received().stored() + available(there, f.lan.host)});
}

void HostWindows::adjust(Flow& f, const Means& there, std::uint64_t ahead, Instant now) {
  const std::uint64_t own = part_of(f).reserve_size();
  const std::uint64_t most =
      std::min(std::max(std::min(limit(f, there), ahead), own), mirrored_window(f));
  f.endpoint.set_receive_limit(most);
  if (most < std::min(kSmallWindow, ahead)) {
    reopening_.bring_forward(f.timers.retry_at, flows_.size(), now);
  }
}

// A window that was offered cannot be withdrawn, and many windows together may promise more memory
// than there is. So each payload is checked.
bool HostWindows::crowds_streams(const Flow& f, const Means& there, std::size_t payload) const {
  return there.spare < there.kept_for_streams + payload ||
         available(there, f.lan.host) < std::max<std::size_t>(payload, 1);
}

bool HostWindows::crowds_streams(const Flow& f, std::size_t payload) const {
  return crowds_streams(f, means(f), payload);
}

void HostWindows::retry_later(Flow& f, Instant now) {
  retrying_.bring_forward(f.timers.retry_at, flows_.size(), now);
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

// Allows as many bytes as the host's TCP can have in flight now, and a few segments more, so that
// segments are full. The other bytes wait in the stream, which is limited by its credit. If the
// host reads nothing, a longer queue would use memory that other hosts need.
std::uint64_t HostWindows::allowance(const Flow& f) {
  const tcp::SendingView to_host = f.endpoint.sending();
  const std::uint64_t useful = std::min(to_host.congestion_window(), to_host.peer_window()) +
                               std::uint64_t{kSpareSegments} * to_host.segment_size();
  const std::uint64_t queued = to_host.unacknowledged();
  return useful > queued ? useful - queued : 0;
}

// A flow can always use its reserve, even if no memory is spare.
std::uint64_t HostWindows::memory_for_host(const Flow& f) const {
  const Means there = means(f);
  return std::max<std::uint64_t>(std::min(there.spare, available(there, f.lan.host)),
                                 part_of(f).reserve_size());
}

}  // namespace satrelay::gateway
