// A host on a LAN: its addresses, its TCP connections with an application each, and a listener.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/containers/timer_heap.h"
#include "pep/base/random.h"
#include "pep/tcp/endpoint.h"
#include "relay/sim/checks/trace.h"
#include "relay/sim/hosts/application.h"
#include "relay/sim/network/big_memory.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/network/frame_pool.h"
#include "relay/sim/network/neighbours.h"
#include "relay/sim/network/tcp_frame.h"

namespace satrelay::sim {

// How a host fragments or extends its TCP segments. Other hosts of the simulation do not accept
// such segments.
struct Wrapping {
  enum class Order : std::uint8_t { kFirstToLast, kLastToFirst };
  // Segments longer than this are sent in fragments of this size; 0 means no fragments.
  std::size_t fragment_size = 0;
  Order order = Order::kFirstToLast;
  // Only for IPv6: type of an extension header to insert before each segment except SYNs.
  std::optional<std::uint8_t> extension_header = std::nullopt;
  bool any() const { return fragment_size > 0 || extension_header; }
};

struct HostSpec {
  std::string name;
  OwnAddresses addresses;
  tcp::Config tcp;  // initial_sequence and timestamp_offset are drawn for each connection
  bool offer_window_scale = true;
  bool offer_sack = true;
  bool offer_timestamps = true;
  std::size_t memory = 64 << 20;
  std::uint64_t seed = 1;
  Wrapping wrapping;
};

// Both ends of a connection, as one host sees them.
struct SocketPair {
  IpAddress local;
  IpAddress remote;
  std::uint16_t local_port = 0;
  std::uint16_t remote_port = 0;
  friend bool operator==(const SocketPair&, const SocketPair&) = default;
};
struct SocketPairHash {
  std::size_t operator()(const SocketPair& pair) const;
};

class SimHost final : public Actor {
 public:
  // The plan that a listener assigns to a new connection, and where the outcome is stored.
  struct Reception {
    Plan plan;
    Outcome* outcome = nullptr;
  };
  // A listener that returns nullopt refuses the connection with RST, as if no program listened.
  using Listener = std::function<std::optional<Reception>(const SocketPair&)>;

  SimHost(EventLoop& loop, FramePool& frames, Tracer& tracer, const HostSpec& spec);
  ~SimHost() override;
  void attach(FrameSink& lan, unsigned port);  // `lan` receives the frames that this host sends
  ActorId id() const { return id_; }

  void listen(Listener listener) { listener_ = std::move(listener); }
  // Opens a connection. The outcome must outlive the host.
  void connect(const SocketPair& pair, const Plan& plan, Outcome& outcome);
  // Takes ownership of a frame that arrives from the LAN.
  void receive(FrameHandle frame);
  // Sends a frame unchanged.
  void send_raw(ConstBytes frame);
  // Limits the receive buffer of all connections, present and future.
  void limit_receiving(std::uint64_t receive_limit);
  // Makes the host stop sending and receiving for good.
  void vanish();
  // Calls `call` with every frame that is neither TCP to this host, nor ARP, nor Neighbour
  // Discovery.
  void on_other_frame(std::function<void(ConstBytes)> call) { on_other_ = std::move(call); }

  void run(Instant now) override;
  Instant next_timeout() const override;

  const HostSpec& spec() const { return spec_; }
  Neighbours& neighbours() { return neighbours_; }
  std::size_t connection_count() const { return by_pair_.size(); }
  std::size_t memory_used_blocks() const { return arena_.used_blocks(); }
  bool vanished() const { return vanished_; }

 private:
  struct Connection {
    SocketPair pair;
    std::unique_ptr<tcp::Endpoint> endpoint;
    std::unique_ptr<Application> application;
    bool dirty = false;
  };
  static constexpr std::uint32_t kMostConnections = 8192;

  std::uint32_t new_connection(const SocketPair& pair, const Plan& plan, Outcome& outcome,
                               Instant now);
  void remove(std::uint32_t slot);
  void mark(std::uint32_t slot);
  void service(std::uint32_t slot, Instant now);
  void handle_tcp(const TcpFrame& frame, Instant now);
  void handle_syn(const SocketPair& pair, const TcpFrame& frame, Instant now);
  void answer_with_reset(const SocketPair& pair, const TcpFrame& frame, Instant now);
  void send_segment(const Connection& connection, const tcp::SegmentToSend& segment, Instant now);
  void send_wrapped(FrameHandle frame, const SocketPair& pair, bool is_syn, Instant now);
  wire::EthernetHeader ethernet_header(const IpAddress& remote) const;
  void flush();

  EventLoop* loop_;
  FramePool* frames_;
  Tracer* tracer_;
  HostSpec spec_;
  ActorId id_;
  Random random_;
  FrameSink* lan_ = nullptr;
  unsigned lan_port_ = 0;
  BigMemory memory_;
  Arena arena_;
  Neighbours neighbours_;
  Listener listener_;
  std::function<void(ConstBytes)> on_other_;
  std::vector<std::unique_ptr<Connection>> connections_;  // by slot
  std::vector<std::uint32_t> free_slots_;
  std::unordered_map<SocketPair, std::uint32_t, SocketPairHash> by_pair_;
  std::vector<std::uint32_t> dirty_;
  TimerHeap timers_;
  std::vector<FrameHandle> inbox_;
  std::uint32_t next_identification_ = 0;
  bool vanished_ = false;
};

}  // namespace satrelay::sim
