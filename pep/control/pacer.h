// Spaces the packets that are sent on one satellite carrier. All peers on a carrier and all bridged
// frames share one pacer, because they share the modem.
//
// The pacer debits each packet that is sent, and keeps the instant at which the carrier will have
// sent all debited bytes. A packet may be sent if this instant is at most `burst` after now. So an
// idle carrier gives no credit for the past, and a late poll can catch up by at most one burst.
//
// All packets are debited in full. A packet that must not wait behind data (a HELLO, a report, ARP)
// may be sent earlier than data. When this packet is debited too, the debited bytes may exceed the
// burst by at most two long packets. So in any time T, a carrier sends at most the bytes that its
// rate carries in T, plus a burst and two long packets. Budgets (budget.h) and the clocks of the
// session limit how much of the rate such packets use.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/int128.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

// Bytes that the modem counts for a frame in addition to the bytes of the IP packet.
struct LinkOverhead {
  // Ethernet: header 14, FCS 4, preamble 8, inter-frame gap 12.
  static constexpr std::uint32_t kEthernet = 38;
  static constexpr std::uint32_t kIp = 0;
  std::uint32_t bytes_per_packet = kEthernet;

  constexpr ByteCount accounted(std::size_t ip_bytes) const {
    return ByteCount(ip_bytes + bytes_per_packet);
  }
};

class Pacer {
 public:
  // Length of a packet of the usual MTU, without the overhead of the link.
  static constexpr std::size_t kLongPacket = 1'500;

  // can_send() is true while the carrier needs at most `burst` to send all debited bytes.
  Pacer(BitRate rate, LinkOverhead overhead, Duration burst) : overhead_(overhead), burst_(burst) {
    take(rate);
  }

  // `lead` is the number of bytes that may be sent beyond the burst, for a train that must be sent
  // at once. A sender without a lead waits until the carrier has sent these bytes. So several
  // trains together exceed the burst by no more than the longest lead.
  bool can_send(Instant now, ByteCount lead = {}) const {
    return busy_until_ <= open_until(now, lead);
  }
  // can_send() returns true while free_at() is not later than this instant.
  Instant open_until(Instant now, ByteCount lead = {}) const { return now + burst_ + ahead(lead); }
  // When can_send() becomes true.
  Instant next_send(ByteCount lead = {}) const { return busy_until_ - burst_ - ahead(lead); }
  // Like can_send(), for one IP packet that must not wait behind data.
  bool can_send_urgent(std::size_t ip_bytes, Instant now, ByteCount lead = {}) const {
    return next_urgent(ip_bytes, lead) <= now;
  }
  Instant next_urgent(std::size_t ip_bytes, ByteCount lead = {}) const {
    return busy_until_ + rate_.time_for(overhead_.accounted(ip_bytes)) - most_booked_ - ahead(lead);
  }
  // When the carrier will have sent all bytes that were debited.
  Instant free_at() const { return busy_until_; }
  // Debits one IP packet that is sent now.
  void on_sent(std::size_t ip_bytes, Instant now) {
    // Keeps the time of the last packet, because most packets have the same length and divisions
    // are slow.
    if (ip_bytes != last_size_) {
      last_size_ = ip_bytes;
      last_time_ = rate_.time_for(overhead_.accounted(ip_bytes));
    }
    busy_until_ = later(busy_until_, now) + last_time_;
  }
  // Debits a packet that is sent even if can_send() is false. This moves free_at() no further than
  // a limit: 20 ms after now, or the time for the burst and two long packets after now if that is
  // later. Bytes beyond the limit are not debited. Only for a pacer that limits one sender on a
  // carrier with a pacer of its own. In the pacer of a carrier, bytes that are not debited would
  // exceed the carrier's rate.
  void on_sent_regardless(std::size_t ip_bytes, Instant now) {
    const Instant booked = busy_until_;
    on_sent(ip_bytes, now);
    const Duration most = std::max(kLeastDebt, most_booked_);
    busy_until_ = earlier(busy_until_, later(booked, now + most));
  }
  // Makes a pacer with the same burst and overhead for another rate.
  Pacer for_rate(BitRate rate) const { return {rate, overhead_, burst_}; }
  // Changes the rate. The number of debited bytes stays the same, so at a lower rate they take
  // longer to send.
  void set_rate(BitRate rate, Instant now) {
    if (rate == rate_) return;
    if (busy_until_ > now) busy_until_ = now + rate.time_for(rate_.bytes_in(busy_until_ - now));
    take(rate);
  }
  // Sets this pacer's part of a rate that several pacers share. If a part of the burst is unused,
  // the number of its unused bytes stays the same. If bytes were debited beyond the burst, their
  // number stays the same. So however the parts change, all pacers together send no more than their
  // parts allow.
  void take_share(BitRate rate, Instant now) {
    if (rate == rate_) return;
    const Instant open = now + burst_;
    const Instant booked = later(busy_until_, now);
    const auto at_new_rate = [&](Duration time) {
      return Duration::nanoseconds(static_cast<std::int64_t>(
          quotient(static_cast<Uint128>(time.to_nanoseconds()) * rate_.to_bits_per_second(),
                   rate.to_bits_per_second())));
    };
    busy_until_ = booked > open ? open + at_new_rate(booked - open)
                                : later(now, open - at_new_rate(open - booked));
    take(rate);
  }
  // Changes the burst, for one of several pacers that share a rate.
  void set_burst(Duration burst) {
    burst_ = burst;
    take(rate_);
  }
  // Debited bytes that the carrier will not have sent by `now`.
  ByteCount booked(Instant now) const { return rate_.bytes_in(busy_until_ - now); }
  BitRate rate() const { return rate_; }
  const LinkOverhead& overhead() const { return overhead_; }

 private:
  static constexpr Duration kLeastDebt = Duration::milliseconds(20);

  Duration ahead(ByteCount lead) const {
    return lead == ByteCount(0) ? Duration::zero() : rate_.time_for(lead);
  }
  void take(BitRate rate) {
    rate_ = rate;
    last_size_ = 0;
    last_time_ = rate.time_for(overhead_.accounted(0));
    most_booked_ = burst_ + rate.time_for(overhead_.accounted(kLongPacket)) * 2;
  }

  BitRate rate_;
  LinkOverhead overhead_;
  Duration burst_;
  Duration most_booked_;  // limit of free_at() - now for urgent packets
  Instant busy_until_;
  std::size_t last_size_ = 0;  // IP bytes of the last packet; last_time_ is the time that it takes
  Duration last_time_;
};

}  // namespace satrelay::control
