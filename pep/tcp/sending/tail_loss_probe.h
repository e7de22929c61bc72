// Tail loss probe (RFC 8985 section 7). If the last segments of a flight are not acknowledged for
// two round trips, the sender sends one more segment. The ACK of this probe shows which data is
// missing, long before the timeout would. At most one probe is in flight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "pep/base/containers/range_set.h"
#include "pep/base/image/image.h"
#include "pep/base/time.h"

namespace satrelay::tcp {

class TailLossProbe {
 public:
  // The timeout of section 7.2. If `single`, only one segment is in flight, so the peer may delay
  // its ACK.
  static Duration timeout(Duration smoothed_rtt, bool single, Duration largest_ack_delay) {
    if (smoothed_rtt <= Duration::zero()) return Duration::seconds(1);
    // Hosts do not answer within microseconds, even on the shortest LAN.
    constexpr Duration kGranularity = Duration::milliseconds(2);
    return smoothed_rtt * 2 + (single ? largest_ack_delay : kGranularity);
  }

  bool in_flight() const { return end_.has_value(); }
  void on_sent(std::uint64_t end, bool retransmission) {
    end_ = end;
    retransmission_ = retransmission;
  }
  void forget() { end_.reset(); }

  struct Ack {
    std::uint64_t ack = 0;
    std::optional<Range> duplicate;  // range that the peer received twice (RFC 2883)
    bool is_duplicate_without_sack = false;
  };
  enum class Finding : std::uint8_t {
    kNothing,
    kNeedless,  // the original had arrived, so the peer reported the probe as a duplicate
    kRepaired,  // the probe replaced a lost segment: congestion control must react
  };
  // Section 7.4.2.
  Finding on_ack(const Ack& ack) {
    if (!end_ || ack.ack < *end_) return Finding::kNothing;
    if (!retransmission_) {
      end_.reset();
      return Finding::kNothing;
    }
    if ((ack.duplicate && ack.duplicate->end == *end_) || ack.is_duplicate_without_sack) {
      end_.reset();
      return Finding::kNeedless;
    }
    if (ack.ack == *end_) return Finding::kNothing;
    end_.reset();
    return Finding::kRepaired;
  }

  void image(Image& image) { image(end_, retransmission_); }

 private:
  std::optional<std::uint64_t> end_;  // TLP.end_seq
  bool retransmission_ = false;
};

}  // namespace satrelay::tcp
