// Spaces what leaves for one satellite carrier. All peers on a carrier and all bridged frames share
// one pacer, because they share the modem.
//
// The pacer keeps the instant at which the carrier will have sent all that was debited. Sending is
// allowed while that instant is at most `burst` ahead of now: so an idle carrier lends no credit
// for the past, and a late poll may catch up by one burst.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/int128.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

// How the modem counts a frame, in bytes added to those of the IP packet.
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
  // `burst`: how much may leave at once, as time on the carrier. `debt_limit`: how far bridged
  // traffic, which is not held back, may push the pacer into the future; at a low rate two long
  // packets further than `burst`, or what leaves beside one of them would never be booked.
  Pacer(BitRate rate, LinkOverhead overhead, Duration burst, Duration debt_limit)
      : overhead_(overhead), burst_(burst), least_debt_limit_(debt_limit) {
    take(rate);
  }

  // `lead`: of what must leave at once so many bytes may run ahead; nobody else does meanwhile, so
  // several together are no further ahead than the one that may go furthest.
  bool can_send(Instant now, ByteCount lead = {}) const {
    return busy_until_ <= open_until(now, lead);
  }
  // can_send() as long as no more is booked than until then.
  Instant open_until(Instant now, ByteCount lead = {}) const { return now + burst_ + ahead(lead); }
  // When can_send() becomes true.
  Instant next_send(ByteCount lead = {}) const { return busy_until_ - burst_ - ahead(lead); }
  // When the carrier will have sent all that was debited.
  Instant free_at() const { return busy_until_; }
  // Debits one IP packet that leaves now.
  void on_sent(std::size_t ip_bytes, Instant now) {
    // Most packets are as long as the one before, and divisions take long.
    if (ip_bytes != last_size_) {
      last_size_ = ip_bytes;
      last_time_ = rate_.time_for(overhead_.accounted(ip_bytes));
    }
    busy_until_ = later(busy_until_, now) + last_time_;
  }
  // Debits a packet that leaves whether or not there is room (bridged traffic, control).
  void on_bridged(std::size_t ip_bytes, Instant now) {
    const Instant booked = busy_until_;
    on_sent(ip_bytes, now);
    busy_until_ = earlier(busy_until_, later(booked, now + debt_limit_));
  }
  // A pacer with the same burst and overhead for another rate.
  Pacer for_rate(BitRate rate) const { return {rate, overhead_, burst_, least_debt_limit_}; }
  // What is booked already was booked in bytes: at a lower rate it takes longer to leave.
  void set_rate(BitRate rate, Instant now) {
    if (rate == rate_) return;
    if (busy_until_ > now) busy_until_ = now + rate.time_for(rate_.bytes_in(busy_until_ - now));
    take(rate);
  }
  // A part of a rate that several pacers share, as it is divided anew. What one gets more of it may
  // not use for a burst, as another has had it; who gets less is not shut by what it has booked.
  void take_share(BitRate rate, Instant now) {
    if (rate == rate_) return;
    if (rate > rate_) {
      const std::int64_t room = (now + burst_ - later(busy_until_, now)).to_nanoseconds();
      const Duration left = Duration::nanoseconds(static_cast<std::int64_t>(
          quotient(static_cast<Uint128>(room < 0 ? -room : room) * rate_.to_bits_per_second(),
                   rate.to_bits_per_second())));
      busy_until_ = room < 0 ? now + burst_ + left : now + burst_ - left;
    }
    take(rate);
  }
  BitRate rate() const { return rate_; }
  const LinkOverhead& overhead() const { return overhead_; }

 private:
  static constexpr ByteCount kTwoLongPackets = ByteCount(3'000);

  Duration ahead(ByteCount lead) const {
    return lead == ByteCount(0) ? Duration::zero() : rate_.time_for(lead);
  }
  void take(BitRate rate) {
    rate_ = rate;
    last_size_ = 0;
    last_time_ = rate.time_for(overhead_.accounted(0));
    debt_limit_ = std::max(least_debt_limit_, burst_ + rate.time_for(kTwoLongPackets));
  }

  BitRate rate_;
  LinkOverhead overhead_;
  Duration burst_;
  Duration least_debt_limit_;
  Duration debt_limit_;
  Instant busy_until_;
  std::size_t last_size_ = 0;  // of a packet, and its time at this rate
  Duration last_time_;
};

}  // namespace satrelay::control
