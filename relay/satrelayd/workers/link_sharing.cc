#include "relay/satrelayd/workers/link_sharing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "pep/base/typed_id.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/shares/rate_shares.h"
#include "relay/gateway/steering/lane_addresses.h"

namespace satrelay::satrelayd {

LinkSharing::LinkSharing(const config::Gateway& config, const Engines& engines,
                         std::function<void()> wake_first, Instant now)
    : wake_first_(std::move(wake_first)) {
  const auto workers = static_cast<unsigned>(engines.size());
  IdVector<gateway::FarGatewayId, std::size_t> lanes;
  for (const config::Peer& peer : config.peers) {
    lanes.push_back(gateway::lanes_of_worker(peer, workers));
  }
  const std::size_t all = std::accumulate(lanes.begin(), lanes.end(), std::size_t{0});
  // A single worker has nothing to share, unless it has several lanes (sessions) to a peer.
  if (workers == 1 && all == lanes.size()) return;
  division_.emplace(workers, config.links.size(), lanes, now - gateway::kShareTick);
  for (unsigned i = 0; i < workers; ++i) {
    members_.push_back(std::make_unique<Member>(engines[i], config.links.size(), all));
    heard_.emplace_back(config.links.size(), all, now);
    Member& member = *members_.back();
    member.engine.rates().write_demands(member.demands, now);
    member.slot.write(member.demands);
  }
  divide(now);
  for (const auto& member : members_) {
    if (member->slot.read(member->shares)) member->engine.rates().take_shares(member->shares, now);
  }
}

// True if the worker has data to send, or has sent data since the previous call.
bool LinkSharing::is_busy(Member& member) {
  std::uint64_t sent = 0;
  bool waits = false;
  for (const gateway::LinkDemand& link : member.demands.links) {
    sent += link.sent;
    waits = waits || link.waiting != 0;
  }
  return std::exchange(member.sent, sent) != sent || waits;
}

void LinkSharing::hear(unsigned worker, Instant now) {
  const Member& member = *members_[worker];
  Heard& heard = heard_[worker];
  const std::uint64_t ticks = member.ticks.load(std::memory_order_relaxed);
  if (std::exchange(heard.ticks, ticks) != ticks) heard.at = now;
  // If the read fails, keep the earlier demands.
  if (member.slot.read(heard.demands)) division_->demands(worker) = heard.demands;
  // Treat a silent worker as if it had nothing to send. Otherwise a worker that hangs would keep
  // its share forever.
  if (now - heard.at <= kSilence) return;
  division_->demands(worker).rest();
  if (now - heard.at <= kDeafAfter) return;
  for (gateway::LinkTerms& terms : division_->demands(worker).terms) terms.is_heard = false;
}

void LinkSharing::divide(Instant now) {
  for (unsigned i = 0; i < members_.size(); ++i) hear(i, now);
  division_->divide(now);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i]->slot.write(division_->shares(static_cast<unsigned>(i)));
  }
  first_rests_.store(division_->is_at_rest(), std::memory_order_relaxed);
}

void LinkSharing::tick(unsigned worker, Instant now) {
  if (members_.empty()) return;
  Member& member = *members_[worker];
  if (now < member.next) return;
  member.next = now + gateway::kShareTick;
  member.engine.rates().write_demands(member.demands, now);
  member.slot.write(member.demands);
  member.ticks.fetch_add(1, std::memory_order_relaxed);
  member.is_busy = is_busy(member);
  if (worker == 0) {
    divide(now);
  } else if (member.is_busy && first_rests_.load(std::memory_order_relaxed)) {
    wake_first_();
  }
  if (member.slot.read(member.shares)) member.engine.rates().take_shares(member.shares, now);
}

Instant LinkSharing::next_timeout(unsigned worker) const {
  if (members_.empty()) return Instant::never();
  const Member& member = *members_[worker];
  const bool ticks = worker == 0 ? !division_->is_at_rest() : member.is_busy;
  return ticks ? member.next : Instant::never();
}

}  // namespace satrelay::satrelayd
