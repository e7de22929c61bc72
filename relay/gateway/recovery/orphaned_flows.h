// Flows that this gateway relayed before it restarted, called orphans. They are known from the
// journal (flow_journal.h) or from a peer's list (control_messages.h). Their hosts would hang. So
// the gateway sends each host a SYN, and the host answers with a challenge ACK (RFC 5961 section
// 4.2). The ACK shows the sequence number that a RST must have, and the gateway sends this RST.
// Every other ACK of the host is also answered by a RST. If the host no longer has the connection,
// it answers the SYN with RST.
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
  // journal is released. Keeps at most `most` flows that no peer has listed, and at most `most`
  // flows that peers have listed. Half of the places for listed flows are reserved: each of the
  // `peers` has an equal part, which other peers cannot take.
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
  // Takes over one flow. Only releases its record if the flow is known or was known, or if there
  // are too many flows.
  void recover(const FlowJournal::Record& flow, FlowJournal::Place place, Instant now);
  // Adds a flow that the peer lists on a lane. kRefused: the peer may not list the flow, or the
  // flow belongs to another lane.
  enum class Listed : std::uint8_t { kTaken, kRefused, kNoRoom };
  [[nodiscard]] Listed add(const LaneAddress& lane, const OpenMetadata& flow, ClientSide client,
                           Instant now);
  // Adds a flow between two hosts that are both on this LAN now, because `key.local` has moved to
  // it. Frames to this host always use `to_host`, with the gateway's own MAC as source. The gateway
  // sends SYNs to this host for only a few seconds. Later the hosts may open a new connection with
  // the same ports. The gateway would not see it, and would reset it. Has no effect if the flow is
  // known, or if there are too many flows.
  void take_in(const FlowKey& key, const wire::EthernetHeader& to_host, Instant now) {
    insert(key, {.to_host = to_host, .has_moved = true}, now);
  }
  // Handles a segment from this LAN. The caller has checked the checksum. Returns false if the flow
  // is not an orphan. Also returns false for a new SYN, which ends the orphan. The RST goes to the
  // source MAC of the segment or, if the host has moved, to the MAC of take_in().
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
    // Whether the orphan is over. The entry is kept for a while, so that a peer's list does not add
    // the flow again.
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
  // Memory is allocated only while there are orphans. A table moves all its entries when it grows,
  // which takes long for a large table. So there are many small tables.
  static constexpr std::size_t kTables = 64;
  Table& table_of(const FlowKey& key) { return tables_[hash_flow(secret_, key) >> 58]; }
  std::vector<Table> tables_;
  std::size_t known_ = 0;  // number of entries in all tables
  std::size_t open_ = 0;   // number of entries that are not over
  // Indexed by Orphan::tries, the number of attempts to send a SYN. All entries of one queue wait
  // for the same time.
  std::deque<Due> due_[8];
  SegmentQueue resets_{kMostResets};
  Instant next_ask_;
};

}  // namespace satrelay::gateway
