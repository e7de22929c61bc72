// Flows that wait for the far gateway's report about its LAN, which completes the record of the
// flow (lan_report.h). A flow enters the table when its stream ends. When the flow itself has
// ended, its record waits here, since the far host may take longer than the near host. Flows and
// records wait for a limited time, and share a table of fixed size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/containers/intrusive_list.h"
#include "pep/base/containers/keyed_pool.h"
#include "pep/base/time.h"
#include "pep/stp/types.h"
#include "relay/gateway/flows/flow_record.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class AwaitedReports {
 public:
  // A stream of a lane. Stream ids begin anew each time the peer restarts or closes. `era` counts
  // these events.
  struct StreamOf {
    LaneId lane;
    std::uint32_t era = 0;
    stp::StreamId stream{};
  };
  // If a far gateway has not reported within this time, it will not report.
  static constexpr Duration kPatience = Duration::seconds(10);
  // Enough entries for 10,000 ends of flows a second, if the round trip takes 700 ms and reports
  // are gathered for 100 ms.
  static constexpr std::size_t kRoom = 8192;

  explicit AwaitedReports(HashKey secret, std::size_t room = kRoom);

  // expect() records that the flow in `slot` no longer has a stream, but continues. keep() records
  // that the flow has ended. Both may return a record that must not wait any longer, because its
  // entry is needed, or because its stream now belongs to another flow.
  std::optional<FlowRecord> expect(const StreamOf& of, std::uint32_t slot, Instant now);
  std::optional<FlowRecord> keep(const StreamOf& of, const FlowRecord& record, Instant now);

  // Finds the flow that a report of the far gateway is about, and removes its entry. The result is
  // either the flow's `slot`, or the `record` of a flow that has ended.
  struct Found {
    std::optional<std::uint32_t> slot;
    std::optional<FlowRecord> record;
  };
  Found take(const StreamOf& of);
  // Removes the oldest entry if it has waited too long. `more` says that there may be more such
  // entries.
  struct Expired {
    std::optional<FlowRecord> record;
    bool more = false;
  };
  Expired take_expired(Instant now);
  // Removes and returns the record that has waited longest; nullopt if there is none.
  std::optional<FlowRecord> take_any();
  Instant next_expiry() const;

 private:
  struct Node {
    std::uint64_t key = 0;
    Node* chain = nullptr;
    ListHook<Node> hook;
    Instant until;
    std::uint32_t slot = 0;
    bool has_ended = false;
    FlowRecord record;  // valid if `has_ended`
  };

 public:
  static constexpr std::size_t kMemory = kRoom * (sizeof(Node) + sizeof(void*));

 private:
  std::uint64_t key_of(const StreamOf& of) const;
  Node& find_or_add(const StreamOf& of, std::optional<FlowRecord>& given_up, Instant now);
  std::optional<FlowRecord> remove(Node& node);

  HashKey secret_;
  KeyedPool<Node> nodes_;
  IntrusiveList<Node, &Node::hook> by_age_;
};

}  // namespace satrelay::gateway
