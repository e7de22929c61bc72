#include "relay/gateway/flows/hosts/awaited_reports.h"

#include <array>

#include "pep/base/bytes.h"

namespace satrelay::gateway {

AwaitedReports::AwaitedReports(HashKey secret, std::size_t room) : secret_(secret), nodes_(room) {}

// The hash is keyed, so that no peer can choose streams that collide.
std::uint64_t AwaitedReports::key_of(const StreamOf& of) const {
  std::array<std::byte, 16> bytes{};
  ByteWriter out(bytes);
  out.u32(of.lane.number());
  out.u32(of.era);
  out.u64(static_cast<std::uint64_t>(of.stream));
  return sip_hash(secret_, bytes);
}

std::optional<FlowRecord> AwaitedReports::remove(Node& node) {
  std::optional<FlowRecord> record;
  if (node.has_ended) record = node.record;
  by_age_.remove(node);
  nodes_.remove(node);
  return record;
}

AwaitedReports::Node& AwaitedReports::find_or_add(const StreamOf& of,
                                                  std::optional<FlowRecord>& given_up,
                                                  Instant now) {
  const std::uint64_t key = key_of(of);
  Node* node = nodes_.find(key);
  if (node == nullptr) {
    if (nodes_.full()) given_up = remove(*by_age_.front());
    node = &nodes_.add(key);
  }
  node->until = now + kPatience;
  by_age_.remove(*node);
  by_age_.push_back(*node);
  return *node;
}

std::optional<FlowRecord> AwaitedReports::expect(const StreamOf& of, std::uint32_t slot,
                                                 Instant now) {
  std::optional<FlowRecord> given_up;
  find_or_add(of, given_up, now).slot = slot;
  return given_up;
}

std::optional<FlowRecord> AwaitedReports::keep(const StreamOf& of, const FlowRecord& record,
                                               Instant now) {
  std::optional<FlowRecord> given_up;
  Node& node = find_or_add(of, given_up, now);
  if (node.has_ended) given_up = node.record;
  node.has_ended = true;
  node.record = record;
  return given_up;
}

AwaitedReports::Found AwaitedReports::take(const StreamOf& of) {
  Node* const node = nodes_.find(key_of(of));
  if (node == nullptr) return {};
  Found found;
  if (!node->has_ended) found.slot = node->slot;
  found.record = remove(*node);
  return found;
}

AwaitedReports::Expired AwaitedReports::take_expired(Instant now) {
  Node* const oldest = by_age_.front();
  if (oldest == nullptr || oldest->until > now) return {};
  return {.record = remove(*oldest), .more = true};
}

std::optional<FlowRecord> AwaitedReports::take_any() {
  while (Node* const oldest = by_age_.front()) {
    if (auto record = remove(*oldest)) return record;
  }
  return std::nullopt;
}

Instant AwaitedReports::next_expiry() const {
  const Node* const oldest = by_age_.front();
  return oldest == nullptr ? Instant::never() : oldest->until;
}

}  // namespace satrelay::gateway
