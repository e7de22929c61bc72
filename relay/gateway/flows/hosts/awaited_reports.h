// Flows whose record lacks what the far gateway has yet to say of its LAN (lan_report.h). A flow is
// known here from the end of its stream; when it has ended itself its record waits here, as the far
// host may take longer than ours. Neither waits for long, and there is a fixed room for both.
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

namespace satrelay::gateway {

class AwaitedReports {
 public:
  // A stream of a session. `era`: its number since the peer was started last, as ids begin anew.
  struct StreamOf {
    std::uint32_t session = 0;
    std::uint32_t era = 0;
    stp::StreamId stream{};
  };
  // Who has said nothing for so long will not.
  static constexpr Duration kPatience = Duration::seconds(10);
  // 10,000 a second end with a round trip of 700 ms, and reports gather for 100 ms.
  static constexpr std::size_t kRoom = 8192;

  explicit AwaitedReports(HashKey secret, std::size_t room = kRoom);

  // The flow in `slot` has no stream any more, and goes on.
  // The records that this returns wait no more, as the room is needed, or the stream is another's.
  std::optional<FlowRecord> expect(const StreamOf& of, std::uint32_t slot, Instant now);
  std::optional<FlowRecord> keep(const StreamOf& of, const FlowRecord& record, Instant now);

  // What the far gateway says is of this flow, or of this record; neither waits any more.
  struct Found {
    std::optional<std::uint32_t> slot;
    std::optional<FlowRecord> record;
  };
  Found take(const StreamOf& of);
  // The first that has waited for too long; `more`: others may have.
  struct Expired {
    std::optional<FlowRecord> record;
    bool more = false;
  };
  Expired take_expired(Instant now);
  // The one that has waited for longest; nullopt: there is none.
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
    FlowRecord record;  // then
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
