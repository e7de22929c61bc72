#include "relay/satrelayctl/init/ports/traffic.h"

#include <algorithm>
#include <cstddef>

#include "config/model/schema.h"
#include "pep/wire/arp.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/icmp.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"

namespace satrelay::ctl::init {
namespace {

// A flood with forged addresses must not fill the memory.
constexpr std::size_t kMostHosts = 10'000;

bool is_host(const IpAddress& address) {
  const auto& octets = address.octets();
  const bool is_unspecified =
      std::all_of(octets.begin(), octets.end(), [](std::uint8_t octet) { return octet == 0; });
  const bool is_link_local = !address.is_v4() && octets[0] == 0xfe && (octets[1] & 0xc0U) == 0x80;
  return !is_unspecified && !is_link_local && !address.is_multicast();
}

}  // namespace

void TrafficTally::remember(std::set<IpAddress>& hosts, const IpAddress& host) {
  if (hosts.size() < kMostHosts && is_host(host)) hosts.insert(host);
}

void TrafficTally::add(ConstBytes frame) {
  ++counts_.frames;
  const auto ethernet = wire::parse_ethernet(frame);
  if (!ethernet) return;
  const ConstBytes payload = frame.subspan(ethernet->size());
  switch (ethernet->type) {
    case wire::EtherType::kArp:
      if (const auto sender = wire::arp_sender(payload)) remember(near_, *sender);
      return;
    case wire::EtherType::kIpv4:
    case wire::EtherType::kIpv6:
      add_ip(payload);
      return;
    default:
      return;
  }
}

void TrafficTally::add_ip(ConstBytes packet) {
  const auto ip = wire::parse_ip(packet);
  if (!ip) return;
  remember(senders_, ip->source);
  if (ip->fragment_offset != 0) return;
  const ConstBytes payload = packet.subspan(ip->header_size, ip->payload_size);
  if (ip->protocol == wire::kProtocolTcp) ++counts_.tcp;
  if (ip->protocol == wire::kProtocolUdp) {
    const auto udp = wire::parse_udp(payload);
    if (udp && udp->destination_port == config::Stp().port) ++counts_.stp;
  }
  if (ip->protocol == wire::kProtocolIcmpV6) {
    const auto icmp = wire::parse_icmp(*ip, payload);
    if (icmp && wire::parse_neighbour(*icmp)) remember(near_, ip->source);
  }
}

Traffic TrafficTally::traffic() const {
  Traffic traffic = counts_;
  traffic.near = near_.size();
  traffic.far = static_cast<std::size_t>(std::ranges::count_if(
      senders_, [this](const IpAddress& sender) { return !near_.contains(sender); }));
  return traffic;
}

}  // namespace satrelay::ctl::init
