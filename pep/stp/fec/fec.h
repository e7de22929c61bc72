// Forward error correction of one session: what both halves share, and the halves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/fec/fec_policy.h"
#include "pep/stp/fec/fec_receiver.h"
#include "pep/stp/fec/fec_sender.h"
#include "pep/stp/packets/sent_ledger.h"

namespace satrelay::stp {

struct Fec {
  explicit Fec(std::size_t max_datagram)
      : sender(codec, policy, max_datagram), receiver(codec, max_datagram) {}

  void clear() {
    policy.clear();
    sender.clear();
    receiver.clear();
    peer_repaired = 0;
  }

  // A packet that carries `items` leaves, and repairs shall be able to stand for it.
  void protect(std::uint64_t number, ConstBytes frames, std::span<const SentItem> items,
               Instant now);
  // A report says how many of our packets it counts as received although the path has lost them,
  // over all; how many that are more than before.
  std::uint64_t note_repaired(std::uint64_t repaired) {
    if (repaired <= peer_repaired) return 0;
    const std::uint64_t more = repaired - peer_repaired;
    peer_repaired = repaired;
    return more;
  }

  FecCodec codec;
  FecPolicy policy;
  FecSender sender;
  FecReceiver receiver;
  std::uint64_t peer_repaired = 0;  // packets of ours, as the peer reports
};

}  // namespace satrelay::stp
