#include "relay/gateway/flows/hosts/host_side.h"

#include <algorithm>

#include "pep/compress/block_codec.h"

namespace satrelay::gateway {
namespace {

constexpr std::uint64_t kSmallestSendLimit = 4 * compress::kMaxPlainBlock;

std::uint8_t window_scale_for(std::uint64_t window) {
  std::uint8_t scale = 0;
  while (scale < 14 && (window >> scale) > 65535) ++scale;
  return scale;
}

control::Congestion congestion(config::Congestion choice) {
  return choice == config::Congestion::kNewReno ? control::Congestion::kNewReno
                                                : control::Congestion::kCubic;
}

}  // namespace

HostSide::HostSide(const config::Gateway& config, const MemoryPlan& plan, HashKey secret)
    : secret_(secret), lan_mtu_(config.lan.mtu) {
  tcp::Profile common;
  common.window_scale = window_scale_for(plan.host_window);
  common.send_limit = std::max(plan.host_window, kSmallestSendLimit);
  profile_ = std::make_shared<const tcp::Profile>(common);
  choose(config);
}

void HostSide::choose(const config::Gateway& config) {
  tcp::Profile next = *profile_;
  next.congestion = congestion(config.tcp.congestion);
  next.ecn = config.tcp.ecn;
  // The gateway sends a half-closed host a keep-alive after half_close_timeout, and another after
  // the same time again. The endpoint must not time out before that.
  next.half_closed = std::max(tcp::Profile().half_closed, config.limits.half_close_timeout * 2);
  profile_ = std::make_shared<const tcp::Profile>(next);
}

tcp::Config HostSide::config_for(const FlowKey& key, std::uint64_t receive_limit,
                                 Instant now) const {
  tcp::Config config{*profile_};
  config.mss = static_cast<std::uint16_t>(lan_mtu_ - (key.local.is_v4() ? 40 : 60));
  config.initial_sequence = initial_sequence(secret_, key, now.to_nanoseconds());
  config.timestamp_offset = timestamp_offset(key);
  config.receive_limit = receive_limit;
  return config;
}

std::uint32_t HostSide::timestamp_offset(const FlowKey& key) const {
  return initial_sequence({secret_.k1, secret_.k0}, key, 0);
}

}  // namespace satrelay::gateway
