#include "relay/sim/checks/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"

namespace satrelay::sim {
namespace {

std::string hex(ConstBytes bytes, std::size_t most) {
  std::string text;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), most))) {
    fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

std::string describe_tcp(const wire::IpHeader& ip, ConstBytes segment) {
  const auto tcp = wire::parse_tcp(segment);
  if (!tcp) return "malformed TCP";
  const wire::TcpHeader& h = tcp->header;
  std::string text = ip.source.to_string() + ":" + std::to_string(h.source_port) + " > " +
                     ip.destination.to_string() + ":" + std::to_string(h.destination_port) + " ";
  if (h.has(wire::TcpFlags::kSyn)) text += 'S';
  if (h.has(wire::TcpFlags::kFin)) text += 'F';
  if (h.has(wire::TcpFlags::kRst)) text += 'R';
  if (h.has(wire::TcpFlags::kPsh)) text += 'P';
  if (h.has(wire::TcpFlags::kAck)) text += '.';
  text += " seq " + std::to_string(h.sequence) + " ack " + std::to_string(h.acknowledgment) +
          " win " + std::to_string(h.window) + " len " +
          std::to_string(segment.size() - tcp->header_size);
  for (unsigned i = 0; i < h.options.sack_count; ++i) {
    text += " sack " + std::to_string(h.options.sack[i].begin) + "-" +
            std::to_string(h.options.sack[i].end);
  }
  if (h.options.mss) text += " mss " + std::to_string(*h.options.mss);
  if (h.options.window_scale) text += " wscale " + std::to_string(*h.options.window_scale);
  return text;
}

}  // namespace

std::string describe_frame(ConstBytes frame) {
  const auto ethernet = wire::parse_ethernet(frame);
  if (!ethernet) return "malformed Ethernet, " + std::to_string(frame.size()) + " bytes";
  std::string text;
  for (unsigned i = 0; i < ethernet->tag_count; ++i) {
    text += "vlan " + std::to_string(ethernet->tags[i].vlan_id()) + " ";
  }
  const ConstBytes packet = frame.subspan(ethernet->size());
  if (ethernet->type != wire::EtherType::kIpv4 && ethernet->type != wire::EtherType::kIpv6) {
    return text + fmt::format("type {:04x} {} > {} {}", static_cast<unsigned>(ethernet->type),
                              ethernet->source.to_string(), ethernet->destination.to_string(),
                              hex(packet, 28));
  }
  const auto ip = wire::parse_ip(packet);
  if (!ip) return text + "malformed IP, " + std::to_string(packet.size()) + " bytes";
  const ConstBytes payload = packet.subspan(ip->header_size, ip->payload_size);
  if (ip->protocol == wire::kProtocolTcp) return text + describe_tcp(*ip, payload);
  text += ip->source.to_string() + " > " + ip->destination.to_string();
  if (ip->protocol == wire::kProtocolUdp) {
    if (const auto udp = wire::parse_udp(payload)) {
      return text + " udp " + std::to_string(udp->source_port) + " > " +
             std::to_string(udp->destination_port) + " len " +
             std::to_string(payload.size() - wire::kUdpHeaderSize) + " " +
             hex(payload.subspan(wire::kUdpHeaderSize), 24);
    }
  }
  return text + " protocol " + std::to_string(ip->protocol) + " len " +
         std::to_string(payload.size());
}

}  // namespace satrelay::sim
