// Finds out whether a host is on this LAN: asks for it by ARP or Neighbour Discovery, twice within
// a second, and counts its answer only from the LAN port. With this two gateways find out together
// that a host has moved with its MAC from the LAN of one to that of the other (docs/stp.md section
// 15): the new one asks for the host that ARP has told of, and the old one for the host that its
// peer says it has found.
//
// The question goes to all stations: anybody at the far LAN may have led the switches of this one
// to believe that the host's MAC is at the gateway's port.
//
// Fixed size, direct-mapped, found by keyed hashes of the address, the MAC and the peer: a claim of
// another MAC does not keep the host from being asked for. A result is kept for a while; while
// it is, no other takes its place. A claim that is made again and again has the host asked for less
// and less often. The number of questions at a time is that of all peers together.
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

namespace satrelay::gateway {

class PresenceChecks {
 public:
  static constexpr Duration kKept = Duration::seconds(10);
  // A host is asked for no sooner again. The interval doubles each time that it is.
  static constexpr Duration kInterval = Duration::seconds(2);
  static constexpr Duration kLongestInterval = Duration::seconds(64);
  static constexpr std::size_t kMostAsked = 64;  // at a time
  static constexpr unsigned kAskedPerSecond = 32;

  // From whom an answer counts.
  enum class Proof : std::uint8_t {
    kAnswer,    // the MAC that is asked about answers the gateway, for this address
    kAnything,  // the address at whichever MAC, or any frame of that MAC
  };
  enum class State : std::uint8_t { kNone, kHere, kSilent };
  struct Check {
    LanAddress address;
    NamedMac named;
    std::size_t peer = 0;        // configured: who is told, or has told
    State state = State::kNone;  // the latest result
    Instant began = {};          // the questions that have given it
    Instant changed = {};
    bool is_asked = false;  // again
    bool is_used = false;   // the place
    Instant asked = {};     // the latest questions began
    Duration interval = kInterval;
  };

  // `own_mac` asks, and gets the answer; `awaited` learns of that. `stations`: of all workers.
  PresenceChecks(Proof proof, HashKey key, const MacAddress& own_mac, AwaitedAnswers& awaited,
                 const FilteringDatabase& stations);

  // Whether the host is asked for at that MAC, or was lately.
  bool is_known(const LanAddress& address, const MacAddress& mac, std::size_t peer,
                Instant now) const;
  // False if too many are asked for. No effect if it is known.
  bool ask(const LanAddress& address, const NamedMac& named, std::size_t peer, Instant now);
  // Whether a host is asked for now.
  bool asks() const { return !questions_.empty(); }
  // From the LAN.
  void hear_told(const AnnouncedOwner& told, const wire::EthernetHeader& seen, Instant now);
  // The sender of any frame from the LAN. Only with Proof::kAnything.
  void hear_sender(const wire::EthernetHeader& seen, Instant now);

  // A check that is over, each once; kNone: the host could not be asked.
  struct Settled {
    Check check;
    State result = State::kNone;
  };
  std::optional<Settled> take_settled();
  // A result that is kept; nullptr: none.
  const Check* find(const LanAddress& address, const MacAddress& mac, std::size_t peer,
                    Instant now) const;
  // The header of a frame in the gateway's own name for the host.
  wire::EthernetHeader towards(const Check& check) const;

  void handle_timeout(Instant now);
  Instant next_timeout() const;
  // The next question; its size, 0 if there is none.
  std::size_t poll_frame(MutableBytes out, Instant now);

 private:
  struct Result {
    std::uint16_t place = 0;
    State state = State::kNone;
  };
  struct Question {
    std::uint16_t place = 0;
    std::uint8_t left = 0;  // questions, after this one
    bool due = false;
    bool has_left = false;  // one of them
    Instant next;
  };
  static constexpr std::size_t kEntries = 1024;
  static constexpr std::uint8_t kTries = 2;
  // The host has so long to answer each question, and a question to leave.
  static constexpr Duration kPatience = Duration::milliseconds(500);

  std::size_t place(const LanAddress& address, const MacAddress& mac, std::size_t peer) const;
  static bool is_of(const Check& check, const LanAddress& address, const MacAddress& mac,
                    std::size_t peer);
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
  Instant asked_until_;  // the questions have used up the rate until then
};

}  // namespace satrelay::gateway
