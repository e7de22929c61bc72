// A hostile terminal gateway. It has the right keys for a session with one gateway, its victim, and
// sends any frames to that gateway. After the attack it starts a new session, in which it follows
// the protocol. A check can then find state that the victim should have released.
//
//   victim's WAN port --> WanJunction --+--> satellite --> the honest peer
// +--> HostileTerminal (a separate path without loss)
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/seeded_entropy.h"
#include "pep/crypto/noise.h"
#include "relay/sim/adversaries/forged_hello.h"
#include "relay/sim/adversaries/frame_crafter.h"
#include "relay/sim/adversaries/stp_speaker.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/network/frame_pool.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

class HostileTerminal final : public Actor, public FrameSink {
 public:
  struct Config {
    HostilePeer spec;
    WanAddress own;
    WanAddress victim;
    // The victim's other peer; the terminal forges HELLOs in the name of this peer.
    WanAddress honest;
    SpokenLane lane;                // the lane on which the terminal speaks
    std::uint8_t honest_lanes = 1;  // number of lanes between the victim and its other peer
    Duration delay;                 // one-way delay of the path between terminal and victim
    // Secret shared with the victim; nullopt means that nothing is encrypted.
    std::optional<crypto::Psk> psk;
    KnownHosts known;
  };
  HostileTerminal(EventLoop& loop, FramePool& frames, const Config& config);
  ~HostileTerminal() override;

  void connect(FrameSink& victim, unsigned port);
  // Receives a frame from the victim.
  void receive(unsigned port, FrameHandle frame) override;

  void run(Instant now) override;
  Instant next_timeout() const override;

 private:
  struct Visitor;
  using Due = std::pair<Instant, FrameHandle>;

  bool misbehaves(Instant now) const;
  Instant end() const { return config_.spec.from + config_.spec.length; }
  void begin_anew(std::uint64_t epoch, Instant now);
  void handle_frame(ConstBytes frame, Instant now);
  void answer_arp(ConstBytes payload, Instant now);
  void make_trouble(Instant now);
  void send_crafted(Instant now);
  void send_garbage(Instant now);
  void greet_as_another(Instant now);
  void send_close(Instant now);
  void send_answers(Instant now);
  void send_datagram(ConstBytes datagram, Instant now);
  void send_frames(ConstBytes frames, Instant now);
  void queue(ConstBytes frame, Instant now);

  EventLoop* loop_;
  FramePool* frames_;
  Config config_;
  ActorId id_;
  Random random_;
  SeededEntropy entropy_;
  FrameCrafter crafter_;
  FrameSink* victim_ = nullptr;
  unsigned victim_port_ = 0;
  std::deque<Due> inbox_;
  std::deque<Due> outbox_;
  std::uint64_t epoch_;
  std::uint64_t highest_epoch_;
  std::optional<StpSpeaker> speaker_;
  bool behaves_ = false;  // true once the attack is over: from end() on
  std::uint32_t made_ = 0;
  std::uint64_t greetings_ = 0;  // number of forged HELLOs with rising epochs so far
  Instant next_trouble_;
  Instant report_at_ = Instant::never();
  Instant last_report_;
  Instant silent_until_;
  // Streams on which the victim has sent since the end of the attack. The next packet resets them.
  std::vector<std::uint64_t> to_reset_;
  std::vector<std::byte> last_datagram_;
};

// Passes each WAN frame of the victim to the satellite or to the hostile terminal, by its
// destination MAC. Multicast frames go to both.
class WanJunction final : public FrameSink {
 public:
  WanJunction(FramePool& frames, FrameSink& satellite, FrameSink& hostile, const MacAddress& mac)
      : frames_(&frames), satellite_(&satellite), hostile_(&hostile), mac_(mac) {}
  // `port` is the satellite's port.
  void receive(unsigned port, FrameHandle frame) override;

 private:
  FramePool* frames_;
  FrameSink* satellite_;
  FrameSink* hostile_;
  MacAddress mac_;
};

}  // namespace satrelay::sim
