#include "relay/gateway/addresses/lan/neighbour_question.h"

#include <cstdint>

#include "pep/wire/arp.h"
#include "pep/wire/icmp.h"
#include "pep/wire/ip.h"
#include "relay/gateway/addresses/lan/solicited_node.h"

namespace satrelay::gateway {

std::size_t write_neighbour_question(const IpAddress& host, wire::EthernetHeader ethernet,
                                     MutableBytes out) {
  if (host.is_v4()) {
    ethernet.type = wire::EtherType::kArp;
    wire::write_ethernet(ethernet, out);
    wire::write_arp({.operation = wire::ArpOperation::kRequest,
                     .sender_mac = ethernet.source,
                     .sender = IpAddress::v4({}),
                     .target_mac = {},
                     .target = host},
                    out.subspan(ethernet.size()));
    return ethernet.size() + wire::kArpSize;
  }
  wire::IpHeader ip;
  ip.source = IpAddress::v6({});
  ip.destination = solicited_node(host);
  ip.protocol = wire::kProtocolIcmpV6;
  ip.hop_limit = 255;
  ethernet.type = wire::EtherType::kIpv6;
  wire::write_ethernet(ethernet, out);
  const std::size_t ip_at = ethernet.size();
  const std::size_t body =
      wire::write_neighbour(ip, {.advertisement = false, .target = host, .link_layer = {}},
                            out.subspan(ip_at + wire::kIpv6HeaderSize));
  ip.payload_size = static_cast<std::uint16_t>(body);
  wire::write_ip(ip, out.subspan(ip_at));
  return ip_at + wire::kIpv6HeaderSize + body;
}

MacAddress all_who_may_have(const IpAddress& host) {
  return host.is_v4() ? MacAddress::broadcast() : multicast_mac(solicited_node(host));
}

}  // namespace satrelay::gateway
