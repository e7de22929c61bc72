// The gateway as a node on the WAN: it owns one MAC and one address there, answers ARP, Neighbour
// Discovery and ping for that address, and resolves the next hop of each peer.
//
// Of several workers the first one answers, and asks; the others overhear what their neighbours
// say, and ask only for those of whom they have not heard.
//
// What it answers or asks has its budget on the link (uplink/own_traffic.h): what is beyond that is
// not said. Frames to send wait in a short queue until the link has room; poll_frame() takes them.
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
#include "pep/control/rate_controller.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/icmp.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/steering/lanes.h"
#include "relay/gateway/steering/share.h"
#include "relay/gateway/uplink/link_way.h"
#include "relay/gateway/uplink/own_traffic.h"

namespace satrelay::gateway {

class WanNode {
 public:
  // `budget` must outlive it.
  WanNode(const config::Gateway& config, Share share, const MacAddress& mac, OwnFrames& budget,
          Counters& counters, Instant now);

  // Whether the frame is the gateway's own business (and was dealt with); STP datagrams are not
  // this class's: is_for_own_address() tells.
  bool handle_arp(const Frame& frame, Instant now);
  bool handle_icmp(const Frame& frame, Instant now);
  bool is_for_own_address(const Frame& frame) const;
  // Whether hosts take the frame for one of the gateway's own network. Tags that name no VLAN (IEEE
  // 802.1Q, id 0: a priority) count as none, as hosts have it.
  bool is_in_own_network(const wire::EthernetHeader& ethernet) const;
  bool is_own_mac(const MacAddress& mac) const { return mac == mac_; }

  void handle_timeout(Instant now);
  Instant next_timeout() const;
  // Of the frame that waits first; 0: none waits.
  std::size_t next_frame_size() const {
    return pending_count_ == 0 ? 0 : pending_[pending_first_].size;
  }
  std::size_t poll_frame(MutableBytes out);

  // The MAC behind which peer `index` is reached; nullopt while unresolved.
  std::optional<MacAddress> next_hop(std::size_t peer) const;
  // Size of the headers in front of an STP datagram, and the function that writes them, for
  // `datagram` bytes of UDP payload that already stand behind them; kReceive: as if the peer had
  // sent them.
  std::size_t stp_header_size() const { return stp_header_size_; }
  void write_stp_headers(const Lane& lane, std::size_t datagram, control::Priority priority,
                         MutableBytes frame, LinkWay way = LinkWay::kSend) const;
  // Once more those that were written last, for a datagram of the same size.
  void repeat_stp_headers(MutableBytes frame) const;

 private:
  // Most packets of a burst have the same headers as the one before.
  struct Headers {
    Lane lane;
    std::size_t datagram = 0;
    MacAddress next_hop;
    control::Priority priority{};
    LinkWay way{};
    bool written = false;
    // With a VLAN tag, IPv6 and UDP.
    std::array<std::byte,
               wire::kEthernetHeaderSize + 4 + wire::kIpv6HeaderSize + wire::kUdpHeaderSize>
        bytes{};
  };
  void write_headers(const Headers& of, MutableBytes out) const;

  // One next hop; peers behind the same router share it.
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
  bool speaks_as_own(const Frame& frame) const;  // in Neighbour Discovery
  bool handle_neighbour(const Frame& frame, const wire::IcmpMessage& message, Instant now);
  void learn(const IpAddress& address, const MacAddress& mac, Instant now);
  bool request(const Neighbour& neighbour, Instant now);  // false: there is no room for it
  // The next hop, or a peer.
  bool is_known(const IpAddress& address) const;
  // Where a frame of so many octets is to be written, which waits then; nullptr if it finds no room
  // in its budget or in the queue.
  PendingFrame* new_frame(OwnFrame kind, bool known, std::size_t size, Instant now);
  PendingFrame* new_answer(OwnFrame kind, const IpAddress& to, std::size_t size, Instant now);
  void note_conflict();

  bool speaks_;  // for all workers
  IpAddress own_;
  MacAddress mac_;
  std::optional<std::uint16_t> vlan_;
  std::size_t stp_header_size_;
  OwnFrames& budget_;
  Counters& counters_;
  std::vector<IpAddress> peers_;
  std::vector<std::size_t> neighbour_of_peer_;
  std::vector<Neighbour> neighbours_;
  std::array<PendingFrame, kMaxPending> pending_{};
  std::size_t pending_first_ = 0;
  std::size_t pending_count_ = 0;
  std::size_t first_asked_ = 0;  // of the neighbours, each time
  mutable Headers last_;
};

}  // namespace satrelay::gateway
