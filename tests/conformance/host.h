// The host with the TCP under test: its wire, its clock and its application. Two classes implement
// it: EndpointHost in virtual time, KernelHost in real time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "tests/conformance/segment.h"

namespace satrelay::conformance {

inline constexpr Ports kPeerToHost{40'000, 8'080};
inline constexpr Ports kHostToPeer{8'080, 40'000};

enum class EcnOffered : std::uint8_t { kNo, kYes };

struct Departure {
  Instant at;
  Segment segment;
};

// How far from a script's time a segment may leave.
struct Tolerance {
  Duration early;
  Duration late;
  int late_share = 0;  // And 1/late_share of the interval, if not 0.
};

class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  virtual Tolerance tolerance() const = 0;
  virtual Instant now() = 0;
  // The oldest segment not yet returned. Waits for it until `deadline` at the latest.
  virtual std::optional<Departure> wait_for_segment(Instant deadline) = 0;
  // A TCP segment arrives from the peer; its checksum field is zero and means "right".
  virtual void deliver(std::vector<std::byte> segment, Ecn ecn) = 0;
  // An ICMP error about a packet of the host that began at `sequence`.
  virtual void deliver_too_big(std::uint32_t sequence, std::uint16_t mtu) = 0;
  // Another "destination unreachable" (RFC 792), with this code.
  virtual void deliver_unreachable(std::uint32_t sequence, std::uint8_t code) = 0;

  // The application.
  virtual void listen() = 0;
  virtual void connect(const std::vector<Option>& offer, EcnOffered ecn) = 0;
  virtual std::size_t write(ConstBytes bytes) = 0;
  virtual std::size_t write_urgent(ConstBytes bytes) = 0;  // The last byte is urgent.
  virtual bool at_mark() = 0;  // The next byte to read is the urgent one.
  virtual std::size_t readable() = 0;
  virtual std::vector<std::byte> read(std::size_t most) = 0;
  virtual bool at_end() = 0;    // The peer has finished, and everything was read.
  virtual void shutdown() = 0;  // Nothing more is written.
  virtual void abort() = 0;
  // From now on the host means the next connection between the same ports.
  virtual void forget_connection() = 0;
  virtual std::string state() = 0;  // "ESTABLISHED"
  virtual std::string
  error() = 0;  // "none", "reset", "refused", "timeout", "unreachable" or "aborted"
};

}  // namespace satrelay::conformance
