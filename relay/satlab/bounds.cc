#include "relay/satlab/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pep/stp/wire/packet.h"
#include "pep/stp/wire/varint.h"

namespace satrelay::satlab {
namespace {

constexpr std::uint32_t kIpv4 = 20;
constexpr std::uint32_t kUdp = 8;
constexpr std::uint32_t kFrameType = 1;
constexpr std::uint32_t kStreamId = 1;

}  // namespace

std::uint32_t packet_headers(std::uint64_t stream_bytes) {
  const std::uint64_t offset = std::max<std::uint64_t>(stream_bytes, 1) - 1;
  return kIpv4 + kUdp + static_cast<std::uint32_t>(stp::kHeaderSize + stp::kTrailerSize) +
         kFrameType + kStreamId + static_cast<std::uint32_t>(stp::varint_size(offset));
}

double payload_share(std::uint32_t mtu, std::uint32_t headers, std::uint32_t overhead) {
  return static_cast<double>(mtu - headers) / static_cast<double>(mtu + overhead);
}

double payload_rate(BitRate rate, double loss, double share) {
  return static_cast<double>(rate.to_bits_per_second()) * (1 - loss) * share;
}

double mean_loss(const config::LinkDirection& direction) {
  if (!direction.gilbert_elliott) return direction.loss;
  const config::GilbertElliott& chain = *direction.gilbert_elliott;
  // The chain begins in the good state, and stays there if it can never enter the bad state.
  if (chain.good_to_bad <= 0) return chain.loss_good;
  const double bad = chain.good_to_bad / (chain.good_to_bad + chain.bad_to_good);
  return chain.loss_good * (1 - bad) + chain.loss_bad * bad;
}

LinkBound::LinkBound(const Experiment& experiment, sim::Side from, std::uint64_t stream_bytes) {
  const sim::Scenario& scenario = experiment.scenario;
  const config::LinkDirection& direction =
      from == sim::Side::kA ? scenario.a_to_b : scenario.b_to_a;
  const double share =
      payload_share(scenario.stp.mtu, packet_headers(stream_bytes), scenario.overhead);
  BitRate rate = direction.rate;
  double loss = mean_loss(direction);
  bool outage = false;
  double delay = direction.delay.to_seconds();
  const auto step_at = [&](double when) {
    steps_.push_back({when, outage ? 0 : payload_rate(rate, loss, share), delay});
  };
  step_at(0);
  for (const LinkChange& change : experiment.changes) {
    if (!includes(change.ways, from)) continue;
    rate = change.rate.value_or(rate);
    loss = change.loss.value_or(loss);
    delay = change.delay ? change.delay->to_seconds() : delay;
    outage = change.outage.value_or(outage);
    step_at(change.at.to_seconds());
  }
}

double LinkBound::bits_between(Duration begin, Duration end) const {
  double bits = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const double from = std::max(begin.to_seconds(), steps_[i].from);
    const double to =
        i + 1 < steps_.size() ? std::min(end.to_seconds(), steps_[i + 1].from) : end.to_seconds();
    if (to > from) bits += (to - from) * steps_[i].bits_per_second;
  }
  return bits;
}

Duration LinkBound::arrival(Duration start, std::uint64_t bytes) const {
  double left = static_cast<double>(bytes) * 8;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const double from = std::max(start.to_seconds(), steps_[i].from);
    const double to =
        i + 1 < steps_.size() ? steps_[i + 1].from : std::numeric_limits<double>::infinity();
    if (to <= from) continue;
    const double most = (to - from) * steps_[i].bits_per_second;
    if (left <= most && steps_[i].bits_per_second > 0) {
      const double end = from + left / steps_[i].bits_per_second + steps_[i].delay;
      return Duration::nanoseconds(std::llround(end * 1e9));
    }
    left -= steps_[i].bits_per_second > 0 ? most : 0;
  }
  return Duration::infinite();
}

}  // namespace satrelay::satlab
