// One end of an STP session with the right keys, for hostile peers. It uses the handshake and the
// packet protection of pep/stp, but lets its owner choose the frames to send.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/connection/handshake.h"
#include "pep/stp/connection/key_exchange.h"
#include "pep/stp/connection/protection.h"
#include "pep/stp/connection/security.h"
#include "pep/stp/numbers/received_packets.h"

namespace satrelay::sim {

// One lane between two gateways, and the number of lanes between them.
struct SpokenLane {
  std::uint8_t number = 0;
  std::uint8_t count = 1;
};

class StpSpeaker {
 public:
  struct Config {
    std::uint64_t epoch = 0;
    SpokenLane lane;
    bool opens_even_streams = false;
    std::optional<stp::Security> security;
    std::uint64_t lane_credit = 0;
    std::uint64_t stream_credit = 0;
  };
  static constexpr std::uint16_t kDatagramSize = 1472;

  StpSpeaker(const Config& config, Instant now);

  // If the datagram is a new, valid packet of this session, returns its frames, which are readable
  // until the next call. Returns nullopt for any other packet, including HELLOs.
  std::optional<ConstBytes> handle_packet(ConstBytes datagram, Instant now);
  // Returns true once for each session that began with a received packet.
  bool take_began() { return std::exchange(began_, false); }

  Instant next_hello() const { return handshake_.next_hello(); }
  std::vector<std::byte> hello(Instant now);
  // Schedules a HELLO at the time next_hello(), as if a packet of an unknown session had arrived:
  // STP answers such packets with a HELLO, at a limited rate.
  void greet(Instant now) { handshake_.answer_stranger(now); }

  bool can_send() const { return can_send_; }
  // Writes a packet of the session with these frames. Packet numbers are consecutive, except after
  // skip(). If `is_covered`, the header says that a code covers the packet.
  std::vector<std::byte> packet(ConstBytes frames, bool is_covered, Instant now);
  void skip(std::uint64_t numbers) { next_ += numbers; }
  std::uint64_t next_number() const { return next_; }
  stp::ReceivedPackets& received() { return received_; }
  std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  void handle_hello(ConstBytes datagram, const stp::PacketHeader& header, Instant now);
  void take_keys(const stp::SessionKeys& of_our_offer, Instant now);

  Config config_;
  stp::Handshake handshake_;
  std::optional<stp::KeyExchange> key_exchange_;
  stp::Protection protection_;
  stp::ReceivedPackets received_;
  std::uint64_t bound_to_ = 0;  // boot epoch of the peer; 0 means that there is no peer yet
  std::uint64_t next_ = 0;      // number of the next packet
  std::uint64_t bytes_received_ = 0;
  bool can_send_ = false;
  bool began_ = false;
};

}  // namespace satrelay::sim
