// What is outstanding, what of it the peer has reported (RFC 2018), and what is taken for lost
// (RFC 6675). Positions are 64-bit and include the FIN.
//
// Every position in [una, next) is in exactly one of three conditions:
//   sacked    reported by the peer: never sent again unless the peer reneges
//   lost      taken for lost, and not sent again yet
//   in flight all others: the original, or the latest retransmission
// so RFC 6675's pipe is a subtraction, and each event costs O(ranges it changes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/range_set.h"

namespace satrelay::tcp {

class Scoreboard {
 public:
  // Whether the peer reports blocks; decided by the handshake.
  void set_selective(bool selective) { selective_ = selective; }

  std::uint64_t una() const { return una_; }
  std::uint64_t next() const { return next_; }
  std::uint64_t outstanding() const { return next_ - una_; }
  std::uint64_t pipe() const {
    const std::uint64_t gone = sacked_.total() + lost_.total() + duplicate_credit_;
    return outstanding() > gone ? outstanding() - gone : 0;
  }
  std::uint64_t highest_sacked() const;  // exclusive; una() if nothing is sacked
  bool has_lost() const { return !lost_.empty(); }
  Range first_lost() const { return lost_.ranges().front(); }
  const RangeSet& sacked() const { return sacked_; }

  void on_sent(std::uint64_t end) { next_ = end; }
  void on_retransmitted(Range range);

  // Cumulative acknowledgment up to `ack`, in (una, next]. Returns the bytes not reported before.
  std::uint64_t acknowledge(std::uint64_t ack);
  // A SACK block; whatever lies outside (una, next] is ignored. Returns the bytes new to us.
  std::uint64_t sack(Range block);
  // Applies IsLost() with DupThresh 3, and finds retransmissions that were lost in their turn.
  void detect_losses(std::uint64_t segment_size);
  // Takes the first segment for lost: the third duplicate ACK, or a partial ACK without SACK.
  void mark_first_lost(std::uint64_t segment_size);
  // Retransmission timeout: all that is not sacked is lost. Forgets SACK information if the peer
  // has reneged (RFC 2018 section 8).
  void mark_all_lost();
  // RFC 6675 NextSeg rule 3: the first hole below the highest SACK block, at or above `from`, that
  // is neither lost nor retransmitted since it was sent.
  std::optional<Range> first_hole(std::uint64_t from) const;
  void take_for_lost(Range range);

  // Without SACK: bytes that duplicate ACKs say have left the network.
  void set_duplicate_credit(std::uint64_t bytes) { duplicate_credit_ = bytes; }

  bool is_consistent() const;

 private:
  // A retransmission and what next() was then: once data sent after it is reported, it is lost.
  struct Retransmission {
    Range range;
    std::uint64_t next;
  };
  void insert_holes(Range range);
  void detect_lost_retransmissions(std::uint64_t segment_size);
  void forget_retransmissions();

  std::uint64_t una_ = 0;
  std::uint64_t next_ = 0;
  bool selective_ = false;
  RangeSet sacked_;
  RangeSet lost_;
  std::uint64_t judged_ = 0;  // holes below have been taken for lost once
  std::uint64_t duplicate_credit_ = 0;
  std::vector<Retransmission> retransmissions_;  // in order of sending, from retransmissions_head_
  std::size_t retransmissions_head_ = 0;
};

}  // namespace satrelay::tcp
