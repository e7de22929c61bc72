// SYNs that were bridged because their destination may be between the two gateways
// (addresses/between_gateways.h). Such a SYN is on trial: if its answer arrives sooner than any far
// host could answer, the destination is a device between the gateways.
//
// ARP or Neighbour Discovery may give a hint that an address is between the gateways. If a SYN to
// such an address gets no answer in time, the SYN is withdrawn: the far host gets a reset. The far
// gateway may have bridged the SYN to that host, and the connection must not go on unencrypted. The
// number of SYNs for each address is limited, and so is the number of addresses.
//
// A SYN that was answered in time also stays here. A forger on the path may have answered it in the
// far host's name. Then the far host also answers, and its answer exposes the forger.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pep/base/time.h"
#include "relay/gateway/addresses/lan/lan_owners.h"
#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

class SynTrials {
 public:
  static constexpr std::size_t kMostAddresses = 64;
  // Maximum number of unconfirmed addresses, so that a flood of hints leaves room for confirmed
  // addresses.
  static constexpr std::size_t kMostUnconfirmed = 48;
  static constexpr std::size_t kMostSyns = 8;  // SYNs of one address; a browser sends six at once
  // How long a SYN is kept: as long as the record of a bridged SYN
  // (RecentConnections::kRepetitions).
  static constexpr Duration kKept = Duration::seconds(120);

  enum class Sign : std::uint8_t {
    kHint,
    kConfirmed,
    kVoid,  // the address is not between the gateways: its SYNs are withdrawn
  };
  struct Syn {
    FlowKey key;
    std::uint32_t sequence = 0;
    Instant sent;     // when the SYN was sent first
    Duration within;  // a device answers within this time
    // True if the link's queue has delayed the SYN. A late answer then proves nothing, but an
    // answer in time still shows that a device between the gateways has answered.
    bool has_waited = false;
    bool is_repeated = false;  // the SYN was repeated: an answer may be to the repetition
    bool is_reset = false;     // a reset was sent to the far host
    // Sequence number of the SYN-ACK, if one arrived in time.
    std::optional<std::uint32_t> answer = {};
    bool is_late(Instant now) const { return now - sent >= within; }
  };
  struct Trial {
    LanAddress address;
    Sign sign = Sign::kHint;
    std::array<Syn, kMostSyns> syns;
    std::size_t count = 0;
    Instant until;
    Instant ask_again;  // when to ask the peer again whether its LAN has the address
    std::span<Syn> all() { return std::span(syns).first(count); }
    std::span<const Syn> all() const { return std::span(syns).first(count); }
  };

  SynTrials() { trials_.reserve(kMostAddresses); }

  // Whether a SYN to this unconfirmed address was not answered in time.
  bool is_overdue(const LanAddress& address, Instant now) const;
  // Puts a SYN on trial. Returns false if there is no room. If a confirmed address has too many
  // SYNs, its earliest SYN is removed. If the SYN is already on trial, the time of its first
  // transmission is kept.
  bool begin(const LanAddress& address, Sign sign, const Syn& syn);
  struct Found {
    Trial* trial = nullptr;  // nullptr if the SYN is not on trial
    Syn* syn = nullptr;
  };
  Found find(const FlowKey& key, std::uint32_t sequence, Instant now);
  // Returns nullptr if the address has no SYNs on trial.
  Trial* trial_of(const LanAddress& address);
  // Removes the SYNs of this connection, which is no longer on trial.
  void end(const FlowKey& key);

 private:
  const Trial* trial_of(const LanAddress& address) const;
  Trial* room_for(const LanAddress& address, Sign sign, Instant now);

  std::vector<Trial> trials_;
};

}  // namespace satrelay::gateway
