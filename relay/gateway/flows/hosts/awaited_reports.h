// Flows that wait for the far gateway's report about its LAN, to complete their record
// (lan_report.h). A flow enters the table when its stream ends. When the flow itself has ended, its
// record waits here, as the far host may take longer than the near host. Both wait for a limited
// time, and the table has a fixed size for both.
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
  // A stream of a lane. `era`: how often the peer had been started anew or had closed, as stream
  // ids begin anew then.
  struct StreamOf {
    LaneId lane;
    std::uint32_t era = 0;
    stp::StreamId stream{};
  };
  // A far gateway that has reported nothing for this long will not report.
  static constexpr Duration kPatience = Duration::seconds(10);
  // Room for 10,000 ends a second, if the round trip takes 700 ms and reports are gathered for 100
  // ms.
  static constexpr std::size_t kRoom = 8192;

  explicit AwaitedReports(HashKey secret, std::size_t room = kRoom);

  // expect(): the flow in `slot` no longer has a stream, but goes on. keep(): the flow has ended.
  // Both may return a record that must wait no longer, because its room is needed or its stream
  // belongs to another flow.
  std::optional<FlowRecord> expect(const StreamOf& of, std::uint32_t slot, Instant now);
  std::optional<FlowRecord> keep(const StreamOf& of, const FlowRecord& record, Instant now);

  // The far gateway's report is about the flow in this slot, or about this record. Neither waits
  // any longer.
  struct Found {
    std::optional<std::uint32_t> slot;
    std::optional<FlowRecord> record;
  };
  Found take(const StreamOf& of);
  // The oldest entry that has waited too long. `more`: there may be others.
  struct Expired {
    std::optional<FlowRecord> record;
    bool more = false;
  };
  Expired take_expired(Instant now);
  // The record that has waited longest; nullopt: there is none.
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
