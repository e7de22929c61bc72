#include "relay/gateway/uplink/carrier.h"

#include <algorithm>
#include <utility>

#include "pep/control/paced_rate.h"
#include "relay/gateway/shares/fallbacks.h"

namespace satrelay::gateway {
namespace {

// Maximum burst, as a time at the link's rate. It makes up for gaps between two polls on a shared
// CPU, and is far less than the 25 ms that the modem's queue may hold.
constexpr Duration kBurst = Duration::milliseconds(4);
// Maximum burst of each worker if several workers share the link. It may be short: if threads have
// not sent in time and the link's queue is empty, the shares of all workers add up to more than the
// link's rate.
constexpr Duration kSharedBurst = Duration::microseconds(1'250);

// This number of bytes may wait even on a slow carrier. It is the size of a few long frames.
constexpr ByteCount kFewFrames = ByteCount(4 * (1'500 + config::kOverheadEthernet));
// CoDel's target is a twentieth of its interval (RFC 8289 section 4.4). The interval is two seconds
// by default, since a round trip over satellites, including the queue, takes one second.
constexpr std::int64_t kTargetsInInterval = 20;
// Maximum wait of a frame, as a multiple of CoDel's target. It is long enough for a burst of one
// window per round trip. It limits the queue if a sender ignores drops.
constexpr std::int64_t kTargetsAtMost = 10;

// A smaller share becomes this rate, since a pacer with the rate zero would never allow a packet
// again.
constexpr BitRate kLeastShare = BitRate::bits_per_second(8);

// While the capacity of the carrier is not known, the rate of reports is computed from at most this
// rate.
constexpr BitRate kLittle = BitRate::bits_per_second(1'000'000);

}  // namespace

Carrier::Carrier(const config::Link& link, std::size_t sources, std::size_t most_hosts,
                 BitRate reports, unsigned workers)
    : config(link),
      pacer(control::paced_rate(link.send_rate), control::LinkOverhead{link.overhead}, kBurst),
      classes(pacer.rate(), sources),
      host_shares(most_hosts),
      report_budget(BitRate()),
      own(workers),
      send_capacity(link.send_rate),
      receive_capacity(link.receive_rate),
      is_found_(!link.finds_capacity()),
      workers_(workers),
      configured_reports_(reports),
      in_force_(link.send_rate),
      rate_(pacer.rate()) {
  report_budget.set_rate(report_rate(), Instant());
  own.set_rate(rate_, Instant());
}

void Carrier::set_rate(BitRate rate, bool found, Instant now) {
  is_found_ = found;
  in_force_ = rate;
  const BitRate before = std::exchange(rate_, control::paced_rate(rate));
  // Until the next division, this worker's share remains the same fraction of the link's rate.
  const std::uint64_t whole = before.to_bits_per_second();
  const std::uint64_t part = share_.is_taken ? pacer.rate().to_bits_per_second() : whole;
  pacer.set_rate(part == whole ? rate_ : rate_.scaled(part, whole), now);
  classes.set_rate(rate_, now);
  own.set_rate(rate_, now);
  if (!share_.is_taken) report_budget.set_rate(report_rate(), now);
}

void Carrier::take_share(const LinkShare& share, Instant now) {
  if (!std::exchange(share_.is_taken, true) && workers_ > 1) pacer.set_burst(kSharedBurst);
  share_.serial = share.serial;
  share_.fallback = share.fallback;
  const BitRate before = pacer.rate();
  share_.has_risen = false;
  if (now >= share.until) return fall_back(now);
  share_.until = share.until;
  pacer.take_share(share.rate, now);
  share_.has_risen = pacer.rate() >= before.scaled(2, 1);
  classes.take_share(share, now);
  report_budget.set_rate(share.reports, now);
}

void Carrier::fall_back(Instant now) {
  share_.until = Instant::never();
  const auto part = [this](BitRate rate) {
    return std::max(rate.scaled(share_.fallback, kWholeLink), kLeastShare);
  };
  pacer.take_share(part(rate_), now);
  classes.fall_back(share_.fallback, now);
  report_budget.set_rate(part(report_rate()), now);
}

BitRate Carrier::report_rate() const {
  if (!configured_reports_.is_zero()) return configured_reports_;
  const BitRate rate = is_found_ ? rate_ : std::min(rate_, kLittle);
  return rate.scaled(config::kReportPercent, 100);
}

HeldFrames::Terms Carrier::held_terms(schedule::ClassId traffic_class) const {
  const BitRate expected = classes.expected_rate(traffic_class);
  const Duration few = (expected.is_zero() ? rate_ : expected).time_for(kFewFrames);
  return {.law = {.target = std::max(config.bridged_queue, few),
                  .interval = config.bridged_queue * kTargetsInInterval + few},
          .most = config.bridged_queue * kTargetsAtMost + few,
          .few = kFewFrames,
          .overhead = config.overhead};
}

}  // namespace satrelay::gateway
