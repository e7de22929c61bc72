// A TCP client without a TCP stack. It opens a connection, then sends invented segments in an
// invented order. It learns the state of the connection only from the frames that the server sends
// back.
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
    kDisorder,   // single bytes at bit-reversed positions, so that each byte is a separate range
    kOverlaps,   // segments of any position and length, with overlaps that contradict each other
    kSelective,  // SACK blocks for bytes that were never sent
  };
  using Send = std::function<void(ConstBytes)>;

  RawClient(const KnownFlow& flow, Manner manner, std::uint64_t seed, Send send);

  void open();
  // Handles a frame from the LAN. Returns true if the frame belongs to this connection.
  bool handle_frame(ConstBytes bytes);
  // Sends the next segment, which depends on the manner. Does nothing before the connection is
  // open.
  void step();
  // Sends a RST with the right sequence number.
  void leave();
  bool is_open() const { return established_; }

 private:
  void send(std::uint8_t flags, std::uint64_t offset, std::size_t size);

  KnownFlow flow_;
  Manner manner_;
  Random random_;
  Send send_;
  std::uint32_t initial_;
  std::uint32_t acknowledgment_ = 0;  // next byte expected from the server
  std::uint32_t server_initial_ = 0;
  std::uint64_t window_ = 0;
  std::uint8_t scale_ = 0;
  bool established_ = false;
  std::uint64_t acknowledged_ = 0;  // number of bytes that the server has acknowledged
  std::uint32_t step_ = 0;
};

}  // namespace satrelay::sim
