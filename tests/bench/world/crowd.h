// A gateway with very many flows, and a peer that sends any frames that it is told to. They show
// how much one call of the engine takes at most. The peer has no session, only packets made by
// hand. Hosts answer SYNs, and nothing else.
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
  double milliseconds = 0;  // The thread's processor time.
  std::uint64_t visited = 0;
  std::uint64_t worked = 0;  // Nominal nanoseconds.
};

class Crowd {
 public:
  // How hosts behave: they answer SYNs and FINs, acknowledge data as well, or are silent. kUnknown:
  // they are behind a router.
  enum class Hosts : std::uint8_t { kAnswer, kAcknowledge, kSilent, kUnknown };
  struct Spec {
    std::size_t flows = 0;
    Hosts hosts = Hosts::kAnswer;
    bool one_server = false;  // If false, each flow has a server of its own.
    Duration idle_timeout = Duration::seconds(7200);
    std::size_t memory = 512U << 20;
    std::size_t speaking_peers = 1;
    std::size_t silent_peers = 0;                            // Beside the speaking peers.
    bool opens = true;                                       // At once.
    BitRate rate = BitRate::bits_per_second(1'000'000'000);  // Link rate.
    // Options of the hosts.
    std::uint16_t mss = 1460;
    std::uint8_t window_scale = 0;
    std::uint32_t capabilities = 0;  // The peer's.
  };
  explicit Crowd(const Spec& spec);
  ~Crowd();

  gateway::Gateway& engine() { return *engine_; }
  const config::Gateway& config() const { return config_; }
  std::size_t flows() const { return engine_->flow_count(); }
  Instant now() const { return now_; }

  // --- the measurement, each call of the engine by itself
  void call(const std::function<void()>& work);
  // Chooses the peer that sends from now on.
  void speak_as(std::size_t peer) { speaking_ = peer; }
  // Sends one packet of the peer with as many frames as write(frames, i) finds room for, from `i`
  // on; returns where it stopped.
  using WriteFrame = std::function<void(ByteWriter& frames, std::size_t i)>;
  std::size_t say(std::size_t i, std::size_t end, const WriteFrame& write, std::size_t room = 60);
  // Sends several packets of the peer together. write(frames, i) writes packet i, and may choose
  // another peer.
  void say_together(std::size_t packets, const WriteFrame& write);
  static void write_data(ByteWriter& frames, std::size_t flow, std::uint64_t offset,
                         ConstBytes bytes);
  // Skips that many packet numbers of the peer, as if the packets were lost; returns the first
  // number.
  std::uint32_t skip_packets(std::uint32_t count) {
    return std::exchange(peer().number, peer().number + count);
  }
  void from_lan(const std::vector<std::byte>& frame);
  // Several frames together.
  void from_lan(std::span<const std::vector<std::byte>> frames);
  // Takes frames that leave by the WAN at once, at most 32; returns how many there were.
  std::size_t poll_burst();
  // Runs until the engine has nothing more to do or to send.
  void settle();
  // Lets time pass. The peer sends a PING now and then, unless it is silent.
  void pass(Duration time, bool peer_speaks = true);

  // The peer reports packets since the last acknowledge(): those for which arrived(number) is true.
  using Arrived = std::function<bool(std::uint64_t number)>;
  void report(const Arrived& arrived);
  // The peer reports that everything since the last acknowledge() has arrived.
  void acknowledge();
  // The peer ends its direction of these open flows, and the servers end theirs when they see that.
  void close_flows(std::size_t from, std::size_t end);
  // The peer restarts, and the two greet each other.
  void restart_peer();
  // The same, but the engine gets no time for more than its answer.
  void greet_anew();
  void reload(const config::Gateway& next);
  static std::uint64_t stream(std::size_t flow) { return 2 * flow + 1; }
  // The metadata to open flow `i`, or to list it.
  std::vector<std::byte> metadata(std::size_t i) const;
  // A frame of the server of flow `i` that belongs to no connection.
  std::vector<std::byte> server_frame(std::size_t i) const;
  // A segment of its connection, with nothing new.
  std::vector<std::byte> segment_of_server(std::size_t i) const;
  // The next bytes of the server of flow `i`, which has sent `before` bytes already, and has
  // acknowledged `acknowledged` bytes.
  std::vector<std::byte> data_of_server(std::size_t i, std::size_t before, ConstBytes payload,
                                        std::size_t acknowledged = 0) const;

  // Octets that have left for the server of flow `i`.
  std::size_t sent_to_server(std::size_t i) const { return ends_.at(i) - begins_.at(i); }
  Worst worst() const { return worst_; }
  double milliseconds() const { return milliseconds_; }  // For all calls.
  void forget() { worst_ = {}; }
  std::uint64_t calls() const { return calls_; }
  std::uint64_t syns() const { return syns_; }  // To hosts.
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
    std::vector<std::uint64_t> heard;  // Numbers of the engine's packets.
  };
  Peer& peer() { return peers_[speaking_]; }

  std::vector<Peer> peers_;  // Peers that send.
  std::size_t speaking_ = 0;
  std::vector<std::vector<std::byte>> answers_;  // Answers that hosts have yet to send.
  // Sequence numbers of the bytes that leave for the servers, by the server's number.
  std::vector<std::uint32_t> begins_, ends_;
};

}  // namespace satrelay::bench
