// All that was agreed with one epoch of the peer, and all that has happened since. A session has
// one association at a time. It builds another for the next peer, or when the peer is gone, so
// nothing is reset by hand.
//
// Packets of all paths have one sequence of numbers, which the ledger and the received packets
// keep: a nonce consists of direction, lane and number, so no two paths may use the same number.
#pragma once

#include <utility>

#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/numbers/received_packets.h"
#include "pep/stp/numbers/sent_ledger.h"
#include "pep/stp/path/path.h"

namespace satrelay::stp {

class Association {
 public:
  // `unused`: a ledger in which no packet is recorded. `only`: its path.
  Association(SentLedger unused, Path only) : ledger(std::move(unused)), path_(std::move(only)) {}

  // A second path would be a member beside this one. Then SentPacket says by which path a packet
  // has left, and the association chooses a path for each packet.
  Path& path() { return path_; }
  const Path& path() const { return path_; }

  bool doubts_peer = false;  // a newcomer greets in its name, and it has not been heard since
  AnnouncedCapacity peer_capacity;  // of the direction towards the peer
  SentLedger ledger;
  ReceivedPackets received;

 private:
  Path path_;
};

}  // namespace satrelay::stp
