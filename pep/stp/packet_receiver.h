// The receiving side of a session: it opens packets, applies their frames, and uses repairs.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/stp/fec/fec_receiver.h"
#include "pep/stp/path/reception.h"
#include "pep/stp/session_core.h"
#include "pep/stp/wire/packet.h"
#include "pep/stp/wire/repair_frame.h"

namespace satrelay::stp {

class PacketReceiver {
 public:
  // `core` must outlive this object.
  explicit PacketReceiver(SessionCore& core) : core_(core) {}

  // `reception` describes the port at which the packet arrived.
  void handle_packet(ConstBytes datagram, const Reception& reception);
  // Uses waiting repairs until the budget of this call is spent.
  void work_off_repairs();

 private:
  struct FrameHandler;
  // The frames of a packet that was checked and decrypted.
  struct Opened {
    std::uint64_t number = 0;
    ConstBytes frames;
  };
  enum class GapMay : std::uint8_t { kBeDisorder, kBeRepaired };

  void handle_frames(ConstBytes datagram, const PacketHeader& header);
  // Checks and decrypts a packet of the session. A packet of the newcomer may begin a new session.
  // Returns nullopt if the packet was dropped and counted.
  std::optional<Opened> open_packet(ConstBytes datagram, const PacketHeader& header);
  void on_packet_recorded(std::uint64_t number, bool gap, bool eliciting, GapMay may);
  void handle_protection(std::uint64_t number, ConstBytes frames,
                         const std::optional<RepairFrame>& repair);
  void handle_repair(const RepairFrame& repair);
  void settle_known(FecReceiver& receiver);
  void use_repaired(FecReceiver& receiver);

  SessionCore& core_;
  Reception reception_;  // for the packet that is being handled
};

}  // namespace satrelay::stp
