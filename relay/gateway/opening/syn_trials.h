// SYNs that were bridged because their destination seems to be between the two gateways
// (addresses/between_gateways.h). Each SYN tests whether it is: a device between the gateways
// acknowledges the SYN's sequence number sooner than any far host could.
//
// If a SYN that is tried because of a hint gets no answer in time, it is withdrawn. The far host
// may have got the SYN, as the far gateway bridges it, and the connection must not go on
// unencrypted. The number of such SYNs is limited for each address, and so is the number of
// addresses that have any.
//
// A SYN that was answered in time also stays here. A forger that sees the SYN on the path can
// answer it in the far host's name. Then the second answer, from the far host itself, exposes the
// forger.
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
  // Unconfirmed addresses have at most this many trials, so that a flood of hints leaves trials for
  // confirmed addresses.
  static constexpr std::size_t kMostUnconfirmed = 48;
  static constexpr std::size_t kMostSyns = 8;  // SYNs of one address; a browser sends six at once
  // As long as bridged SYNs are remembered (RecentConnections::kRepetitions).
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
    // The link's queue has delayed the SYN. Then a late answer proves nothing, but an answer in
    // time still confirms the device.
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

  // Whether a SYN that was tried because of a hint was not answered in time.
  bool is_overdue(const LanAddress& address, Instant now) const;
  // Puts a SYN on trial. Returns false if there is no room. The earliest SYN of a confirmed address
  // is removed for a later SYN. For a repeated SYN, the time of its first transmission is kept.
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
