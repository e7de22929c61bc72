// Budgets on a link for frames that the gateway itself originates, and for control frames of layer
// 2. These frames do not wait in a class of traffic. Other stations can cause them, so each kind of
// frame has a budget, which limits its part of the link.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/budget.h"

namespace satrelay::gateway {

// Frames that the gateway originates because of other stations or timers.
enum class OwnFrame : std::uint8_t {
  kEcho,              // a reply to a ping
  kNeighbour,         // an answer to ARP or a neighbour solicitation
  kNeighbourRequest,  // an ARP request or neighbour solicitation of the gateway, caused by a timer
  kReset,             // RST
};

// Decides whether the gateway may send a frame of its own, before the frame is written.
class OwnFrames {
 public:
  virtual ~OwnFrames() = default;
  // Returns true if a frame of `frame_size` octets may be sent, and charges the frame to the
  // budget. `known`: the frame is for the next hop, a peer or a host behind a peer.
  virtual bool take(OwnFrame kind, bool known, std::size_t frame_size, Instant now) = 0;
};

class OwnTraffic {
 public:
  // `workers`: the workers of the gateway, which share the link. Only the first worker answers
  // pings and ARP and forwards control frames, so their budgets are not divided. All other budgets
  // are divided by `workers`.
  explicit OwnTraffic(unsigned workers) : workers_(workers) {}
  OwnTraffic(const OwnTraffic&) = delete;
  OwnTraffic& operator=(const OwnTraffic&) = delete;

  // `link`: the rate of the link, for all workers together.
  void set_rate(BitRate link, Instant now) {
    const BitRate tenth = link.scaled(1, 10);
    const BitRate hundredth = link.scaled(1, 100);
    // HELLOs and CLOSEs are charged to the common budget `all_`, but do not wait for it. So even on
    // a slow link, each kind of frame gets at most a seventh of the common rate.
    const BitRate small = std::min(std::max(hundredth, kOneFrameASecond), tenth.scaled(1, 7));
    const auto part = [&](BitRate rate) { return rate.scaled(1, workers_); };
    control_.set_rate(std::min(std::max(hundredth, kLeastControl), tenth), now);
    all_.set_rate(part(tenth), now);
    frames_[index(OwnFrame::kEcho)].set_rate(small, now);
    frames_[index(OwnFrame::kNeighbour)].set_rate(small, now);
    frames_[index(OwnFrame::kNeighbourRequest)].set_rate(part(small), now);
    frames_[index(OwnFrame::kReset)].set_rate(part(small), now);
    hellos_.set_rate(part(small).scaled(1, 2), now);
    hello_answers_.set_rate(part(small).scaled(1, 2), now);
    closes_.set_rate(part(small), now);
  }
  // `accounted`: size as the link counts it.
  bool allows(OwnFrame kind, bool known, ByteCount accounted, Instant now) const {
    const auto claim = known ? control::Budget::Claim::kFirst : control::Budget::Claim::kOther;
    const control::Budget& budget = frames_[index(kind)];
    const bool is_short = accounted <= kSmallFrame || budget.earns_in_a_second(accounted);
    return is_short && budget.allows(accounted, claim, now);
  }
  void debit(OwnFrame kind, ByteCount accounted, Instant now) {
    frames_[index(kind)].debit(accounted, now);
  }
  // Budget for control frames of layer 2 from the LAN.
  control::Budget& control() { return control_; }
  // Budgets for the frames of sessions: unsolicited HELLOs, answers to the peer's HELLOs, and
  // CLOSE.
  control::Budget& hellos() { return hellos_; }
  control::Budget& hello_answers() { return hello_answers_; }
  control::Budget& closes() { return closes_; }

 private:
  // Size of a frame of 128 octets, including the overhead of Ethernet on the wire.
  static constexpr ByteCount kSmallFrame = ByteCount(128 + 24);
  static constexpr ByteCount kTwoSmallFrames = kSmallFrame * 2;
  // Size of four HELLOs, which are enough for a handshake if packets of the peer arrive.
  static constexpr ByteCount kHandshake = ByteCount(4 * 450);
  static constexpr BitRate kOneFrameASecond = BitRate::bits_per_second(kSmallFrame.value() * 8);
  static constexpr BitRate kLeastControl = BitRate::bits_per_second(16'000);

  static std::size_t index(OwnFrame kind) { return static_cast<std::size_t>(kind); }

  unsigned workers_;
  control::Budget control_{kTwoSmallFrames};
  // The budget for all frames that the gateway originates.
  control::Budget all_{kHandshake * 2};
  std::array<control::Budget, 4> frames_{
      control::Budget(kTwoSmallFrames, &all_), control::Budget(kTwoSmallFrames, &all_),
      control::Budget(kTwoSmallFrames, &all_), control::Budget(kTwoSmallFrames, &all_)};
  control::Budget hellos_{kHandshake, &all_};
  control::Budget hello_answers_{kHandshake, &all_};
  control::Budget closes_{kHandshake, &all_};
};

}  // namespace satrelay::gateway
