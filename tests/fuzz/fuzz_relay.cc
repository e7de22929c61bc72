// A gateway with a live peer and with hosts that answer, under arbitrary operations. These come
// from its operator, from the relay at the other gateway (flows and messages, well-formed or not),
// from the hosts, the link and time. For any input nothing may trap, and limits hold. When all
// others have fallen silent (or the gateway was stopped), all stored memory comes back.
//
// The input is a list of operations. An octet names the operation (act() has the list) and says
// which frames are lost meanwhile. Another octet says how much time passes first. The operation's
// arguments follow.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/stp/session.h"
#include "pep/tcp/endpoint.h"
#include "pep/wire/arp.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "pep/wire/udp.h"
#include "relay/gateway/flows/flow_record.h"
#include "relay/gateway/gateway.h"
#include "relay/sim/adversaries/forged_hello.h"
#include "relay/sim/network/tcp_frame.h"
#include "tests/fuzz/far_relay.h"
#include "tests/fuzz/fuzz_peer.h"
#include "tests/fuzz/relay_configuration.h"

namespace satrelay {
namespace {

using gateway::Gateway;
using gateway::PortId;

constexpr std::uint64_t kEpoch = 1000;
constexpr MacAddress kGatewayMac{{2, 0, 0, 0, 0, 0xaa}};
constexpr MacAddress kPeerMac{{2, 0, 0, 0, 0, 0xbb}};
constexpr int kMostFrames = 20'000;  // The most that may leave at one instant.

void check(bool condition, unsigned line = __builtin_LINE()) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_relay.cc:%u: a check fails\n", line);
  std::abort();
}

// A connection of the host on the LAN.
struct Connection {
  std::uint16_t local = 0;
  std::uint16_t remote = 0;
  std::unique_ptr<tcp::Endpoint> endpoint;
};

// Counts records. Each flow has one record, whatever the peer reports about its LAN, and when.
struct RecordCount final : gateway::FlowRecorder {
  void handle_end(const gateway::FlowRecord& record) override {
    check(record.end != gateway::Counter::kCount);
    ++records;
  }
  std::uint64_t records = 0;
};

class World {
 public:
  explicit World(ByteReader& in)
      : in_(in),
        relay_(in),
        memory_(kMemory),
        host_memory_(kMemory),
        host_arena_(host_memory_, 2048) {
    now_ = Instant::from_nanoseconds(1'000'000'000);
    gateway_ = std::make_unique<Gateway>(
        configuration(0),
        gateway::Identity{.boot_epoch = kEpoch, .secret = {1, 2}, .wan_mac = kGatewayMac}, memory_,
        now_);
    far_ = std::make_unique<FuzzPeer>(++far_epoch_, kRate, now_);
    introduce();
    for (int i = 0; i < 10; ++i) {
      now_ += Duration::milliseconds(20);
      settle({});
    }
    check(gateway_->peers()[0].state == stp::PeerState::kAlive);
  }

  void run() {
    const unsigned manner = in_.u8();
    const bool in_order = (manner & 1U) != 0;
    if ((manner & 2U) != 0) burst_ = kLargestBurst;
    records_flows_ = (manner & 4U) != 0;
    record_flows();
    while (in_.remaining() > 2) {
      const unsigned operation = in_.u8();
      const unsigned pause = in_.u8();
      const Loss loss{.lan = (operation & 0x20U) != 0,
                      .wan_in = (operation & 0x40U) != 0,
                      .wan_out = (operation & 0x80U) != 0};
      // From microseconds up to half an hour. Events that are due meanwhile happen in between.
      pass(Duration::microseconds(std::int64_t{1} << (pause & 31U)), loss);
      act(operation & 0x1fU);
      settle(loss);
    }
    end(in_order);
  }

 private:
  struct Loss {
    bool lan = false, wan_in = false, wan_out = false;
  };

  void record_flows() {
    recorded_ = {};
    if (records_flows_) gateway_->record_flows(&recorded_);
  }

  void introduce() {
    std::array<std::byte, 14 + wire::kArpSize> frame{};
    wire::EthernetHeader ethernet;
    ethernet.source = kPeerMac;
    ethernet.destination = kGatewayMac;
    ethernet.type = wire::EtherType::kArp;
    wire::write_ethernet(ethernet, frame);
    wire::write_arp({.operation = wire::ArpOperation::kReply,
                     .sender_mac = kPeerMac,
                     .sender = peer_address(),
                     .target_mac = kGatewayMac,
                     .target = own()},
                    MutableBytes(frame).subspan(ethernet.size()));
    gateway_->handle_frame(PortId::kWan, frame, now_);
  }

  // --- time --------------------------------------------------------------------------------------

  void pass(Duration length, Loss loss) {
    const Instant end = now_ + length;
    for (int i = 0; i < 20 && now_ < end; ++i) {
      Instant next = earlier(gateway_->next_timeout(), far_->session().next_timeout());
      for (const Connection& c : connections_) next = earlier(next, c.endpoint->next_timeout());
      now_ = earlier(end, later(next, now_ + Duration::microseconds(1)));
      settle(loss);
    }
    now_ = end;
    settle(loss);
  }

  void settle(Loss loss) {
    give_rest();
    if (gateway_->next_timeout() <= now_) gateway_->handle_timeout(now_);
    if (far_->session().next_timeout() <= now_) far_->session().handle_timeout(now_);
    for (const Connection& c : connections_) {
      if (c.endpoint->next_timeout() <= now_) c.endpoint->handle_timeout(now_);
    }
    int frames = 0;
    for (bool busy = true; busy;) {
      busy = false;
      busy = poll_gateway(loss) || busy;
      busy = poll_far(loss) || busy;
      busy = poll_hosts(loss) || busy;
      check(++frames < kMostFrames);
    }
    check(gateway_->flow_count() <= kFlows);
    check(gateway_->held_frames() == held_.size());
    check(held_.empty() || *held_.rbegin() < Gateway::kMostHeldFrames);
    std::erase_if(connections_, [](const Connection& c) { return c.endpoint->is_closed(); });
  }

  // --- frames ------------------------------------------------------------------------------------

  // True if the gateway's host no longer keeps the frame, in either case.
  static bool is_kept(const gateway::Polled& polled) {
    return polled.kind == gateway::Polled::Kind::kHeld ||
           polled.kind == gateway::Polled::Kind::kDropped;
  }

  bool poll_gateway(Loss loss) {
    std::array<std::array<std::byte, 2048>, kLargestBurst> buffers;
    check(gateway_->max_frame_size() <= buffers[0].size());
    const std::vector<MutableBytes> rooms(buffers.begin(), buffers.begin() + burst_);
    std::array<gateway::Polled, kLargestBurst> list;
    bool any = false;
    for (const auto port : {PortId::kLan, PortId::kWan}) {
      for (std::size_t count = burst_; count == burst_;) {
        count = gateway_->poll_frames(port, rooms, std::span(list).first(burst_), now_);
        any = any || count > 0;
        const auto polled = std::span(list).first(count);
        // Slots of sent frames are freed first, as a frame that other frames cause may take the
        // slot.
        for (const gateway::Polled& each : polled) {
          if (is_kept(each)) check(held_.erase(each.slot) == 1);
        }
        for (std::size_t i = 0; i < count; ++i) {
          if (is_kept(polled[i])) continue;
          check(polled[i].size <= gateway_->max_frame_size());
          const ConstBytes bytes = ConstBytes(buffers[i]).first(polled[i].size);
          if (port == PortId::kLan && !loss.lan) take_from_lan(bytes);
          if (port == PortId::kWan && !loss.wan_out) take_from_wan(bytes);
        }
      }
    }
    return any;
  }

  void take_from_lan(ConstBytes bytes) {
    const auto frame = sim::parse_tcp_frame(bytes);
    if (!frame || frame->ip.destination != host_address()) return;
    Connection* known = find(frame->tcp.destination_port, frame->tcp.source_port);
    const bool syn = frame->tcp.has(wire::TcpFlags::kSyn) && !frame->tcp.has(wire::TcpFlags::kAck);
    if (known == nullptr && syn && listens_) {
      known = &connect(frame->tcp.destination_port, frame->tcp.source_port);
      known->endpoint->accept(frame->tcp, now_);
      return;
    }
    if (known != nullptr) {
      known->endpoint->handle_segment(frame->tcp, frame->payload, now_);
      if (reads_) known->endpoint->consume(known->endpoint->received().readable());
      return;
    }
    if (frame->tcp.has(wire::TcpFlags::kRst)) return;
    wire::TcpHeader reset;
    reset.source_port = frame->tcp.destination_port;
    reset.destination_port = frame->tcp.source_port;
    reset.flags = wire::TcpFlags::kRst | wire::TcpFlags::kAck;
    reset.sequence = frame->tcp.acknowledgment;
    reset.acknowledgment = frame->tcp.sequence + 1;
    answers_.push_back(reset);
  }

  void take_from_wan(ConstBytes bytes) {
    const auto ethernet = wire::parse_ethernet(bytes);
    if (!ethernet || ethernet->type != wire::EtherType::kIpv4) return;
    const auto ip = wire::parse_ip(bytes.subspan(ethernet->size()));
    if (!ip || ip->protocol != wire::kProtocolUdp || ip->destination != peer_address()) return;
    far_->session().handle_packet(
        bytes.subspan(ethernet->size() + ip->header_size + wire::kUdpHeaderSize), now_);
    far_->take_events(far_reads_, now_);
  }

  bool poll_far(Loss loss) {
    std::array<std::byte, 1472> datagram{};
    bool any = false;
    while (const std::size_t size = far_->session().poll_packet(datagram, now_)) {
      any = true;
      if (loss.wan_in) continue;
      give(PortId::kWan, sim::write_stp_frame({peer_address(), kPeerMac}, {own(), kGatewayMac},
                                              ConstBytes(datagram).first(size), 0));
    }
    give_rest();
    far_->take_events(far_reads_, now_);
    return any;
  }

  bool poll_hosts(Loss loss) {
    bool any = !answers_.empty();
    for (const wire::TcpHeader& answer : std::exchange(answers_, {})) send(answer, 0, nullptr);
    for (const Connection& c : connections_) {
      while (const auto segment = c.endpoint->poll_segment(now_)) {
        any = true;
        wire::TcpHeader header = segment->header;
        header.source_port = c.local;
        header.destination_port = c.remote;
        if (!loss.lan) send(header, segment->payload_size, &*segment, c.endpoint.get());
      }
    }
    give_rest();
    return any;
  }

  void send(const wire::TcpHeader& header, std::size_t payload, const tcp::SegmentToSend* segment,
            const tcp::Endpoint* from = nullptr) {
    std::array<std::byte, 2048> frame{};
    wire::EthernetHeader ethernet;
    ethernet.source = kHostMac;
    ethernet.destination = kFarMac;
    ethernet.type = wire::EtherType::kIpv4;
    wire::IpHeader ip;
    ip.source = host_address();
    ip.destination = far_address();
    const std::size_t size =
        sim::write_tcp_frame(ethernet, ip, header, payload, frame, [&](MutableBytes out) {
          if (from != nullptr && !out.empty()) from->copy_payload(segment->payload_offset, out);
        });
    give(PortId::kLan, ConstBytes(frame).first(size));
  }

  // Collects as many frames as make a burst.
  void give(PortId port, ConstBytes frame) {
    if (port != waiting_at_) give_rest();
    waiting_at_ = port;
    waiting_.emplace_back(frame.begin(), frame.end());
    if (waiting_.size() == burst_) give_rest();
  }

  void give_rest() {
    std::vector<Gateway::Arrived> arrived;
    for (const std::vector<std::byte>& frame : waiting_) arrived.push_back({.bytes = frame});
    std::vector<Gateway::Handled> handled(arrived.size());
    gateway_->handle_frames(waiting_at_, arrived, handled, now_);
    waiting_.clear();
    for (const Gateway::Handled& each : handled) {
      if (each.verdict == gateway::Verdict::kQueued) check(held_.insert(each.slot).second);
    }
  }

  // --- hosts -------------------------------------------------------------------------------------

  Connection* find(std::uint16_t local, std::uint16_t remote) {
    const auto found = std::ranges::find_if(
        connections_, [&](const Connection& c) { return c.local == local && c.remote == remote; });
    return found == connections_.end() ? nullptr : &*found;
  }

  Connection& connect(std::uint16_t local, std::uint16_t remote) {
    std::erase_if(connections_,
                  [&](const Connection& c) { return c.local == local && c.remote == remote; });
    tcp::Config config;
    config.send_limit = config.receive_limit = 32 << 10;
    config.initial_sequence = sequence_ += 100'000;
    connections_.push_back({local, remote, std::make_unique<tcp::Endpoint>(config, host_arena_)});
    return connections_.back();
  }

  Connection* connection(unsigned which) {
    return connections_.empty() ? nullptr : &connections_[which % connections_.size()];
  }

  // --- operations --------------------------------------------------------------------------------

  void act(unsigned operation) {
    switch (operation) {
      case 0:
      case 1:
        return open_from_host();
      case 2:
      case 3:
        return write_from_host(in_.u8());
      case 4:
        if (Connection* c = connection(in_.u8())) c->endpoint->close();
        return;
      case 5:
        if (Connection* c = connection(in_.u8())) c->endpoint->abort(now_);
        return;
      case 6:  // The host forgets a connection.
        if (Connection* c = connection(in_.u8())) {
          connections_.erase(connections_.begin() + (c - connections_.data()));
        }
        return;
      case 7:
        return send_oddity();
      case 8:
        listens_ = !listens_;
        return;
      case 9:
        reads_ = !reads_;
        if (reads_) {
          for (const Connection& c : connections_) {
            c.endpoint->consume(c.endpoint->received().readable());
          }
        }
        return;
      case 10:
      case 11:
      case 12:
      case 13:
      case 14:
      case 15:
      case 16:
      case 17:
      case 18:
        return relay_.act(operation - 10, *far_, now_);
      case 19:
        if (const auto id = far_->stream(in_.u8())) far_->end(*id, false, {}, now_);
        return;
      case 20:
        if (const auto id = far_->stream(in_.u8())) {
          far_->end(*id, true, static_cast<stp::ResetReason>(in_.u8() % 12), now_);
        }
        return;
      case 21:
        if (const auto id = far_->stream(in_.u8())) {
          const unsigned bits = in_.u8();
          far_->session().streams().confirm(
              *id,
              {.answered = (bits & 1U) != 0,
               .ended = (bits & 2U) != 0,
               .delivered = in_.u16(),
               .window = in_.u16(),
               .keep_alives = bits >> 4U,
               .urgent = {.after = in_.u8(), .mark = in_.u16()},
               .word = {.question = bits >> 5U, .silent = (bits & 4U) != 0}},
              now_);
        }
        return;
      case 22:  // The far gateway is killed and restarted.
        far_ = std::make_unique<FuzzPeer>(++far_epoch_, kRate, now_);
        return;
      case 23:
        far_->session().close(now_);
        return;
      case 24:
        far_->session().announce_capacity(BitRate::bits_per_second(in_.u16() * 1'000U));
        return;
      case 25:
        far_reads_ = !far_reads_;
        return;
      case 26:
      case 27:
        gateway_->set_admission(static_cast<gateway::Admission>(in_.u8() % 3), now_);
        check(gateway_->unfinished_flows() <= gateway_->flow_count());
        return;
      case 28:
        gateway_->reconfigure(configuration(in_.u8() % 8), now_);
        return;
      case 29: {
        const unsigned bits = in_.u8();
        gateway_->rates().set_capacity(
            bits % 8 == 7 ? "none" : "sat",
            bits % 2 == 0 ? gateway::LinkWay::kSend : gateway::LinkWay::kReceive,
            BitRate::bits_per_second(in_.u16() * 1'000U), now_);
        return;
      }
      case 30:  // The gateway itself is killed and restarted.
        held_.clear();
        gateway_.reset();
        gateway_ = std::make_unique<Gateway>(configuration(0),
                                             gateway::Identity{.boot_epoch = kEpoch + ++restarts_,
                                                               .secret = {restarts_, 2},
                                                               .wan_mac = kGatewayMac},
                                             memory_, now_);
        record_flows();
        introduce();
        return;
      default:
        gateway_->flows(in_.u8() % kFlows, 4, now_);
        gateway_->peers();
        change_class();
        return ask_about_rules();
    }
  }

  void change_class() {
    const unsigned bits = in_.u8();
    gateway::ClassChange change;
    change.as_configured = (bits & 2U) != 0;
    if ((bits & 4U) != 0) change.weight = static_cast<std::uint8_t>(1 + bits / 8);
    if ((bits & 8U) != 0) change.guaranteed = BitRate::bits_per_second(bits / 16 * 3'000'000U);
    if ((bits & 16U) != 0) change.maximum = BitRate::bits_per_second(bits / 32 * 100'000U);
    const auto result = gateway_->set_class((bits & 1U) != 0 ? "voice" : "bulk", change, now_);
    check(result != Gateway::ClassResult::kUnknownClass);
    check(gateway_->classes().size() == 4);
  }

  void ask_about_rules() {
    const unsigned bits = in_.u8();
    gateway::RuleChange change;
    change.compress = static_cast<config::Compress>(bits % 3);
    if ((bits & 8U) != 0) change.handshake = static_cast<config::HandshakeMode>(bits >> 4U & 1U);
    if ((bits & 32U) != 0) change.ack = static_cast<config::AckMode>(bits >> 6U & 1U);
    if ((bits & 128U) != 0) change.close = config::CloseMode::kConfirmed;
    gateway_->set_rule(std::to_string(bits % 8), change);
    gateway::PolicyKey key;
    key.source = host_address();
    key.destination = far_address();
    key.port = static_cast<std::uint16_t>(80 + bits % 8);
    key.protocol = 6;
    key.direction = static_cast<config::Direction>(bits >> 7U & 1U);
    const gateway::Explanation why = gateway_->explain(key, now_);
    check(why.rule == (key.port < 86 ? key.port - 79U : 0U));
    check(gateway_->rules(0, 10).size() == 7);
  }

  void open_from_host() {
    const unsigned which = in_.u8();
    const auto local = static_cast<std::uint16_t>(kFirstClientPort + which % kPorts);
    const auto remote = static_cast<std::uint16_t>(80 + which / kPorts % 6);
    wire::TcpOptions offer;
    offer.mss = 1460;
    if ((which & 0x40U) != 0) offer.window_scale = 7;
    offer.sack_permitted = (which & 0x80U) != 0;
    connect(local, remote).endpoint->connect(offer, now_);
  }

  void write_from_host(unsigned which) {
    Connection* c = connection(which);
    if (c == nullptr) return;
    const unsigned size = in_.u8();
    static_cast<void>(
        c->endpoint->write((which % 4 == 3 ? noise() : answers()).first(size * 64U + 1)));
  }

  // A segment that no good host sends, for a known connection or for none.
  void send_oddity() {
    wire::TcpHeader header;
    const unsigned which = in_.u8();
    header.source_port = static_cast<std::uint16_t>(kFirstClientPort + which % kPorts);
    header.destination_port = static_cast<std::uint16_t>(80 + which / kPorts % 6);
    if (const Connection* c = connection(which); c != nullptr && which % 2 == 0) {
      header.source_port = c->local;
      header.destination_port = c->remote;
    }
    header.flags = in_.u8();
    header.sequence = sequence_ + in_.u16();
    header.acknowledgment = in_.u32();
    header.window = in_.u16();
    send(header, in_.u8(), nullptr);
  }

  // --- the end -----------------------------------------------------------------------------------

  // From now on hosts and gateways are silent, and only the gateway's own timers remain. If
  // `in_order`, the gateway is told to stop. Otherwise the far gateway finally restarts.
  void end(bool in_order) {
    if (in_order) gateway_->shut_down(now_);
    constexpr Loss kEverything{.lan = true, .wan_in = true, .wan_out = true};
    connections_.clear();
    // Data for a silent host takes longest: a quarter of an hour from its first timeout.
    for (int i = 0; i < 200 || (i < 400 && gateway_->flow_count() > 0); ++i) {
      const Instant next = gateway_->next_timeout();
      now_ = later(now_ + Duration::seconds(5), earlier(next, now_ + Duration::seconds(60)));
      settle(kEverything);
    }
    check(gateway_->flow_count() == 0);
    check(gateway_->status(now_).half_open == 0);
    check(gateway_->held_frames() == 0);
    const gateway::Counters& counters = gateway_->counters();
    check(!records_flows_ || recorded_.records == counters[gateway::Counter::kFlowsAccepted] +
                                                      counters[gateway::Counter::kFlowsFromPeer]);
    if (!in_order) {
      // Unfinished messages from a silent peer, and messages to it, are kept until it restarts.
      far_ = std::make_unique<FuzzPeer>(++far_epoch_, kRate, now_);
      far_reads_ = true;
      introduce();
      for (int i = 0; i < 100; ++i) {
        now_ += Duration::milliseconds(100);
        settle({});
      }
      check(gateway_->peers()[0].state == stp::PeerState::kAlive);
    }
    // Streams that go on have their reserves.
    check(gateway_->arena_use().blocks() == 0);
    check(!gateway_->audit());
  }

  ByteReader& in_;
  FarRelay relay_;
  Instant now_;
  RecordCount recorded_;
  bool records_flows_ = false;
  std::vector<std::byte> memory_;
  std::vector<std::byte> host_memory_;
  Arena host_arena_;
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<FuzzPeer> far_;
  std::uint64_t far_epoch_ = 5000;
  std::uint64_t restarts_ = 0;
  std::vector<Connection> connections_;
  std::vector<wire::TcpHeader> answers_;
  std::uint32_t sequence_ = 1;
  static constexpr std::size_t kLargestBurst = 16;
  std::size_t burst_ = 1;  // Frames that the gateway gets, and is asked for, at once.
  PortId waiting_at_ = PortId::kLan;
  std::vector<std::vector<std::byte>> waiting_;  // Frames for the gateway.
  std::set<std::size_t> held_;                   // Slots in which the gateway's host keeps frames.
  bool listens_ = true;                          // The host accepts connections.
  bool reads_ = true;                            // The host's programs read.
  bool far_reads_ = true;
};

}  // namespace
}  // namespace satrelay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  satrelay::ByteReader in(std::as_bytes(std::span(data, size)));
  satrelay::World(in).run();
  return 0;
}
