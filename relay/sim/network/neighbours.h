// Finds the MAC address for an IP address. Either the scenario provides the MAC address beforehand,
// or the host asks with ARP or Neighbour Discovery while packets to the IP address wait.
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
  // Takes ownership of the frame, writes the destination MAC into it and queues it for poll(). If
  // the MAC is not known, the frame waits for it.
  void send(FrameHandle frame, const IpAddress& destination, Instant now);
  // Answers requests, and learns addresses from messages. Returns true if the frame was ARP,
  // Neighbour Discovery or malformed ICMPv6.
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
