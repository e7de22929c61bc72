#include "relay/link/frame_priority.h"

#include "pep/control/rate_controller.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"

namespace satrelay::link {

std::uint8_t priority_of(ConstBytes frame) {
  constexpr auto kMostImportant = static_cast<std::uint8_t>(control::Priority::kHigh);
  const auto ethernet = wire::parse_ethernet(frame);
  const bool may_be_ip = ethernet && (ethernet->type == wire::EtherType::kIpv4 ||
                                      ethernet->type == wire::EtherType::kIpv6);
  if (!may_be_ip) return kMostImportant;
  const auto ip = wire::parse_ip(frame.subspan(ethernet->size()));
  if (!ip) return kMostImportant;
  return static_cast<std::uint8_t>(
      control::priority_of(static_cast<std::uint8_t>(ip->traffic_class >> 2)));
}

}  // namespace satrelay::link
