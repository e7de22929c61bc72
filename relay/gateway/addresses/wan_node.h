// The gateway as a node on the WAN. It has one MAC and one address there, answers ARP, Neighbour
// Discovery and ping for that address, and resolves the next hop of each peer.
//
// If there are several workers, only the first worker sends answers and regular requests. The other
// workers learn from copies of frames (Gateway::overhear()), and send requests only for next hops
// that they do not know.
//
// Answers and requests are charged to budgets of the link (uplink/own_traffic.h). A frame beyond
// its budget is not sent. Frames wait in a short queue until the link has room, and poll_frame()
// removes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/base/typed_id.h"
#include "pep/control/rate_controller.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/icmp.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/steering/lane_addresses.h"
#include "relay/gateway/steering/share.h"
#include "relay/gateway/uplink/link_way.h"
#include "relay/gateway/uplink/own_traffic.h"

namespace satrelay::gateway {

class WanNode {
 public:
  // `budget` must outlive this object.
  WanNode(const config::Gateway& config, Share share, const MacAddress& mac, OwnFrames& budget,
          Counters& counters, Instant now);

  // Return true if the frame is for the gateway itself, and was handled. This class does not handle
  // STP datagrams, but recognizes them by is_for_own_address().
  bool handle_arp(const Frame& frame, Instant now);
  bool handle_icmp(const Frame& frame, Instant now);
  bool is_for_own_address(const Frame& frame) const;
  // Whether hosts treat the frame as a frame of the gateway's own network. Priority tags (IEEE
  // 802.1Q, VLAN id 0) are ignored, as hosts ignore them.
  bool is_in_own_network(const wire::EthernetHeader& ethernet) const;
  bool is_own_mac(const MacAddress& mac) const { return mac == mac_; }

  void handle_timeout(Instant now);
  Instant next_timeout() const;
  // Size of the first frame in the queue; 0 if the queue is empty.
  std::size_t next_frame_size() const {
    return pending_count_ == 0 ? 0 : pending_[pending_first_].size;
  }
  std::size_t poll_frame(MutableBytes out);

  // The MAC of the next hop to the peer; nullopt until it is resolved.
  std::optional<MacAddress> next_hop(FarGatewayId peer) const;
  // The size of the headers in front of an STP datagram, and the function that writes the headers.
  // `datagram` is the size of the UDP payload, which must already be in `frame` behind the headers.
  // With kReceive, the function writes the headers as if the peer had sent the datagram.
  std::size_t stp_header_size() const { return stp_header_size_; }
  void write_stp_headers(const LaneAddress& address, std::size_t datagram,
                         control::Priority priority, MutableBytes frame,
                         LinkWay way = LinkWay::kSend) const;
  // Writes the last headers again, for a datagram of the same size.
  void repeat_stp_headers(MutableBytes frame) const;

 private:
  // The headers that were written last. They are cached, since most packets of a burst have the
  // same headers.
  struct Headers {
    LaneAddress address;
    std::size_t datagram = 0;
    MacAddress next_hop;
    control::Priority priority{};
    LinkWay way{};
    bool written = false;
    // Large enough for a VLAN tag, IPv6 and UDP.
    std::array<std::byte,
               wire::kEthernetHeaderSize + 4 + wire::kIpv6HeaderSize + wire::kUdpHeaderSize>
        bytes{};
  };
  void write_headers(const Headers& of, MutableBytes out) const;

  // One next hop. Peers behind the same router share it.
  struct Neighbour {
    IpAddress address;
    std::optional<MacAddress> mac;
    Instant next_request;
    std::uint8_t unanswered = 0;
  };
  struct PendingFrame {
    std::array<std::byte, 1600> bytes;
    std::size_t size = 0;
  };
  static constexpr std::size_t kMaxPending = 32;

  wire::EthernetHeader header_to(const MacAddress& destination, wire::EtherType type) const;
  bool on_own_vlan(const Frame& frame) const;
  // Whether a Neighbour Discovery message has the gateway's own address as source or target.
  bool speaks_as_own(const Frame& frame) const;
  bool handle_neighbour(const Frame& frame, const wire::IcmpMessage& message, Instant now);
  void learn(const IpAddress& address, const MacAddress& mac, Instant now);
  // Returns false if there is no room for the request.
  bool request(const Neighbour& neighbour, Instant now);
  // Whether the address is that of a next hop or of a peer.
  bool is_known(const IpAddress& address) const;
  // Reserves a frame of `size` bytes in the queue. Returns nullptr if the budget or the queue has
  // no room.
  PendingFrame* new_frame(OwnFrame kind, bool known, std::size_t size, Instant now);
  PendingFrame* new_answer(OwnFrame kind, const IpAddress& to, std::size_t size, Instant now);
  void note_conflict();

  // True in the first worker, which sends answers and requests for all workers.
  bool speaks_;
  IpAddress own_;
  MacAddress mac_;
  std::optional<std::uint16_t> vlan_;
  std::size_t stp_header_size_;
  OwnFrames& budget_;
  Counters& counters_;
  IdVector<FarGatewayId, IpAddress> peers_;
  IdVector<FarGatewayId, std::size_t> neighbour_of_peer_;
  std::vector<Neighbour> neighbours_;
  std::array<PendingFrame, kMaxPending> pending_{};
  std::size_t pending_first_ = 0;
  std::size_t pending_count_ = 0;
  // Index of the neighbour to which the next timeout sends a request first.
  std::size_t first_asked_ = 0;
  mutable Headers last_;
};

}  // namespace satrelay::gateway
