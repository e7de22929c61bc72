// The state that belongs to one boot epoch of the peer. A session has one association at a time.
// When the peer has another boot epoch, or one end closes, a new association replaces this one. So
// its members need not be reset. There are two exceptions: the new association takes over the
// memory of `ledger` and the rate gate of the path (SessionCore::begin_anew()).
//
// All paths share one sequence of packet numbers in each direction: `ledger` keeps ours, and
// `received` keeps the peer's. A nonce consists of direction, lane and number, so two paths must
// not use the same number.
#pragma once

#include <utility>

#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/numbers/received_packets.h"
#include "pep/stp/numbers/sent_ledger.h"
#include "pep/stp/path/path.h"

namespace satrelay::stp {

class Association {
 public:
  // `unused` is a ledger without packets, and `only` is the path of the association.
  Association(SentLedger unused, Path only) : ledger(std::move(unused)), path_(std::move(only)) {}

  Path& path() { return path_; }
  const Path& path() const { return path_; }

  // Whether the peer may have restarted. A newcomer is the sender of a HELLO with another boot
  // epoch that has not proved yet that it is the peer (handshake.h). This is set when a newcomer
  // appears while the peer is alive and there is no other newcomer. The next packet of the peer
  // clears it.
  bool doubts_peer = false;
  // Capacity of the direction to the peer, from the peer's RATE frames.
  AnnouncedCapacity peer_capacity;
  SentLedger ledger;
  ReceivedPackets received;

 private:
  Path path_;
};

}  // namespace satrelay::stp
