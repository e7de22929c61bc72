// The context that a session keeps for each stream. It says whether the stream belongs to a flow,
// or to the messages between this gateway and a peer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay::gateway {

class StreamContext {
 public:
  enum class Kind : std::uint8_t { kFlow, kMessages };

  static constexpr StreamContext of_flow(std::uint32_t slot) { return StreamContext(slot); }
  static constexpr StreamContext of_messages(std::size_t peer) {
    return StreamContext(kMessagesBit | static_cast<std::uint32_t>(peer));
  }
  explicit constexpr StreamContext(std::uint32_t number) : number_(number) {}

  constexpr std::uint32_t number() const { return number_; }  // as a session keeps it
  constexpr Kind kind() const {
    return (number_ & kMessagesBit) != 0 ? Kind::kMessages : Kind::kFlow;
  }
  // The flow's slot, or the index of the peer's session.
  constexpr std::uint32_t index() const { return number_ & ~kMessagesBit; }

 private:
  static constexpr std::uint32_t kMessagesBit = std::uint32_t{1} << 31;
  std::uint32_t number_;
};

}  // namespace satrelay::gateway
