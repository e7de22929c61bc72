// The context that a session stores for each stream. It says whether the stream belongs to a flow,
// or to the messages between this gateway and a peer.
#pragma once

#include <cstdint>

#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class StreamContext {
 public:
  enum class Kind : std::uint8_t { kFlow, kMessages };

  static constexpr StreamContext of_flow(std::uint32_t slot) { return StreamContext(slot); }
  static constexpr StreamContext of_messages(LaneId lane) {
    return StreamContext(kMessagesBit | lane.number());
  }
  explicit constexpr StreamContext(std::uint32_t number) : number_(number) {}

  constexpr std::uint32_t number() const { return number_; }  // the number that a session stores
  constexpr Kind kind() const {
    return (number_ & kMessagesBit) != 0 ? Kind::kMessages : Kind::kFlow;
  }
  constexpr std::uint32_t slot() const { return number_; }  // slot of the flow
  // The lane to which the messages belong.
  constexpr LaneId lane() const { return LaneId(number_ & ~kMessagesBit); }

 private:
  static constexpr std::uint32_t kMessagesBit = std::uint32_t{1} << 31;
  std::uint32_t number_;
};

}  // namespace satrelay::gateway
