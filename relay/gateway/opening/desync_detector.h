// Detects bridged connections in which the two hosts disagree about sequence numbers. A relayed
// connection has different sequence numbers on each LAN. If both gateways have restarted, and their
// journals (flow_journal.h) are lost, they do not know the connection any more and bridge it. Then
// the segments of each host are outside the other host's window. Each host discards the segments
// that it gets, and answers with ACKs that do not help the other host. The connection hangs until a
// host gives up many minutes later.
//
// Segments that cross the WAN outside STP may be forged, so they prove nothing. Instead, each
// gateway probes the host on its own LAN, and sends the host's numbers to the other gateway:
//
//   1. Host A sends the same data three times, and no ACK with a number near that data arrives.
//   2. Gateway A probes host A, and sends the numbers of host A to gateway B (HostEvidence).
//   3. Gateway B probes host B, and compares the numbers of host A and host B. If the numbers
//      disagree in both directions, gateway B sends the numbers of host B to gateway A, and resets
//      host B.
//   4. Gateway A also compares the numbers of both hosts. If they disagree, it resets host A.
//
// A probe is an ACK outside of the window. The host answers a probe with its numbers (RFC 9293
// section 3.10.7.4). The probe is sent to the MAC to which frames of the connection are bridged. A
// gateway examines a connection for one to ten seconds. All segments of the connection from the LAN
// must come from that MAC, and their numbers must agree with each other. Otherwise the examination
// ends at once. A forger on the LAN has another MAC. Even if it forges the MAC, the real host also
// answers the probe, and its numbers contradict the forger.
//
// The table has a fixed size and is direct-mapped: a later connection replaces an earlier
// connection. The gateway examines few connections at the same time. If there is no room to examine
// a connection, no host is reset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/flow_key.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/segment_queue.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/opening/segment_numbers.h"
#include "relay/gateway/peers/host_evidence.h"

namespace satrelay::gateway {

class DesyncDetector {
 public:
  // Sends evidence to the peer of a lane.
  class SessionPeers {
   public:
    virtual ~SessionPeers() = default;
    virtual bool is_alive(LaneId lane) const = 0;
    virtual bool understands_evidence(LaneId lane) const = 0;
    // Returns false if the message cannot be sent now.
    virtual bool tell(LaneId lane, const HostEvidence& evidence, Instant now) = 0;
  };

  // kListening: time after the first probe in which all segments of the host must agree. kPatience:
  // the longest time for which a connection is examined, including the wait for the peer. kQuiet:
  // time in which the same connection is not examined again.
  static constexpr Duration kListening = Duration::seconds(1);
  static constexpr Duration kPatience = Duration::seconds(10);
  static constexpr Duration kQuiet = Duration::seconds(30);
  // Maximum numbers of connections that are examined at a time. Hosts of this LAN cause at most
  // kMostOwn of them, and each host at most kMostOfOneHost. Peers cause at most kMostTold, and each
  // peer at most kMostToldByOne.
  static constexpr std::size_t kMostOwn = 32, kMostOfOneHost = 4;
  static constexpr std::size_t kMostTold = 32, kMostToldByOne = 4;

  // `session_peers` and `counters` must outlive this object.
  DesyncDetector(HashKey secret, SessionPeers& session_peers, Counters& counters)
      : secret_(secret), session_peers_(session_peers), counters_(counters), entries_(kEntries) {}

  // Note a bridged segment. `lane`: the lane to its far host, if there is one.
  void look_from_lan(const FlowKey& key, const wire::EthernetHeader& ethernet,
                     const SegmentNumbers& segment, std::optional<LaneId> lane, Instant now);
  void look_from_wan(const FlowKey& key, const wire::EthernetHeader& ethernet,
                     const SegmentNumbers& segment);
  // A lane and its peer, which may send evidence about a host on the peer's LAN.
  struct SessionPeer {
    LaneId lane;
    FarGatewayId peer;
  };
  void hear(const SessionPeer& session_peer, const HostEvidence& evidence, Instant now);
  void handle_timeout(Instant now);

  // Writes the next probe or RST for a host of the LAN. Returns its size, or 0 if there is none.
  std::size_t poll_frame(MutableBytes out) { return waiting_.poll_frame(out); }
  Instant next_timeout() const;

 private:
  // The sequence and acknowledgment numbers of a host, as its segments show them.
  struct Word {
    std::uint32_t sends = 0;
    std::uint32_t expects = 0;
  };
  struct Entry {
    std::uint64_t hash = 0;
    Instant quiet_until;
    std::optional<wire::EthernetHeader> to_host;  // header of the last frame bridged to the host
    Word word;                                    // numbers of the host's latest segment
    std::uint32_t data_sequence = 0;  // sequence number of the host's latest segment with data
    // How often the host has sent the data at `data_sequence`, up to kEnough. If the host sends
    // earlier data again, the count becomes 2. An ACK from the WAN near that number resets the
    // count to 1.
    std::uint8_t times_sent = 0;
  };
  // A connection that the gateway examines.
  struct Case {
    std::uint64_t hash = 0;
    FlowKey key;
    wire::EthernetHeader to_host;
    SessionPeer session_peer;
    bool by_peer = false;
    Word word;  // numbers of the host's latest segment, with which all earlier ones agree
    bool has_answered = false;  // whether the host has answered a probe
    bool is_told = false;
    std::optional<Word> theirs;
    Instant asks_again;
    Instant listens_until;
    Instant gives_up;
  };
  static constexpr std::uint8_t kEnough = 3;
  static constexpr std::size_t kEntries = 4096;

  static bool agree(const Word& one, const Word& other);
  static bool disagree(const Word& here, const Word& there);
  static FlowKey key_of(const HostEvidence& evidence);
  Case* find(std::uint64_t hash);
  void open(Case opened, Instant now);
  void ask(const Case& asked);
  void hear_host(Case& heard, const Word& word, const wire::EthernetHeader& from_host, Instant now);
  // Probes the host or sends its numbers to the peer, if that is due now. Returns true if the case
  // is over.
  bool go_on(Case& looked_into, Instant now);
  void close(Case& over, Instant now);
  bool has_room_for(const SessionPeer& session_peer) const;
  bool has_room_for(const IpAddress& host) const;

  HashKey secret_;
  SessionPeers& session_peers_;
  Counters& counters_;
  std::vector<Entry> entries_;
  std::vector<Case> cases_;
  SegmentQueue waiting_{3 * (kMostOwn + kMostTold)};
};

}  // namespace satrelay::gateway
