// Finds the hosts of the LAN. Every gateway learns to which MAC a host has moved.
//
// A gateway with peers behind a router learns more, since the Ethernet header of the far host's SYN
// says nothing about this LAN. It learns from frames that hosts send to far hosts, and from ARP and
// Neighbour Discovery. It sends ARP requests or neighbour solicitations for a host from which it
// has received nothing.
//
// A frame from the WAN shows at which MAC the router expects the host, but any station may have
// forged the frame. This MAC is stored for a while, and only in an unused entry. The gateway uses
// it if the host does not answer requests.
//
// The table has a fixed size and is direct-mapped: a later host replaces an earlier host, and the
// gateway asks for the earlier host again when needed.
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
#include "pep/base/typed_id.h"
#include "relay/gateway/addresses/lan/lan_owners.h"
#include "relay/gateway/addresses/learned_destinations.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/neighbours/awaited_answers.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/rules/policy.h"

namespace satrelay::gateway {

class LanNeighbours {
 public:
  // How long a flow waits for an unknown host: three requests, a second apart.
  static constexpr Duration kPatience = Duration::seconds(3);

  struct Heard {
    IpAddress host;
    wire::EthernetHeader towards;
  };

  // The gateway sends requests to owners of addresses with `own_mac` as source MAC, so the owners
  // answer to this MAC. These requests are recorded in `awaited`.
  LanNeighbours(const config::Gateway& config, const Policy& policy, HashKey key,
                const MacAddress& own_mac, AwaitedAnswers& awaited, Counters& counters);

  bool is_routed(FarGatewayId peer) const { return routed_[peer]; }
  // Sets the MAC by which hosts of this LAN reach the router.
  void set_router(const MacAddress& mac) { router_ = mac; }
  // Learns from a frame. Returns the host of the LAN that the frame shows, if any.
  std::optional<Heard> learn_from_lan(const Frame& frame, Instant now);
  // False for a group's MAC, for zero, and for the MACs of this gateway and of the router.
  bool may_be_host(const MacAddress& mac) const {
    return !mac.is_multicast() && mac != MacAddress() && mac != own_mac_ && mac != router_;
  }
  // An accepted segment of the host has arrived with the header `seen`. The segment before it had
  // another source MAC.
  void note_sender(const IpAddress& host, const wire::EthernetHeader& seen, Instant now) {
    hear_owner(host, seen.source, LanOwners::Claim::kSends, seen, now);
  }
  // The host acknowledges frames that are sent to `receiver`.
  void note_receiver(const HostPair& pair, const wire::EthernetHeader& seen,
                     const MacAddress& receiver) {
    owners_.note_receiver(pair.here, seen.source, receiver);
    destinations_.note_receiver(pair, seen.source, receiver);
  }
  // Returns the header for an answer to a frame that the host sent with the header `seen`.
  wire::EthernetHeader way_back(const HostPair& pair, const wire::EthernetHeader& seen,
                                Instant now) const {
    wire::EthernetHeader back = seen.reversed();
    const MacAddress told = destinations_.receiver(pair, seen.source, now);
    back.destination = told != seen.source ? told : owners_.receiver(pair.here, seen.source);
    return back;
  }
  // The MACs to which far hosts address their frames. Such a MAC does not count as an owner's
  // claim, and causes no ARP requests. Otherwise a far host could redirect the flows of other
  // hosts.
  LearnedDestinations& destinations() { return destinations_; }
  const LearnedDestinations& destinations() const { return destinations_; }
  // Asks all stations of the VLAN for the owner of an address, unless the owner is known. `tried`
  // is the header of a frame to the address that no host has answered. No flow waits for the
  // answer, and learn_from_lan() handles it like any other.
  void ask_for_owner(const LanAddress& address, const wire::EthernetHeader& tried, Instant now);
  const LanOwners& owners() const { return owners_; }
  // Whether an owner was found to be silent since the last call of take_moved().
  bool take_moved() { return std::exchange(has_moved_, false); }
  // Records the header with which a frame from the WAN is bridged to its host on the LAN.
  void note_from_wan(const Frame& frame, Instant now);
  std::optional<wire::EthernetHeader> find(const IpAddress& host, Instant now) const;

  // Asks for a host on the untagged LAN, up to three times.
  void ask(const IpAddress& host, Instant now);
  void handle_timeout(Instant now);
  // Returns a host that has not answered two requests, if a frame from the WAN has shown where the
  // host may be. Each call returns one host. The host itself may still answer later.
  std::optional<Heard> take_unanswered(Instant now);
  // Whether three requests for the host were sent after `then`, and none was answered in time. The
  // gateway remembers only the latest silent hosts.
  bool is_silent_since(const IpAddress& host, Instant then) const;
  Instant next_timeout() const;
  // Writes the next ARP request or neighbour solicitation. Returns its size; 0 if there is none.
  std::size_t poll_frame(MutableBytes out, Instant now);

 private:
  enum class Source : std::uint8_t {
    kNone,
    kWan,  // a frame from the WAN has shown `towards`, which is not used yet
    // A frame from the WAN has shown `towards`. It is used, since the host has not answered.
    kUnanswered,
    kLan,
  };
  struct Entry {
    IpAddress host;
    wire::EthernetHeader towards;
    Source source = Source::kNone;
    // Information from a frame of the WAN is valid until this time.
    Instant until = {};
  };
  struct Question {
    IpAddress host;
    Instant began;
    Instant next;
    std::uint8_t left = 0;
    bool due = false;
    bool falls_back = false;
    // The Ethernet header, if the request has the gateway's own MAC as source. Such a request is
    // sent only to the owner of an address, or to all stations to find the owner.
    std::optional<wire::EthernetHeader> own = std::nullopt;
  };
  struct Silence {
    IpAddress host;
    Instant asked_from;
  };
  static constexpr Duration kNoted = Duration::seconds(60);
  static constexpr std::size_t kEntries = 4096;
  // Maximum number of open requests with the router's MAC as source. The same maximum applies to
  // requests with the gateway's own MAC.
  static constexpr std::size_t kQuestions = 64;
  // Maximum number of open requests with the gateway's own MAC that are sent to all stations. Even
  // stray SYNs cause such requests, and some places must be left for requests to owners.
  static constexpr std::size_t kQuestionsToAll = kQuestions / 2;
  // Maximum number of addresses per second for which the gateway begins to send requests with its
  // own MAC.
  static constexpr unsigned kAskedPerSecond = 64;
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
  // Returns whether the gateway may begin to ask for one more address, and if so, counts the
  // address. Both the number of open requests and their rate are limited, since the number alone
  // would not limit requests to owners that answer at once.
  bool may_ask(Instant now);
  std::size_t questions_to_all() const;
  void ask(const LanAddress& address, const wire::EthernetHeader& own, std::uint8_t tries,
           Instant now);
  void forget(const LanAddress& address);
  void end_question(const Question& own, Instant now);

  const Policy& policy_;
  HashKey key_;
  IdVector<FarGatewayId, bool> routed_;
  const bool any_;
  MacAddress router_;
  std::vector<Entry> entries_;
  std::vector<Question> questions_;
  // The latest silent hosts, as a ring.
  std::array<Silence, kQuestions> silences_{};
  std::size_t next_silence_ = 0;
  std::size_t own_questions_ = 0;  // how many of `questions_` have the gateway's own MAC as source
  // A rate limit: each new address moves this time forward by 1 s / kAskedPerSecond. may_ask()
  // refuses an address if this time would be too far ahead of the clock.
  Instant asked_until_;
  LanOwners owners_;
  LearnedDestinations destinations_;
  const MacAddress own_mac_;
  AwaitedAnswers& awaited_;
  Counters& counters_;
  bool has_moved_ = false;
};

}  // namespace satrelay::gateway
