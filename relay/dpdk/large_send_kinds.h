// Which large frames an interface takes, as a rule: what it has refused is sent in pieces.
//
// A kernel before 6.2 knows no UDP_L4 in a packet socket (EINVAL). A network card that cannot cut,
// or not behind VLAN tags, is told apart from one that is merely busy only by time: both drop the
// frame (ENOBUFS).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace satrelay::dpdk {

class LargeSendKinds {
 public:
  // Drops of a kind that was never taken, until that is believed.
  static constexpr std::uint8_t kPatience = 3;

  struct Kind {
    bool is_tcp = false;
    bool is_v4 = false;
    std::size_t tags = 0;  // VLAN, at most 2
  };

  bool takes(const Kind& kind) const { return state(kind).drops < kPatience; }
  void on_taken(const Kind& kind) { state(kind) = {.was_taken = true, .drops = 0}; }
  // The kernel has no word for it.
  void on_unknown(const Kind& kind) { state(kind) = {.was_taken = false, .drops = kPatience}; }
  void on_dropped(const Kind& kind) {
    State& now_is = state(kind);
    if (!now_is.was_taken && now_is.drops < kPatience) ++now_is.drops;
  }
  bool is_proven(const Kind& kind) const { return state(kind).was_taken; }
  // Another interface, or one that has come up.
  void forget() { states_ = {}; }

 private:
  static constexpr std::size_t kTags = 3;
  struct State {
    bool was_taken = false;
    std::uint8_t drops = 0;
  };
  static std::size_t index(const Kind& kind) {
    return (kind.is_tcp ? 2U * kTags : 0U) + (kind.is_v4 ? kTags : 0U) + kind.tags;
  }
  State& state(const Kind& kind) { return states_[index(kind)]; }
  const State& state(const Kind& kind) const { return states_[index(kind)]; }

  std::array<State, 4 * kTags> states_{};
};

}  // namespace satrelay::dpdk
