// The state that belongs to one boot epoch of the peer. A session has one association at a time.
// When the peer is another, or gone, the session builds a new association, so no member has to be
// reset.
//
// The packets of all paths have one sequence of numbers, which `ledger` and `received` keep. A
// nonce consists of direction, lane and number, so two paths must not use the same number.
#pragma once

#include <utility>

#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/numbers/received_packets.h"
#include "pep/stp/numbers/sent_ledger.h"
#include "pep/stp/path/path.h"

namespace satrelay::stp {

class Association {
 public:
  // `unused` is a ledger without packets, and `only` is its path.
  Association(SentLedger unused, Path only) : ledger(std::move(unused)), path_(std::move(only)) {}

  // A second path would be another member. Then SentPacket would say by which path a packet was
  // sent, and the association would choose a path for each packet.
  Path& path() { return path_; }
  const Path& path() const { return path_; }

  // A newcomer has sent HELLO in the peer's name, and the peer was not heard since.
  bool doubts_peer = false;
  AnnouncedCapacity peer_capacity;  // capacity of the direction to the peer
  SentLedger ledger;
  ReceivedPackets received;

 private:
  Path path_;
};

}  // namespace satrelay::stp
