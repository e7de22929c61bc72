// The channel between a gateway and the supervisor that has started it. The supervisor joins the
// two ports by a kernel bridge while the gateway does not forward, and keeps the rights that the
// gateway gives up.
//
//     gateway                                         supervisor
//     opens its ports, which ignore all frames        the bridge forwards
//        ------------------ kReady ------------------>
//                                                     removes the bridge
//        <---------------- kForward ------------------
//     forwards
//        ------------------ kRound ------------------> at least once in kLongestSilence
//        ----------------- kPrepare ----------------->
//        <---------- kPrepared, kRefused -------------
//        ------------ kLanDown, kLanUp --------------->
//     forwards no more
//        ------------------ kDone ------------------->
//                                                     joins the ports
//     ends
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pep/base/time.h"

namespace satrelay::supervision {

enum class Word : std::uint8_t {
  kReady = 1,
  kForward,
  kRound,    // all workers of the gateway run
  kPrepare,  // text: "lan" or "wan"; set up the interface of this port as at the start
  kPrepared,
  kRefused,  // text: why
  kDone,
  kLanUp,    // switch the interface of port lan on, if the configuration lets it follow port wan
  kLanDown,  // switch it off
};

struct Message {
  Word word{};
  std::string text;  // at most kMostText bytes
};

inline constexpr std::size_t kMostText = 1024;

// A forwarding gateway that says nothing for so long hangs. The supervisor kills it.
inline constexpr Duration kLongestSilence = Duration::seconds(8);
// A gateway says kRound this often.
inline constexpr Duration kRoundInterval = Duration::milliseconds(500);

// The environment variable with the number of the descriptor that the gateway inherits.
inline constexpr const char* kVariable = "SATRELAY_SUPERVISOR";

// One end of the channel: a socket of type SOCK_SEQPACKET. Messages keep their order. Any thread
// may send; one thread at a time may receive.
class Channel {
 public:
  // Takes over `descriptor`.
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;
  ~Channel();

  int descriptor() const { return descriptor_; }
  // False if the other end is closed, or takes no more messages now.
  [[nodiscard]] bool send(const Message& message) const;

  enum class Outcome : std::uint8_t { kMessage, kNothingYet, kClosed };
  // Waits for a message for at most `patience`; a signal ends the wait. Ignores what is no message.
  Outcome receive(Message& message, Duration patience) const;

 private:
  int descriptor_ = -1;
};

struct ChannelPair {
  Channel supervisor;
  Channel gateway;
};
// Both ends are closed on exec. Throws std::system_error.
ChannelPair make_channel();

// Takes over the gateway's end, and removes the variable from the environment. Returns nullopt if
// no supervisor has started this process. Throws std::runtime_error if the variable names no
// socket.
std::optional<Channel> inherited_channel();

}  // namespace satrelay::supervision
