// A TCP client without a TCP: it opens a connection and then sends its bytes in segments of its own
// making, in an order of its own. It knows no more than what comes back to it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/random.h"
#include "pep/wire/ethernet.h"
#include "relay/sim/adversaries/frame_crafter.h"
#include "relay/sim/network/tcp_frame.h"

namespace satrelay::sim {

class RawClient {
 public:
  enum class Manner : std::uint8_t {
    kDisorder,   // single bytes, bit-reversed: each a range of its own
    kOverlaps,   // segments of any place and length, each with bytes of its own
    kSelective,  // SACK blocks of what was never sent
  };
  using Send = std::function<void(ConstBytes)>;

  RawClient(const KnownFlow& flow, Manner manner, std::uint64_t seed, Send send);

  void open();
  // A frame from the LAN; true if it was one of this connection's.
  bool handle_frame(ConstBytes bytes);
  // The next segment of its manner; nothing before the connection stands.
  void step();
  // RST with the right number.
  void leave();
  bool is_open() const { return established_; }

 private:
  void send(std::uint8_t flags, std::uint64_t offset, std::size_t size);

  KnownFlow flow_;
  Manner manner_;
  Random random_;
  Send send_;
  std::uint32_t initial_;
  std::uint32_t acknowledgment_ = 0;  // of what the server has said
  std::uint32_t server_initial_ = 0;
  std::uint64_t window_ = 0;
  std::uint8_t scale_ = 0;
  bool established_ = false;
  std::uint64_t acknowledged_ = 0;  // offsets of its own bytes
  std::uint32_t step_ = 0;
};

}  // namespace satrelay::sim
