// Bridged connections whose two hosts disagree. Relayed connections have numbers of their own on
// each LAN; when both gateways have been started anew and know nothing of them, what one host sends
// is out of the other's window, which discards it and answers with an ACK that covers none of it,
// until a host gives up many minutes later.
//
// What crosses the WAN outside STP anybody may have forged, so it proves nothing. Each gateway asks
// its own host instead, and tells the other one what the host says:
//
//   the host sends the same data three times, unanswered by anything near it
//     -> its gateway asks it for its numbers, and tells the peer (HostEvidence)
//     -> the peer asks its own host, and compares
//     -> they are too far apart, both ways: it tells what its host says, and resets that host
//     -> the first gateway compares, too, and resets its host
//
// The question is an ACK out of the window, which a host answers with its numbers (RFC 9293 section
// 3.10.7.4). It goes where frames of the connection are bridged to, as a neighbour that speaks in
// the host's name may do so with a MAC of its own. For a second everything that comes from the LAN
// in the host's name must agree, and come from there: a host answers, so what somebody else of its
// LAN says in its name is contradicted.
//
// Fixed size: connections are direct-mapped, a later one in the same place takes it over; few of
// them are looked into at a time. Where there is no room for it nobody is reset.
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
#include "relay/gateway/opening/segment_numbers.h"
#include "relay/gateway/peers/host_evidence.h"

namespace satrelay::gateway {

class DesyncDetector {
 public:
  // Whom evidence is told, by session.
  class SessionPeers {
   public:
    virtual ~SessionPeers() = default;
    virtual bool is_alive(std::size_t session) const = 0;
    virtual bool understands_evidence(std::size_t session) const = 0;
    // False if it cannot leave now.
    virtual bool tell(std::size_t session, const HostEvidence& evidence, Instant now) = 0;
  };

  // How long the LAN is listened to before the host is believed, and an answer of the peer's is
  // waited for. A connection that was looked into is left alone for a while.
  static constexpr Duration kListening = Duration::seconds(1);
  static constexpr Duration kPatience = Duration::seconds(10);
  static constexpr Duration kQuiet = Duration::seconds(30);
  // Connections that hosts here have drawn attention to, and that peers have.
  static constexpr std::size_t kMostOwn = 32, kMostOfOneHost = 4;
  static constexpr std::size_t kMostTold = 32, kMostToldByOne = 4;

  // Both must outlive it.
  DesyncDetector(HashKey secret, SessionPeers& session_peers, Counters& counters)
      : secret_(secret), session_peers_(session_peers), counters_(counters), entries_(kEntries) {}

  // A segment that is bridged. `session`: that for its far host, if there is one.
  void look_from_lan(const FlowKey& key, const wire::EthernetHeader& ethernet,
                     const SegmentNumbers& segment, std::optional<std::size_t> session,
                     Instant now);
  void look_from_wan(const FlowKey& key, const wire::EthernetHeader& ethernet,
                     const SegmentNumbers& segment);
  // What the peer of a session says, who may speak for that host.
  struct SessionPeer {
    std::size_t session = 0;
    std::size_t peer = 0;
  };
  void hear(const SessionPeer& session_peer, const HostEvidence& evidence, Instant now);
  void handle_timeout(Instant now);

  // The next question or RST for a host of the LAN.
  std::size_t poll_frame(MutableBytes out) { return waiting_.poll_frame(out); }
  Instant next_timeout() const;

 private:
  // What a host says of itself.
  struct Word {
    std::uint32_t sends = 0;
    std::uint32_t expects = 0;
  };
  struct Entry {
    std::uint64_t hash = 0;
    Instant quiet_until;
    std::optional<wire::EthernetHeader> to_host;  // of what was bridged to it last
    Word word;                                    // the latest
    std::uint32_t data_sequence = 0;              // of the latest segment with data
    std::uint8_t times_sent = 0;  // that data since something near it was acknowledged
  };
  // A connection that is looked into.
  struct Case {
    std::uint64_t hash = 0;
    FlowKey key;
    wire::EthernetHeader to_host;
    SessionPeer session_peer;
    bool by_peer = false;
    Word word;                  // the host's, of which nothing has differed
    bool has_answered = false;  // since it was asked
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
  // Goes on with it as far as it can: true if it is over.
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
