// Forward error correction of one session: what both halves share, and the halves.
#pragma once

#include <cstddef>

#include "pep/stp/fec/fec_codec.h"
#include "pep/stp/fec/fec_policy.h"
#include "pep/stp/fec/fec_receiver.h"
#include "pep/stp/fec/fec_sender.h"

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

  FecCodec codec;
  FecPolicy policy;
  FecSender sender;
  FecReceiver receiver;
  std::uint64_t peer_repaired = 0;  // packets of ours, as the peer reports
};

}  // namespace satrelay::stp
