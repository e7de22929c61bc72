#include "relay/gateway/uplink/carrier.h"

#include <algorithm>

namespace satrelay::gateway {
namespace {

// What may leave at once: enough to bridge the gaps between two polls of a shared CPU, and far less
// than the 25 ms that the modem's queue is allowed.
constexpr Duration kBurst = Duration::milliseconds(4);
// How far frames that are not held back may push all others into the future.
constexpr Duration kBridgedDebt = Duration::milliseconds(20);

// A few frames must find room, however slow the carrier.
constexpr ByteCount kLeastHeld = ByteCount(64ULL << 10);

// What reports may count on while nobody knows what the carrier carries.
constexpr BitRate kLittle = BitRate::bits_per_second(1'000'000);

}  // namespace

Carrier::Carrier(const config::Link& link, std::size_t sources, std::size_t most_hosts,
                 BitRate reports)
    : config(link),
      pacer(link.send_rate.scaled(995, 1000), control::LinkOverhead{link.overhead}, kBurst,
            kBridgedDebt),
      classes(pacer.rate(), sources),
      host_shares(most_hosts),
      report_budget(BitRate()),
      send_capacity(link.send_rate),
      receive_capacity(link.receive_rate),
      is_found_(!link.finds_capacity()),
      configured_reports_(reports) {
  report_budget.set_rate(report_rate(), Instant());
}

void Carrier::set_rate(BitRate rate, bool found, Instant now) {
  is_found_ = found;
  pacer.set_rate(rate.scaled(995, 1000), now);
  classes.set_rate(pacer.rate(), now);
  report_budget.set_rate(report_rate(), now);
}

BitRate Carrier::report_rate() const {
  if (!configured_reports_.is_zero()) return configured_reports_;
  const BitRate rate = is_found_ ? pacer.rate() : std::min(pacer.rate(), kLittle);
  return rate.scaled(config::kReportPercent, 100);
}

ByteCount Carrier::held_limit(schedule::ClassId traffic_class) const {
  return std::max(kLeastHeld, classes.expected_rate(traffic_class).bytes_in(config.bridged_queue));
}

}  // namespace satrelay::gateway
