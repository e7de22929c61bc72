#include "relay/gateway/flows/table/flow_store.h"

#include <algorithm>
#include <utility>

#include "relay/gateway/flows/account.h"

namespace satrelay::gateway {

// There may be 100,000 flows. State that few flows need, or that is rarely needed, is behind a
// pointer.
static_assert(sizeof(Flow) <= 680);

FlowStore::FlowStore(std::uint32_t most_flows, HashKey secret)
    : flows_(most_flows),
      live_slots_(most_flows),
      table_(most_flows, secret),
      by_id_(most_flows),
      timers_(most_flows),
      ring_(most_flows) {
  free_slots_.reserve(most_flows);
  for (std::uint32_t slot = most_flows; slot > 0; --slot) free_slots_.push_back(slot - 1);
}

std::uint32_t FlowStore::add(std::unique_ptr<Flow> flow) {
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  flow->beginning.id = ++flows_so_far_;
  table_.insert(flow->key, slot);
  by_id_.insert(flow->beginning.id, slot);
  live_slots_.set(slot);
  count(*flow);
  ++size_;
  ++changes_;
  flows_[slot] = std::move(flow);
  return slot;
}

void FlowStore::remove(std::uint32_t slot) {
  const Flow& f = *flows_[slot];
  count_back(f);
  table_.erase(f.key, slot);
  timers_.set(slot, Instant::never());
  by_id_.erase(slot);
  live_slots_.clear(slot);
  flows_[slot].reset();
  free_slots_.push_back(slot);
  --size_;
  ++changes_;
}

std::unique_ptr<Flow> FlowStore::lift(std::uint32_t slot) {
  count_back(*flows_[slot]);
  by_id_.erase(slot);
  return std::move(flows_[slot]);
}

void FlowStore::put_back(std::uint32_t slot, std::unique_ptr<Flow> flow) {
  count(*flow);
  by_id_.insert(flow->beginning.id, slot);
  timers_.set(slot, flow->timers.armed);
  ++changes_;
  flows_[slot] = std::move(flow);
}

void FlowStore::count(const Flow& f) {
  if (f.is_half_open()) ++half_open_;
  if (f.state.is_over()) ++over_;
}

void FlowStore::count_back(const Flow& f) {
  if (f.is_half_open()) --half_open_;
  if (f.state.is_over()) --over_;
}

void FlowStore::prefetch(std::uint32_t slot) const {
  constexpr std::size_t kLine = 64;
  const auto* const begin = reinterpret_cast<const std::byte*>(flows_[slot].get());
  for (std::size_t at = 0; at < sizeof(Flow); at += kLine) __builtin_prefetch(begin + at);
}

std::uint32_t FlowStore::find(std::uint64_t id, WorkCount& work) const {
  for (std::uint32_t slot = by_id_.first(id); slot != kNoSlot; slot = by_id_.next(slot)) {
    work.add();
    if (flows_[slot]->beginning.id == id) return slot;
  }
  return kNoSlot;
}

void FlowStore::arm(std::uint32_t slot, Instant due) {
  Flow& f = *flows_[slot];
  if (due >= f.timers.armed) return;
  f.timers.armed = due;
  timers_.set(slot, due);
}

std::optional<std::uint32_t> FlowStore::take_due(Instant now) {
  if (timers_.next_deadline() > now) return std::nullopt;
  const std::uint32_t slot = timers_.next_slot();
  timers_.set(slot, Instant::never());
  flows_[slot]->timers.armed = Instant::never();
  return slot;
}

std::uint32_t FlowStore::step_scan() {
  const std::uint32_t slot = live_slots_.from(scan_next_);
  const std::uint32_t next = slot == kNoSlot ? slots() : slot + 1;
  scan_left_ -= std::min(scan_left_, next - scan_next_);
  scan_next_ = slot == kNoSlot ? 0 : next;
  return slot;
}

void FlowStore::complete_handshake(Flow& f) {
  if (f.is_half_open()) --half_open_;
  f.state.complete_handshake();
}

void FlowStore::note_over(Flow& f) {
  if (f.state.is_over()) return;
  f.state.note_over();
  ++over_;
}

std::optional<std::string> FlowStore::audit() const {
  std::uint64_t live = 0, half_open = 0;
  for (const auto& each : flows_) {
    if (each == nullptr) continue;
    ++live;
    half_open += each->is_half_open() ? 1 : 0;
    if (!each->endpoint.received().is_stored()) {
      return "a host's byte lies nowhere: flow " + std::to_string(each->beginning.id);
    }
  }
  if (live != size_) return differ("flows", size_, live);
  if (half_open != half_open_) return differ("half-open flows", half_open_, half_open);
  return std::nullopt;
}

void FlowStore::add_held(ArenaUse& use) const {
  for (std::uint32_t slot = from(0); slot != kNoSlot; slot = from(slot + 1)) {
    const auto held = flows_[slot]->endpoint.memory().blocks_held();
    use.from_hosts += held.received;
    use.to_hosts += held.to_send;
    use.reserves += held.reserves;
  }
}

}  // namespace satrelay::gateway
