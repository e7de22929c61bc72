// Limits how much work HELLOs cause for a worker. The limit does not depend on the number of
// senders and sessions. All sessions of the worker share one budget (docs/security.md, "Limits of
// what anybody may cause").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "pep/stp/connection/turns.h"

namespace satrelay::stp {

class HelloBudget {
 public:
  // Offers with a correct MAC. Each offer takes hashes, and our answer takes two or three
  // multiplications on the curve, in total about 150 us.
  static constexpr Turns::Pace kOffers = {Duration::milliseconds(20), 128,
                                          Duration::milliseconds(1)};
  // HELLOs without a MAC. Older builds send such HELLOs.
  static constexpr Turns::Pace kWithoutMac = {Duration::milliseconds(20), 16,
                                              Duration::milliseconds(1)};
  // Our own HELLOs other than answers to holders of the secret, and repeated CLOSEs.
  static constexpr Turns::Pace kOurs = {Duration::milliseconds(5), 64, Duration::zero()};
  // Our answers to HELLOs that accept our offers. Such a HELLO is read without a turn. If it also
  // contains an offer, and our answer accepts this offer, then reading and answering take about 150
  // us.
  static constexpr Turns::Pace kAnswers = {Duration::milliseconds(10), 128, Duration::zero()};
  // If a peer has proved that its HELLOs have MACs, then HELLOs without a MAC in its name are
  // dropped for this time.
  static constexpr Duration kMacExpected = Duration::seconds(600);

  explicit HelloBudget(std::size_t peers)
      : offers(peers, kOffers),
        without_mac(peers, kWithoutMac),
        ours(peers, kOurs),
        answers(peers, kAnswers),
        proved_(peers, Instant() - kMacExpected) {}

  Turns offers;
  Turns without_mac;
  Turns ours;
  Turns answers;

  // To be called when a HELLO of the peer with a MAC was proved to be new, and not replayed.
  void on_mac_proved(std::uint32_t peer, Instant now) { proved_[peer] = now; }
  bool expects_mac(std::uint32_t peer, Instant now) const {
    return now < proved_[peer] + kMacExpected;
  }

 private:
  std::vector<Instant> proved_;
};

}  // namespace satrelay::stp
