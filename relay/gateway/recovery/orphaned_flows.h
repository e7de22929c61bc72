// Flows that this gateway relayed before it restarted, from its journal (flow_journal.h) or from
// its peer's list (control_messages.h). Their hosts must not hang. So the gateway sends each host a
// SYN, and the host answers with a challenge ACK (RFC 5961 section 4.2). That ACK shows the only
// sequence number with which a RST is valid, and the gateway sends this RST. The gateway answers
// every other ACK of such a host in the same way. A host that has no such connection answers the
// SYN with RST.
//
// If a host has moved from the peer's LAN to this LAN, its relayed connections are treated in the
// same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/equal_parts.h"
#include "pep/base/time.h"
#include "pep/wire/tcp.h"
#include "relay/gateway/addresses/lan/lan_neighbours.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/open_metadata.h"
#include "relay/gateway/frames/segment_queue.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/steering/lane_addresses.h"

namespace satrelay::gateway {

enum class ClientSide : std::uint8_t { kHere, kPeer };

class OrphanedFlows {
 public:
  // `journal`, `lan` and `claims` must outlive this object. When a flow is over, its record in the
  // journal is released. Keeps at most `most` flows that no peer has listed, and at most as many
  // that all `peers` together have listed. A peer that lists too many flows does not use up the
  // other peers' parts.
  OrphanedFlows(std::uint32_t most, std::size_t peers, HashKey secret, FlowJournal& journal,
                LanNeighbours& lan, const Claims& claims, Counters& counters)
      : most_(most),
        listed_(most, peers),
        secret_(secret),
        journal_(journal),
        lan_(lan),
        claims_(claims),
        counters_(counters),
        tables_(kTables, Table(0, Hash{secret})) {}

  // Takes over all flows that the journal has from an earlier run.
  void recover(Instant now);
  // Takes over one flow. If the flow is known or was known, or if there are too many, this only
  // releases its record.
  void recover(const FlowJournal::Record& flow, FlowJournal::Place place, Instant now);
  // Adds a flow that the peer lists on a lane. kRefused: the peer may not list the flow, or the
  // flow belongs to another lane.
  enum class Listed : std::uint8_t { kTaken, kRefused, kNoRoom };
  [[nodiscard]] Listed add(const LaneAddress& lane, const OpenMetadata& flow, ClientSide client,
                           Instant now);
  // Adds a flow of which one host, `key.local`, has moved to this LAN. The other host is also on
  // this LAN. Frames to the host that has moved always use `to_host`, with the gateway's own MAC as
  // source. The gateway sends SYNs to the host for only a few seconds: later the two hosts may have
  // a new connection with the same ports, which the gateway would not see and would reset. Has no
  // effect if the flow is known, or if there are too many.
  void take_in(const FlowKey& key, const wire::EthernetHeader& to_host, Instant now) {
    insert(key, {.to_host = to_host, .has_moved = true}, now);
  }
  // Handles a segment of an orphan's host. The answer goes to the source MAC of the segment, unless
  // the host has moved. The caller has checked the checksum. Returns true if the flow is an orphan
  // and the segment was handled. A new SYN ends the orphan, and is not handled.
  bool handle_segment(const FlowKey& key, const wire::EthernetHeader& from,
                      const wire::TcpHeader& header);
  // Call this when a new flow replaces the orphan.
  void forget(const FlowKey& key);
  void handle_timeout(Instant now);

  std::size_t poll_frame(MutableBytes out, Instant now);
  Instant next_timeout() const;
  std::size_t size() const { return open_; }

 private:
  struct Hash {
    HashKey secret;
    std::size_t operator()(const FlowKey& key) const { return hash_flow(secret, key); }
  };
  struct Orphan {
    std::optional<FarGatewayId> listed_by = {};
    std::optional<wire::EthernetHeader> to_host;  // nullopt until the host is found on the LAN
    FlowJournal::Place place = FlowJournal::kNowhere;
    std::uint8_t tries = 0;
    bool was_reset = false;
    bool has_moved = false;  // the flow was added by take_in()
    // Whether the flow is over. The entry is kept for a while, so that the peer's list does not
    // revive the flow.
    bool is_over = false;
  };
  using Table = std::unordered_map<FlowKey, Orphan, Hash>;
  struct Due {
    Instant when;
    FlowKey key;
  };
  static constexpr std::size_t kMostResets = 4096;

  bool has_room(const Orphan& orphan) const {
    return orphan.listed_by ? listed_.available(*orphan.listed_by) > 0
                            : known_ - listed_.taken() < most_;
  }
  // Returns false, without any effect, if the flow is known, or if there are too many.
  bool insert(const FlowKey& key, const Orphan& orphan, Instant now);
  void end(Orphan& orphan, Counter counter);
  static Counter how_it_ended(const Orphan& orphan) {
    return orphan.was_reset ? Counter::kOrphansReset : Counter::kOrphansGone;
  }
  std::size_t ask(const FlowKey& key, Orphan& orphan, MutableBytes out, Instant now);

  std::uint32_t most_;
  EqualParts<FarGatewayId> listed_;
  HashKey secret_;
  FlowJournal& journal_;
  LanNeighbours& lan_;
  const Claims& claims_;
  Counters& counters_;
  // Memory is allocated only while there are orphans. There are many tables, which grow separately:
  // a single table would take long to grow, since all its entries move at once.
  static constexpr std::size_t kTables = 64;
  Table& table_of(const FlowKey& key) { return tables_[hash_flow(secret_, key) >> 58]; }
  std::vector<Table> tables_;
  std::size_t known_ = 0;  // number of entries in all tables
  std::size_t open_ = 0;   // number of these flows that are not over
  // Indexed by Orphan::tries, the number of attempts to send a SYN. All entries of one queue wait
  // for the same time.
  std::deque<Due> due_[8];
  SegmentQueue resets_{kMostResets};
  Instant next_ask_;
};

}  // namespace satrelay::gateway
