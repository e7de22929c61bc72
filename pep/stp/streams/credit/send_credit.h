// The credit that the peer grants us: for the lane, which all streams share (lane_share.h), and for
// each stream.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/stp/streams/credit/lane_credit.h"
#include "pep/stp/streams/credit/lane_share.h"
#include "pep/stp/streams/credit/start_credit.h"
#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

class SendCredit {
 public:
  // Takes over the credit that the peer's HELLO grants. There are no streams yet.
  void start(std::uint64_t of_lane, std::uint64_t of_stream) {
    lane_.limit = of_lane;
    shares_.start(of_lane);
    start_.start(of_stream);
  }
  void raise_lane(std::uint64_t limit) { lane_.limit = std::max(lane_.limit, limit); }
  // Handles a STREAM_CREDIT, which shows that the reader consumes bytes. So the stream's share of
  // the lane is renewed.
  static void raise(Stream& stream, std::uint64_t limit) {
    stream.send.raise_limit(limit);
    stream.lane_share.base = stream.send.sent();
  }
  // Returns true if the limit of streams without a STREAM_CREDIT has changed.
  bool accept(const StartCreditFrame& frame) { return start_.accept(frame); }
  void on_sent(std::uint64_t new_bytes) { lane_.used += new_bytes; }

  // Reserves the stream's share of the lane while it may have more to send.
  void keep_share(Stream& stream, bool sends) {
    shares_.update(stream.lane_share, sends, stream.send.sent());
  }
  void begin_share(Stream& stream) {
    stream.lane_share = {};
    shares_.update(stream.lane_share, true, 0);
  }
  void end_share(Stream& stream) { shares_.update(stream.lane_share, false, 0); }
  // has_share() returns whether the credit suffices for the share of one more stream.
  // is_beyond_shares() returns whether any stream may send more than its share.
  bool has_share() const { return shares_.has_place(lane_.available()); }
  bool is_beyond_shares() const { return shares_.beyond_shares(lane_.available()) > 0; }
  std::uint64_t reserved() const { return shares_.reserved(); }

  // Whether the lane has any credit.
  bool any() const { return lane_.available() > 0; }
  // How many bytes the stream may send: of_lane() considers the lane's credit, own() considers the
  // stream's credit, and of() considers both.
  std::uint64_t of_lane(const Stream& stream) const {
    return shares_.available(stream.lane_share, lane_.available());
  }
  std::uint64_t own(const Stream& stream) const { return stream.send.credit(start_.limit()); }
  std::uint64_t of(const Stream& stream) const { return std::min(own(stream), of_lane(stream)); }

 private:
  LaneSendCredit lane_;
  LaneShares shares_;
  GrantedStartCredit start_;
};

}  // namespace satrelay::stp
