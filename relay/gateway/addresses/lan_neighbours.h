// Where the hosts of the LAN are, for gateways whose peers are behind a router: there the frame of
// the far host's SYN says nothing about this LAN. Learnt from the frames that hosts send to far
// hosts, and from ARP and Neighbour Discovery; a host that was never heard is asked for.
//
// A frame from the WAN shows where the router expects its host, but anybody may have forged it. It
// is noted in an empty place only, for a while, and used when the host does not answer.
//
// Fixed size, direct-mapped: a later host in the same place takes it over, and the earlier one is
// asked for anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "config/schema.h"
#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
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

  LanNeighbours(const config::Gateway& config, const Policy& policy, HashKey key);

  bool is_routed(std::size_t peer) const { return routed_[peer]; }
  // The router's MAC, as its side of the LAN knows it.
  void set_router(const MacAddress& mac) { router_ = mac; }
  // What the frame tells, if it tells of a host of the LAN.
  std::optional<Heard> learn_from_lan(const Frame& frame);
  // A frame that is bridged to the LAN.
  void note_from_wan(const Frame& frame, Instant now);
  std::optional<wire::EthernetHeader> find(const IpAddress& host, Instant now) const;

  // Asks for an untagged host, up to three times. The sender's address stays open, as in RFC 5227
  // section 2.1.1 and RFC 4862 section 5.4: the gateway has none on the LAN.
  void ask(const IpAddress& host, Instant now);
  void handle_timeout(Instant now);
  // A host that has not answered twice, if a frame from the WAN has shown where it may be. One in
  // each call; the host itself may still answer.
  std::optional<Heard> take_unanswered(Instant now);
  Instant next_timeout() const;
  // The next question; its size, 0 if there is none.
  std::size_t poll_frame(MutableBytes out);

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
    Instant next;
    std::uint8_t left = 0;
    bool due = false;
    bool falls_back = false;
  };
  static constexpr Duration kNoted = Duration::seconds(60);
  static constexpr std::size_t kEntries = 4096;
  static constexpr std::size_t kQuestions = 64;
  static constexpr std::uint8_t kTries = 3;

  std::size_t place(const IpAddress& host) const;
  static bool is_valid(const Entry& entry, Instant now) {
    return entry.source == Source::kLan || (entry.source != Source::kNone && now < entry.until);
  }
  Heard put(const IpAddress& host, const wire::EthernetHeader& towards);
  std::optional<Heard> put_mac(const IpAddress& host, const MacAddress& mac,
                               const wire::EthernetHeader& seen);
  bool is_far(const IpAddress& host) const;

  const Policy& policy_;
  HashKey key_;
  std::vector<bool> routed_;  // by peer
  const bool any_;
  MacAddress router_;
  std::vector<Entry> entries_;
  std::vector<Question> questions_;
};

}  // namespace satrelay::gateway
