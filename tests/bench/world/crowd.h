// A gateway with very many flows, and a peer that says whatever it is told to: to see what one
// call of the engine takes at most. The peer is no session but packets, made by hand; hosts answer
// SYNs, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/stp/wire/frames.h"
#include "relay/gateway/gateway.h"
#include "tests/bench/world/large_memory.h"

namespace satrelay::bench {

// The most that one call took.
struct Worst {
  double milliseconds = 0;  // of the thread's processor time
  std::uint64_t visited = 0;
  std::uint64_t worked = 0;  // nominal nanoseconds
};

class Crowd {
 public:
  // What hosts do: answer SYNs and FINs, and with them data, or nothing. Unknown: behind a router.
  enum class Hosts : std::uint8_t { kAnswer, kAcknowledge, kSilent, kUnknown };
  struct Spec {
    std::size_t flows = 0;
    Hosts hosts = Hosts::kAnswer;
    bool one_server = false;  // or one for each flow
    Duration idle_timeout = Duration::seconds(7200);
    std::size_t memory = 512U << 20;
    std::size_t speaking_peers = 1;
    std::size_t silent_peers = 0;                            // beside them
    bool opens = true;                                       // at once
    BitRate rate = BitRate::bits_per_second(1'000'000'000);  // of the link
    // What hosts offer.
    std::uint16_t mss = 1460;
    std::uint8_t window_scale = 0;
    std::uint32_t capabilities = 0;  // of the peer
  };
  explicit Crowd(const Spec& spec);
  ~Crowd();

  gateway::Gateway& engine() { return *engine_; }
  const config::Gateway& config() const { return config_; }
  std::size_t flows() const { return engine_->flow_count(); }
  Instant now() const { return now_; }

  // --- what is measured, each call of the engine by itself
  void call(const std::function<void()>& work);
  // Who is meant by "the peer" from now on.
  void speak_as(std::size_t peer) { speaking_ = peer; }
  // Packets of the peer with as many frames as write(frames, i) finds room for, from i on; where it
  // stopped.
  using WriteFrame = std::function<void(ByteWriter& frames, std::size_t i)>;
  std::size_t say(std::size_t i, std::size_t end, const WriteFrame& write, std::size_t room = 60);
  // Several packets of the peer that come together, packet i with what write(frames, i) writes.
  // That may choose another peer.
  void say_together(std::size_t packets, const WriteFrame& write);
  static void write_data(ByteWriter& frames, std::size_t flow, std::uint64_t offset,
                         ConstBytes bytes);
  // So many packets of the peer are lost; the number of the first.
  std::uint32_t skip_packets(std::uint32_t count) {
    return std::exchange(peer().number, peer().number + count);
  }
  void from_lan(const std::vector<std::byte>& frame);
  // Several together.
  void from_lan(std::span<const std::vector<std::byte>> frames);
  // What leaves by the WAN at once, at most 32 frames; how many there were.
  std::size_t poll_burst();
  // Until the engine has nothing more to do or to say.
  void settle();
  // With a PING of the peer now and then, unless it is silent.
  void pass(Duration time, bool peer_speaks = true);

  // The peer reports all packets of this session at once; as if those had arrived of which
  // arrived(number) says so.
  using Arrived = std::function<bool(std::uint64_t number)>;
  void report(const Arrived& arrived);
  // All that was sent since the last such report has arrived.
  void acknowledge();
  // The peer's host has no more to say, and the server ends as it hears of it: both directions of
  // these flows, which are open, are over.
  void close_flows(std::size_t from, std::size_t end);
  // The peer is started anew, and greeted.
  void restart_peer();
  // The same, but the engine gets no time for more than its answer.
  void greet_anew();
  void reload(const config::Gateway& next);
  static std::uint64_t stream(std::size_t flow) { return 2 * flow + 1; }
  // To open flow `i`, or to list it.
  std::vector<std::byte> metadata(std::size_t i) const;
  // A frame of the server of flow `i`, of no connection.
  std::vector<std::byte> server_frame(std::size_t i) const;
  // Of its connection, with nothing new.
  std::vector<std::byte> segment_of_server(std::size_t i) const;
  // The next bytes of the server of flow `i`, which has sent `before` already, and has
  // acknowledged so many.
  std::vector<std::byte> data_of_server(std::size_t i, std::size_t before, ConstBytes payload,
                                        std::size_t acknowledged = 0) const;

  // Octets that have left for the server of flow `i`.
  std::size_t sent_to_server(std::size_t i) const { return ends_.at(i) - begins_.at(i); }
  Worst worst() const { return worst_; }
  double milliseconds() const { return milliseconds_; }  // of all calls
  void forget() { worst_ = {}; }
  std::uint64_t calls() const { return calls_; }
  std::uint64_t syns() const { return syns_; }  // to hosts
  void open_flows(std::size_t from, std::size_t end);

 private:
  void hello();
  std::vector<std::byte> packet(const std::function<void(ByteWriter& frames)>& write);
  std::vector<std::byte> wan_frame(ConstBytes datagram) const;
  void from_wan(ConstBytes datagram);
  void hear_wan(ConstBytes frame);
  void answer(ConstBytes frame);
  bool poll(gateway::PortId port);

  Spec spec_;
  config::Gateway config_;
  LargeMemory memory_;
  std::unique_ptr<gateway::Gateway> engine_;
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  std::vector<std::byte> buffer_;
  Worst worst_;
  double milliseconds_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t syns_ = 0;
  struct Peer {
    std::uint64_t epoch = 10;
    std::uint32_t hello_number = 0;
    std::uint32_t heard_hello = 0;
    std::uint32_t number = 0;
    std::vector<std::uint64_t> heard;  // numbers of the engine's packets
  };
  Peer& peer() { return peers_[speaking_]; }

  std::vector<Peer> peers_;  // that speak
  std::size_t speaking_ = 0;
  std::vector<std::vector<std::byte>> answers_;  // that hosts owe
  // Sequence numbers of what leaves for the servers, by their number.
  std::vector<std::uint32_t> begins_, ends_;
};

}  // namespace satrelay::bench
