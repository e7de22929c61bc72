// Finds out whether a host is on this LAN. It asks for the host by ARP or Neighbour Discovery,
// twice within a second, and accepts an answer only from the LAN port. So two gateways find out
// together that a host has moved with its MAC from one LAN to the other (docs/stp.md section 15).
// The gateway of the new LAN asks for the host that ARP has announced. The gateway of the old LAN
// asks for the host that its peer reports.
//
// The request is sent to all stations, since a forger at the far LAN may have led the switches of
// this LAN to believe that the host's MAC is at the gateway's port.
//
// The table has a fixed size, is direct-mapped, and is indexed by keyed hashes of the address, the
// MAC and the peer. So a claim of another MAC does not prevent requests for the host. A result is
// kept for a while, and cannot be replaced meanwhile. If the same claim is repeated, the gateway
// asks less and less often. The number of hosts that it asks for at once is limited for all peers
// together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/addresses/filtering_database.h"
#include "relay/gateway/addresses/lan/lan_owners.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/neighbours/announced_owner.h"
#include "relay/gateway/frames/neighbours/awaited_answers.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class PresenceChecks {
 public:
  static constexpr Duration kKept = Duration::seconds(10);
  // The gateway asks for the same host again only after this time. The interval doubles if the host
  // is asked for again soon.
  static constexpr Duration kInterval = Duration::seconds(2);
  static constexpr Duration kLongestInterval = Duration::seconds(64);
  // Maximum number of hosts that are asked for at the same time.
  static constexpr std::size_t kMostAsked = 64;
  static constexpr unsigned kAskedPerSecond = 32;

  // The events that prove that the host is here.
  enum class Proof : std::uint8_t {
    kAnswer,    // the claimed MAC answers the gateway for this address
    kAnything,  // an announcement of the address with any MAC, or any frame from that MAC
  };
  enum class State : std::uint8_t { kNone, kHere, kSilent };
  struct Check {
    LanAddress address;
    NamedMac named;
    // The peer on the other LAN. If the host seems to have arrived here, this peer gets the report.
    // If the host seems to have left, this peer has sent the report.
    FarGatewayId peer;
    State state = State::kNone;  // the latest result
    // Start of the series of requests that led to `state`.
    Instant began = {};
    Instant changed = {};
    bool is_asked = false;  // the gateway is asking for the host now
    bool is_used = false;   // the entry is in use
    Instant asked = {};     // when the latest series of requests began
    Duration interval = kInterval;
  };

  // The gateway sends its requests with `own_mac` as source MAC, so hosts answer to this MAC. The
  // requests are recorded in `awaited`. All workers share `stations`.
  PresenceChecks(Proof proof, HashKey key, const MacAddress& own_mac, AwaitedAnswers& awaited,
                 const FilteringDatabase& stations);

  // Whether this gateway is asking for the host at that MAC, or has asked lately.
  bool is_known(const LanAddress& address, const MacAddress& mac, FarGatewayId peer,
                Instant now) const;
  // Asks for the host, unless is_known(). Returns false if too many hosts are being asked for.
  bool ask(const LanAddress& address, const NamedMac& named, FarGatewayId peer, Instant now);
  // Whether any host is being asked for now.
  bool asks() const { return !questions_.empty(); }
  // Handles an announcement on the LAN.
  void hear_told(const AnnouncedOwner& told, const wire::EthernetHeader& seen, Instant now);
  // Handles the sender of any frame from the LAN. Has no effect unless Proof::kAnything.
  void hear_sender(const wire::EthernetHeader& seen, Instant now);

  // A finished check. Each check is returned once. The result is kNone if the host could not be
  // asked.
  struct Settled {
    Check check;
    State result = State::kNone;
  };
  std::optional<Settled> take_settled();
  // Returns a result that is still kept; nullptr if there is none.
  const Check* find(const LanAddress& address, const MacAddress& mac, FarGatewayId peer,
                    Instant now) const;
  // The header of a frame to the host, with the gateway's own MAC as source.
  wire::EthernetHeader towards(const Check& check) const;

  void handle_timeout(Instant now);
  Instant next_timeout() const;
  // Writes the next ARP request or neighbour solicitation. Returns its size; 0 if there is none.
  std::size_t poll_frame(MutableBytes out, Instant now);

 private:
  struct Result {
    std::uint16_t place = 0;
    State state = State::kNone;
  };
  struct Question {
    std::uint16_t place = 0;
    std::uint8_t left = 0;  // number of further requests
    bool due = false;
    bool has_left = false;  // at least one of the requests was sent
    Instant next;
  };
  static constexpr std::size_t kEntries = 1024;
  static constexpr std::uint8_t kTries = 2;
  // The time limit for sending a request, and for the host's answer to it.
  static constexpr Duration kPatience = Duration::milliseconds(500);

  std::size_t place(const LanAddress& address, const MacAddress& mac, FarGatewayId peer) const;
  static bool is_of(const Check& check, const LanAddress& address, const MacAddress& mac,
                    FarGatewayId peer);
  bool may_ask(Instant now);
  State silence_of(const Question& question) const;
  void settle(const Question& question, State state, Instant now);

  Proof proof_;
  HashKey key_;
  MacAddress own_mac_;
  AwaitedAnswers& awaited_;
  const FilteringDatabase& stations_;
  std::vector<Check> checks_;
  std::vector<Question> questions_;
  std::vector<Result> settled_;
  // A rate limit: each new host moves this time forward by 1 s / kAskedPerSecond. may_ask() refuses
  // a host if this time would be too far ahead of the clock.
  Instant asked_until_;
};

}  // namespace satrelay::gateway
