#include "relay/gateway/opening/syn_cookies.h"

#include <algorithm>

#include "pep/tcp/ecn.h"
#include "pep/tcp/negotiation.h"
#include "pep/tcp/timestamps.h"
#include "relay/gateway/frames/bare_segment.h"

namespace satrelay::gateway {

using Flags = wire::TcpFlags;

namespace {

// MSS values that hosts announce: the smallest value that all hosts must accept, and the values for
// the usual MTUs, with and without tunnels.
constexpr std::array<std::uint16_t, 8> kSizes = {536, 1220, 1360, 1400, 1440, 1460, 4312, 8940};
constexpr std::uint32_t kSizeMask = 7;

constexpr std::uint32_t kNoScale = 15;
constexpr std::uint32_t kScaleMask = 15;
constexpr std::uint32_t kSelective = 16;
constexpr std::uint32_t kEcnOffered = 32;
constexpr std::uint32_t kOptionMask = 63;

std::uint32_t index_of(std::uint16_t mss) {
  const auto above = std::ranges::upper_bound(kSizes, mss);
  return above == kSizes.begin() ? 0 : static_cast<std::uint32_t>(above - kSizes.begin() - 1);
}

std::uint32_t options_in_brief(const wire::TcpHeader& syn) {
  std::uint32_t bits = syn.options.window_scale
                           ? std::min(*syn.options.window_scale, tcp::kLargestWindowScale)
                           : kNoScale;
  if (syn.options.sack_permitted) bits |= kSelective;
  if ((syn.flags & tcp::Ecn::kSetup) == tcp::Ecn::kSetup) bits |= kEcnOffered;
  return bits;
}

// Sets the option bits in a timestamp. The result is never later than `value`, so that the
// timestamps of the connection never run backwards.
std::uint32_t with_options(std::uint32_t value, std::uint32_t bits) {
  const std::uint32_t marked = (value & ~kOptionMask) | bits;
  return static_cast<std::int32_t>(marked - value) > 0 ? marked - kOptionMask - 1 : marked;
}

std::int64_t period_of(Instant now) {
  return now.to_nanoseconds() / SynCookies::kPeriod.to_nanoseconds();
}

// Whether the current period began so recently that a cookie sent within kLongestGap may belong to
// the previous period.
bool is_new(Instant now) {
  return now.to_nanoseconds() % SynCookies::kPeriod.to_nanoseconds() <=
         SynCookies::kLongestGap.to_nanoseconds();
}

}  // namespace

std::uint32_t SynCookies::hash(const FlowKey& key, std::uint32_t client_sequence,
                               std::int64_t period) const {
  const std::uint64_t more = static_cast<std::uint64_t>(period) << 32 | client_sequence;
  return static_cast<std::uint32_t>(sip_hash(secret_, key, more));
}

std::uint32_t SynCookies::number_of(const FlowKey& key, const wire::TcpHeader& syn,
                                    std::int64_t period) const {
  return hash(key, syn.sequence, period) ^ index_of(syn.options.mss.value_or(tcp::kDefaultMss));
}

bool SynCookies::has_answered(const FlowKey& key, const wire::TcpHeader& syn, Instant now) const {
  if (last_.is_never() || now > last_ + kLongestGap) return false;
  const std::int64_t period = period_of(now);
  return has_sent(key, number_of(key, syn, period), now) ||
         (is_new(now) && has_sent(key, number_of(key, syn, period - 1), now));
}

void SynCookies::answer(const FlowKey& key, const wire::EthernetHeader& to_host,
                        const wire::TcpHeader& syn, const tcp::Config& config, Instant now) {
  if (count_ == kMostWaiting) {
    counters_.add(Counter::kDroppedSynFlood);
    return;
  }
  if (waiting_.empty()) waiting_.resize(kMostWaiting);
  wire::TcpHeader header;
  header.sequence = number_of(key, syn, period_of(now));
  if (is_new(now)) {
    const std::uint32_t earlier = number_of(key, syn, period_of(now) - 1);
    if (has_sent(key, earlier, now)) header.sequence = earlier;
  }
  header.acknowledgment = syn.sequence + 1;
  header.flags = wire::TcpFlags::kSyn | wire::TcpFlags::kAck;
  header.window = static_cast<std::uint16_t>(std::min<std::uint64_t>(config.receive_limit, 65535));
  header.options.mss = config.mss;
  if (syn.options.timestamps) {
    const tcp::Offer offer = tcp::answer_to(syn.options, {config.mss, config.window_scale});
    header.options.window_scale = offer.window_scale;
    header.options.sack_permitted = offer.sack_permitted;
    const std::uint32_t clock = tcp::Timestamps(config.timestamp_offset).value(now);
    header.options.timestamps = {with_options(clock, options_in_brief(syn)),
                                 syn.options.timestamps->value};
    if (config.ecn && (syn.flags & tcp::Ecn::kSetup) == tcp::Ecn::kSetup) {
      header.flags |= wire::TcpFlags::kEce;
    }
  }
  waiting_[(first_ + count_) % kMostWaiting] = {to_host, key, header};
  ++count_;
  last_ = now;
  sent_lately_.remember(key, header.sequence + 1, now);
  counters_.add(Counter::kSynCookiesSent);
}

std::optional<wire::TcpHeader> SynCookies::recover(const FlowKey& key,
                                                   const wire::TcpHeader& segment,
                                                   Instant now) const {
  if (last_.is_never() || now > last_ + kPeriod * 2) return std::nullopt;
  if (!segment.has(Flags::kAck) || segment.has(Flags::kSyn) || segment.has(Flags::kRst)) {
    return std::nullopt;
  }
  wire::TcpHeader syn;
  syn.source_port = key.local_port;
  syn.destination_port = key.remote_port;
  syn.sequence = segment.sequence - 1;
  syn.flags = Flags::kSyn;
  syn.window = segment.window;
  for (const std::int64_t period : {period_of(now), period_of(now) - 1}) {
    const std::uint32_t index = (segment.acknowledgment - 1) ^ hash(key, syn.sequence, period);
    if (index > kSizeMask) continue;
    syn.options.mss = kSizes[index];
    if (!segment.options.timestamps) return syn;
    syn.options.timestamps = {segment.options.timestamps->value, 0};
    const std::uint32_t bits = segment.options.timestamps->echo_reply & kOptionMask;
    const auto scale = static_cast<std::uint8_t>(bits & kScaleMask);
    if (scale != kNoScale) syn.options.window_scale = scale;
    syn.options.sack_permitted = (bits & kSelective) != 0;
    if ((bits & kEcnOffered) != 0) syn.flags |= tcp::Ecn::kSetup;
    return syn;
  }
  return std::nullopt;
}

std::size_t SynCookies::poll_frame(MutableBytes out) {
  if (count_ == 0) return 0;
  const Waiting& waiting = waiting_[first_];
  const std::size_t size = write_bare_segment(waiting.to_host, waiting.key, waiting.header, out);
  first_ = (first_ + 1) % kMostWaiting;
  --count_;
  return size;
}

}  // namespace satrelay::gateway
