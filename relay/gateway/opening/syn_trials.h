// SYNs that were bridged as their address seems to stand between the two gateways
// (addresses/between_gateways.h). Each tests that: the device acknowledges its number sooner than
// any far host could.
//
// A SYN of a mere hint that is not answered in time is taken back: the far host may have it, as the
// far gateway bridges it. Its connection must not go on in the clear. An address has few such SYNs
// at a time, and few addresses have any.
//
// A SYN that was answered in time stays as well. A forger who sees it on the way can answer it in
// the far host's name. The second answer, of the far host itself, shows that.
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
  // Unconfirmed addresses have no more of these, so that a flood of hints leaves the others theirs.
  static constexpr std::size_t kMostUnconfirmed = 48;
  static constexpr std::size_t kMostSyns = 8;  // of one address: a browser opens six at once
  // Bridged SYNs are remembered as long (RecentConnections::kRepetitions).
  static constexpr Duration kKept = Duration::seconds(120);

  enum class Sign : std::uint8_t {
    kHint,
    kConfirmed,
    kVoid,  // all SYNs are taken back
  };
  struct Syn {
    FlowKey key;
    std::uint32_t sequence = 0;
    Instant sent;     // the first time
    Duration within;  // the device answers so soon
    // The queue of the link has held it: a device may answer late, and no answer is too soon.
    bool has_waited = false;
    bool is_repeated = false;                  // its answer may be one to the repetition
    bool is_reset = false;                     // the far host was told that it is taken back
    std::optional<std::uint32_t> answer = {};  // the number of the SYN-ACK that came in time
    bool is_late(Instant now) const { return now - sent >= within; }
  };
  struct Trial {
    LanAddress address;
    Sign sign = Sign::kHint;
    std::array<Syn, kMostSyns> syns;
    std::size_t count = 0;
    Instant until;
    Instant ask_again;  // the peer, whether its LAN has the address
    std::span<Syn> all() { return std::span(syns).first(count); }
    std::span<const Syn> all() const { return std::span(syns).first(count); }
  };

  SynTrials() { trials_.reserve(kMostAddresses); }

  // Whether a SYN of a hint has not been answered in time.
  bool is_overdue(const LanAddress& address, Instant now) const;
  // False, and no effect: there is no room for it. The earliest of a confirmed address gives way. A
  // repeated SYN keeps its first time.
  bool begin(const LanAddress& address, Sign sign, const Syn& syn);
  struct Found {
    Trial* trial = nullptr;  // nullptr: the SYN is not on trial
    Syn* syn = nullptr;
  };
  Found find(const FlowKey& key, std::uint32_t sequence, Instant now);
  // nullptr: it has no SYNs.
  Trial* trial_of(const LanAddress& address);
  // The connection of that SYN is over, or refused.
  void end(const FlowKey& key);

 private:
  const Trial* trial_of(const LanAddress& address) const;
  Trial* room_for(const LanAddress& address, Sign sign, Instant now);

  std::vector<Trial> trials_;
};

}  // namespace satrelay::gateway
