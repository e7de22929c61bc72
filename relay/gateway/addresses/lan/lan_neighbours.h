// Where the hosts of the LAN are. Every gateway learns to which MAC a host has moved.
//
// A gateway whose peers are behind a router learns more, as the frame of the far host's SYN says
// nothing about this LAN. It learns from the frames that hosts send to far hosts, and from ARP and
// Neighbour Discovery. It asks for a host that was never heard.
//
// A frame from the WAN shows where the router expects its host, but anybody may have forged it. It
// is noted in an empty place only, for a while, and used when the host does not answer.
//
// Fixed size, direct-mapped: a later host in the same place takes it over, and the earlier one is
// asked for anew.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/gateway/addresses/lan/lan_owners.h"
#include "relay/gateway/addresses/learned_destinations.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/neighbours/awaited_answers.h"
#include "relay/gateway/rules/policy.h"

namespace satrelay::gateway {

class LanNeighbours {
 public:
  // How long a flow waits for a host that was never heard: three questions, a second apart.
  static constexpr Duration kPatience = Duration::seconds(3);

  struct Heard {
    IpAddress host;
    wire::EthernetHeader towards;
  };

  // `own_mac`: asks the owner of an address, and gets the answer. `awaited` learns of that.
  LanNeighbours(const config::Gateway& config, const Policy& policy, HashKey key,
                const MacAddress& own_mac, AwaitedAnswers& awaited, Counters& counters);

  bool is_routed(std::size_t peer) const { return routed_[peer]; }
  // The router's MAC, as its side of the LAN knows it.
  void set_router(const MacAddress& mac) { router_ = mac; }
  // What the frame tells, if it tells of a host of the LAN.
  std::optional<Heard> learn_from_lan(const Frame& frame, Instant now);
  // Not of a group, nor of the gateway itself.
  bool may_be_host(const MacAddress& mac) const {
    return !mac.is_multicast() && mac != MacAddress() && mac != own_mac_ && mac != router_;
  }
  // An accepted segment of the host has come by this header, and the one before by another.
  void note_sender(const IpAddress& host, const wire::EthernetHeader& seen, Instant now) {
    hear_owner(host, seen.source, LanOwners::Claim::kSends, seen, now);
  }
  // The host acknowledges what goes to `receiver`.
  void note_receiver(const HostPair& pair, const wire::EthernetHeader& seen,
                     const MacAddress& receiver) {
    owners_.note_receiver(pair.here, seen.source, receiver);
    destinations_.note_receiver(pair, seen.source, receiver);
  }
  // The header of an answer to what has come from the host by this one.
  wire::EthernetHeader way_back(const HostPair& pair, const wire::EthernetHeader& seen,
                                Instant now) const {
    wire::EthernetHeader back = seen.reversed();
    const MacAddress told = destinations_.receiver(pair, seen.source, now);
    back.destination = told != seen.source ? told : owners_.receiver(pair.here, seen.source);
    return back;
  }
  // To which MACs far hosts address their frames. They make no owners, and nobody is asked: far
  // hosts have no say in where the flows of others go.
  LearnedDestinations& destinations() { return destinations_; }
  const LearnedDestinations& destinations() const { return destinations_; }
  // Asks all of its VLANs who has an address of which nobody has heard, if a frame to it by this
  // header has found nobody. The gateway listens for the answer, and nobody waits for it.
  void ask_for_owner(const LanAddress& address, const wire::EthernetHeader& tried, Instant now);
  const LanOwners& owners() const { return owners_; }
  // Whether an owner has been found silent since the last time.
  bool take_moved() { return std::exchange(has_moved_, false); }
  // A frame that is bridged to the LAN.
  void note_from_wan(const Frame& frame, Instant now);
  std::optional<wire::EthernetHeader> find(const IpAddress& host, Instant now) const;

  // Asks for an untagged host, up to three times.
  void ask(const IpAddress& host, Instant now);
  void handle_timeout(Instant now);
  // A host that has not answered twice, if a frame from the WAN has shown where it may be. One in
  // each call; the host itself may still answer.
  std::optional<Heard> take_unanswered(Instant now);
  // The host has been asked three times since then, and had its time to answer each time. The
  // gateway remembers the latest such hosts only.
  bool is_silent_since(const IpAddress& host, Instant then) const;
  Instant next_timeout() const;
  // The next question; its size, 0 if there is none.
  std::size_t poll_frame(MutableBytes out, Instant now);

 private:
  enum class Source : std::uint8_t {
    kNone,
    kWan,         // not used yet
    kUnanswered,  // the WAN, and the host was asked in vain
    kLan,
  };
  struct Entry {
    IpAddress host;
    wire::EthernetHeader towards;
    Source source = Source::kNone;
    Instant until = {};  // of what the WAN has shown
  };
  struct Question {
    IpAddress host;
    Instant began;
    Instant next;
    std::uint8_t left = 0;
    bool due = false;
    bool falls_back = false;
    // The header of what is asked in the gateway's own name: of the owner of an address alone, or
    // of all who that is.
    std::optional<wire::EthernetHeader> own = std::nullopt;
  };
  struct Silence {
    IpAddress host;
    Instant asked_from;
  };
  static constexpr Duration kNoted = Duration::seconds(60);
  static constexpr std::size_t kEntries = 4096;
  static constexpr std::size_t kQuestions = 64;  // and as many in the gateway's own name
  // Of these, those to all: SYNs that nobody means draw them, and owners are still to be asked.
  static constexpr std::size_t kQuestionsToAll = kQuestions / 2;
  static constexpr unsigned kAskedPerSecond = 64;  // addresses, in the gateway's own name
  static constexpr std::uint8_t kTries = 3;
  static constexpr std::uint8_t kTriesOfOwner = 2;

  std::size_t place(const IpAddress& host) const;
  static bool is_valid(const Entry& entry, Instant now) {
    return entry.source == Source::kLan || (entry.source != Source::kNone && now < entry.until);
  }
  Heard put(const IpAddress& host, const wire::EthernetHeader& towards);
  std::optional<Heard> put_mac(const IpAddress& host, const MacAddress& mac,
                               const wire::EthernetHeader& seen);
  bool is_far(const IpAddress& host) const;
  void hear_owner(const IpAddress& host, const MacAddress& mac, LanOwners::Claim claim,
                  const wire::EthernetHeader& seen, Instant now);
  void ask_owner(const LanAddress& address, Instant now);
  // Owners that answer at once make room for more questions, so that their rate is limited too.
  bool may_ask(Instant now);
  std::size_t questions_to_all() const;
  void ask(const LanAddress& address, const wire::EthernetHeader& own, std::uint8_t tries,
           Instant now);
  void forget(const LanAddress& address);
  void end_question(const Question& own, Instant now);

  const Policy& policy_;
  HashKey key_;
  std::vector<bool> routed_;  // by peer
  const bool any_;
  MacAddress router_;
  std::vector<Entry> entries_;
  std::vector<Question> questions_;
  std::array<Silence, kQuestions> silences_{};  // the latest, by turns
  std::size_t next_silence_ = 0;
  std::size_t own_questions_ = 0;  // of these
  Instant asked_until_;            // what was asked has used up the rate until then
  LanOwners owners_;
  LearnedDestinations destinations_;
  const MacAddress own_mac_;
  AwaitedAnswers& awaited_;
  Counters& counters_;
  bool has_moved_ = false;
};

}  // namespace satrelay::gateway
