// Explicit congestion notification (RFC 3168): whether both sides use it, and whether our ACKs echo
// a mark to the peer. The functions of output/ decide which segments may be marked, and Sender
// reacts to an echo.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// The two ECN bits of the IP header (section 5).
enum class EcnField : std::uint8_t { kNotCapable = 0, kCapable1 = 1, kCapable0 = 2, kMarked = 3 };
inline EcnField ecn_field(std::uint8_t traffic_class) {
  return static_cast<EcnField>(traffic_class & 3);
}

enum class EcnOffer : std::uint8_t { kNo, kYes };

class Ecn {
 public:
  static constexpr std::uint8_t kSetup = wire::TcpFlags::kEce | wire::TcpFlags::kCwr;

  // --- handshake, section 6.1.1 ---
  void offer() { offered_ = true; }
  bool offered() const { return offered_; }
  // For a server. The latest SYN of the client counts, as the client may have fallen back to a SYN
  // without ECN.
  void on_syn(const wire::TcpHeader& syn, bool allowed) {
    agreed_ = allowed && (syn.flags & kSetup) == kSetup;
  }
  void on_syn_ack(const wire::TcpHeader& syn_ack) {
    agreed_ = offered_ && (syn_ack.flags & kSetup) == wire::TcpFlags::kEce;
  }
  bool agreed() const { return agreed_; }

  // --- the peer's data, section 6.1.3 ---
  // After a marked segment, echo() is true until the peer sends CWR. Returns whether this segment
  // was marked.
  bool on_data(const wire::TcpHeader& header, EcnField field) {
    if (!agreed_) return false;
    if (header.has(wire::TcpFlags::kCwr)) echo_ = false;
    if (field != EcnField::kMarked) return false;
    echo_ = true;
    return true;
  }
  bool echo() const { return echo_; }

  void image(Image& image) { image(offered_, agreed_, echo_); }

 private:
  bool offered_ = false;
  bool agreed_ = false;
  bool echo_ = false;
};

}  // namespace satrelay::tcp
