// Which MAC address an IP address has: told beforehand, or asked with ARP and Neighbour Discovery
// while the packets for it wait.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/sim/network/frame_pool.h"

namespace satrelay::sim {

struct OwnAddresses {
  MacAddress mac;
  IpAddress v4;
  IpAddress v6;
  std::optional<wire::VlanTag> vlan;
};

class Neighbours {
 public:
  Neighbours(FramePool& frames, const OwnAddresses& own) : frames_(&frames), own_(own) {}

  void learn(const IpAddress& address, const MacAddress& mac);
  // Takes over the frame: puts the destination MAC into it and queues it for poll(), now or once
  // the MAC is known.
  void send(FrameHandle frame, const IpAddress& destination, Instant now);
  // Answers requests and takes replies; true if the frame was ARP or Neighbour Discovery.
  bool handle_frame(const wire::EthernetHeader& ethernet, ConstBytes payload, Instant now);
  void handle_timeout(Instant now);
  std::optional<FrameHandle> poll();
  Instant next_timeout() const;
  void clear();

 private:
  struct Pending {
    std::deque<FrameHandle> frames;
    Instant next_request;
    int requests = 0;
  };
  wire::EthernetHeader header(const MacAddress& destination, wire::EtherType type) const;
  void request(const IpAddress& address);
  void answer_arp(const IpAddress& target, const MacAddress& to_mac, const IpAddress& to);
  void answer_neighbour(const MacAddress& to_mac, const IpAddress& to);
  void queue(FrameHandle frame) { ready_.push_back(frame); }

  FramePool* frames_;
  OwnAddresses own_;
  std::map<IpAddress, MacAddress> known_;
  std::map<IpAddress, Pending> pending_;
  std::deque<FrameHandle> ready_;
};

}  // namespace satrelay::sim
