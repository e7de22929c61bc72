// Which worker a frame is for (share.h). The same for all frames of a flow, from either port, and
// the one whose lane the flow has at both gateways: TCP and UDP by flow_hash(), an ICMP error by
// what it quotes, STP by its destination port, whatever the source port is (lane_ports.h). A
// network card may have chosen another one; then the thread that has received the frame hands it
// over. With one worker everything is for that one.
//
// Fragments of a datagram are for the worker that has its flow. Only the first of them shows the
// ports: it is remembered, and of what may be TCP from the LAN those that come before it are kept
// here until then, and dropped if it does not come. All fragments of a datagram must be shown to
// one object: each thread that receives has one of its own, and cards choose a queue for fragments
// by their addresses alone. Other fragments that come early go where their addresses say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/neighbours/awaited_answers.h"
#include "relay/gateway/port_id.h"

namespace satrelay::gateway {

struct Route {
  unsigned worker = 0;  // that handles it
  bool all = false;     // all others overhear it (Gateway::overhear()), if they have a use for it
  // It was copied and may come back by take_released(), or was dropped: the host frees it.
  bool kept = false;
  friend bool operator==(const Route&, const Route&) = default;
};

class Steering {
 public:
  static constexpr std::size_t kMostKept = 128;  // frames
  // Of one source address. The longest datagram over Ethernet has 45.
  static constexpr std::size_t kMostKeptOfHost = 48;
  // Fragments follow each other at once, and TCP sends again after a second or so.
  static constexpr Duration kPatience = Duration::seconds(2);

  // All workers overhear so much ARP and Neighbour Discovery of the LAN, each frame as a copy: of
  // what is for all stations, and of what is for one.
  static constexpr unsigned kOverheardPerSecond = 1'000;
  static constexpr unsigned kOverheardAtOnce = 256;

  struct Counters {
    std::uint64_t kept = 0;  // fragments
    // What was kept and was not released.
    std::uint64_t dropped_late = 0;     // the first fragment has not come
    std::uint64_t dropped_no_room = 0;  // too many others wait
    std::uint64_t not_overheard = 0;    // ARP and Neighbour Discovery of the LAN, beyond the rate
  };

  // Answers that workers wait for are beyond that, each so often.
  static constexpr Duration kBetweenAnswers = Duration::milliseconds(50);

  // For config.worker.count workers. `secret`: chooses places in its tables. `awaited`: by workers
  // that ask owners of addresses; nullptr: there are none.
  Steering(const config::Gateway& config, HashKey secret,
           std::shared_ptr<const AwaitedAnswers> awaited = nullptr);

  Route route(PortId port, ConstBytes frame, Instant now);
  Route route(PortId port, const Frame& frame, ConstBytes bytes, Instant now);

  // Frames from the LAN that were kept, in the order in which they came. To be taken after route()
  // until there are none, and handled before the frame that was routed.
  struct Released {
    unsigned worker = 0;
    ConstBytes frame;  // until the next call of route()
  };
  std::optional<Released> take_released();

  const Counters& counters() const { return counters_; }
  std::size_t kept() const { return waiting_.size(); }

 private:
  // Of a datagram; direct-mapped, a later one of the same host takes the place.
  struct Datagram {
    std::uint64_t key = 0;  // 0: none
    Instant until;
    unsigned worker = 0;
  };
  struct Kept {
    std::uint64_t key = 0;  // of its datagram; 0: free
    IpAddress source;
    Instant until;
    std::vector<std::byte> bytes;
  };
  // Hosts that share a hash share these.
  static constexpr std::size_t kHosts = 128;
  static constexpr std::size_t kDatagramsOfHost = 16;
  static constexpr std::size_t kAnswers = 256;

  unsigned worker_of(std::uint32_t hash) const { return hash & (workers_ - 1); }
  unsigned by_addresses(const Frame& frame) const;
  // Where the ports of TCP or UDP stand at the front of the payload.
  unsigned by_ports(const Frame& frame) const;
  std::optional<unsigned> by_lane(std::uint16_t port) const;
  Route route_icmp(PortId port, const Frame& frame, Instant now);
  bool may_be_overheard(PortId port, const Frame& frame, Instant now);
  bool is_awaited(const Frame& frame, Instant now);
  Route route_fragment(PortId port, const Frame& frame, ConstBytes bytes, Instant now);
  std::uint64_t key_of(const Frame& fragment) const;
  Datagram& place_of(const Frame& fragment, std::uint64_t key);
  Route keep(std::uint64_t key, const Frame& fragment, ConstBytes bytes, Instant now);
  void release(std::uint64_t key, unsigned worker);
  void expire(Instant now);

  const unsigned workers_;
  const IpAddress own_;
  const std::uint16_t stp_port_;
  const HashKey secret_;
  const std::size_t most_frame_size_;
  std::array<Instant, 2> overheard_until_{};  // what was overheard is paid for then
  std::shared_ptr<const AwaitedAnswers> awaited_;
  std::array<Instant, kAnswers> next_answer_{};  // by the answer's number: no sooner
  std::vector<Datagram> datagrams_;              // empty with one worker
  std::vector<Kept> kept_;                       // the same
  std::vector<std::size_t> waiting_;             // of kept_, as they came
  // The same, that are released, to one worker.
  std::vector<std::size_t> released_;
  std::size_t released_taken_ = 0;
  unsigned released_to_ = 0;
  Counters counters_;
};

}  // namespace satrelay::gateway
