// Flows that this gateway relayed before it was started anew, as its journal has them or its peer
// lists them (flow_journal.h, control_messages.h). Their hosts must not hang: each is sent a SYN,
// which draws the challenge ACK of RFC 5961 section 4.2; that carries the one sequence number that
// a valid RST needs. The same RST answers whatever else such a host still sends. A host that has no
// such connection says so with RST.
//
// A host that has moved to this LAN from that of the peer has the same with connections that were
// relayed there.
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
#include "relay/gateway/recovery/flow_journal.h"
#include "relay/gateway/rules/claims.h"
#include "relay/gateway/steering/lanes.h"

namespace satrelay::gateway {

enum class ClientSide : std::uint8_t { kHere, kPeer };

class OrphanedFlows {
 public:
  // `journal`, `lan` and `claims` must outlive it. A record of the journal that stands for one of
  // these flows is released when the flow is over. At most `most` are known from here, and as many
  // of all `peers` together, so that one peer that lists too many leaves the others their parts.
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

  // All that the journal knows of, from before this start.
  void recover(Instant now);
  // No effect if it is known already, or was, or if there are too many.
  void recover(const FlowJournal::Record& flow, FlowJournal::Place place, Instant now);
  // As the peer lists it on a lane. Refused: it is none of the peer's business, or of the lane's.
  enum class Listed : std::uint8_t { kTaken, kRefused, kNoRoom };
  [[nodiscard]] Listed add(const Lane& lane, const OpenMetadata& flow, ClientSide client,
                           Instant now);
  // The host has moved to this LAN, where the other host of the flow is, too. Frames go to it by
  // `to_host` only, whose source is the gateway's own. It is asked for a few seconds only, since
  // the gateway does not see a new connection of the two. No effect as above.
  void take_in(const FlowKey& key, const wire::EthernetHeader& to_host, Instant now) {
    insert(key, {.to_host = to_host, .has_moved = true}, now);
  }
  // A segment of its host, which is answered the way it came; the checksum is right. True if the
  // flow is one of these: then the segment is dealt with. A new SYN ends it, and is not dealt with.
  bool handle_segment(const FlowKey& key, const wire::EthernetHeader& from,
                      const wire::TcpHeader& header);
  // A new flow takes its place.
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
  static constexpr std::size_t kNoPeer = std::numeric_limits<std::size_t>::max();
  struct Orphan {
    std::size_t listed_by = kNoPeer;
    std::optional<wire::EthernetHeader> to_host;  // none: its host has yet to be found on the LAN
    FlowJournal::Place place = FlowJournal::kNowhere;
    std::uint8_t tries = 0;
    bool was_reset = false;
    bool has_moved = false;  // take_in()
    bool is_over = false;    // stays a while, so that the peer's list does not bring it back
  };
  using Table = std::unordered_map<FlowKey, Orphan, Hash>;
  struct Due {
    Instant when;
    FlowKey key;
  };
  static constexpr std::size_t kMostResets = 4096;

  bool has_room(const Orphan& orphan) const {
    return orphan.listed_by == kNoPeer ? known_ - listed_.taken() < most_
                                       : listed_.available(orphan.listed_by) > 0;
  }
  // False, and no effect: it is known, or there are too many.
  bool insert(const FlowKey& key, const Orphan& orphan, Instant now);
  void end(Orphan& orphan, Counter counter);
  static Counter how_it_ended(const Orphan& orphan) {
    return orphan.was_reset ? Counter::kOrphansReset : Counter::kOrphansGone;
  }
  std::size_t ask(const FlowKey& key, Orphan& orphan, MutableBytes out, Instant now);

  std::uint32_t most_;
  EqualParts listed_;  // by peer
  HashKey secret_;
  FlowJournal& journal_;
  LanNeighbours& lan_;
  const Claims& claims_;
  Counters& counters_;
  // Allocated only while a restart is dealt with; many, each of which grows by itself, as it takes
  // long to move all at once.
  static constexpr std::size_t kTables = 64;
  Table& table_of(const FlowKey& key) { return tables_[hash_flow(secret_, key) >> 58]; }
  std::vector<Table> tables_;
  std::size_t known_ = 0;  // of all tables
  std::size_t open_ = 0;   // of the table, those that are not over
  // By how often the host was asked before: all of one queue wait equally long.
  std::deque<Due> due_[8];
  SegmentQueue resets_{kMostResets};
  Instant next_ask_;
};

}  // namespace satrelay::gateway
