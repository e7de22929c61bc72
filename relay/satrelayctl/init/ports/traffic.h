// Counts the frames and the hosts that a port sees, so that an operator recognizes the LAN and the
// WAN.
#pragma once

#include <cstdint>
#include <set>

#include "pep/base/address.h"
#include "pep/base/bytes.h"

namespace satrelay::ctl::init {

struct Traffic {
  std::uint64_t frames = 0;
  std::uint64_t tcp = 0;  // frames of TCP
  std::uint64_t stp = 0;  // frames to the UDP port of gateways
  // Hosts on this segment: they have asked for addresses or answered, by ARP or IPv6 neighbour
  // discovery.
  std::size_t near = 0;
  std::size_t far = 0;  // all other senders: they are behind a router or the satellite
};

// Counts frames that a port has received.
class TrafficTally {
 public:
  void add(ConstBytes frame);
  Traffic traffic() const;

 private:
  void add_ip(ConstBytes packet);
  static void remember(std::set<IpAddress>& hosts, const IpAddress& host);

  Traffic counts_;
  std::set<IpAddress> near_;
  std::set<IpAddress> senders_;
};

}  // namespace satrelay::ctl::init
