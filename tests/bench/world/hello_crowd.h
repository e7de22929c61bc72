// A gateway with peers that are all absent, and the packets that an attacker can send in their
// names. These are HELLOs that are forged, recorded or of older builds, and other packets. Only the
// thread's processor time inside the gateway's calls is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/random.h"
#include "pep/base/seeded_entropy.h"
#include "pep/base/time.h"
#include "relay/gateway/gateway.h"
#include "relay/sim/adversaries/stp_speaker.h"
#include "tests/bench/world/large_memory.h"

namespace satrelay::bench {

// Each key on the curve draws random bytes, and so does each offer that is read.
class CountedEntropy final : public Entropy {
 public:
  void fill(MutableBytes out) override {
    ++draws_;
    entropy_.fill(out);
  }
  std::uint64_t draws() const { return draws_; }

 private:
  SeededEntropy entropy_{1};
  std::uint64_t draws_ = 0;
};

class HelloCrowd {
 public:
  using Bytes = std::vector<std::byte>;
  struct Spec {
    std::uint16_t peers = 300;
    std::uint8_t lanes = 8;
    bool encrypts = true;
    bool two_secrets = false;
    std::size_t memory = 512U << 20;
  };
  struct Session {
    std::uint16_t peer = 0;
    std::uint8_t lane = 0;
  };

  explicit HelloCrowd(const Spec& spec);

  std::size_t sessions() const { return std::size_t{spec_.peers} * spec_.lanes; }
  Session session(std::size_t i) const {
    return {static_cast<std::uint16_t>(i / spec_.lanes),
            static_cast<std::uint8_t>(i % spec_.lanes)};
  }

  // --- datagrams in a peer's name
  // `count` HELLOs of a boot of the peer, one a second, with a new offer each eight seconds. They
  // get no answer.
  std::vector<Bytes> recorded(const Session& from, std::uint64_t epoch, std::size_t count);
  // The offer is random, and so is the MAC if there is one.
  Bytes forged(Bytes hello);
  // The HELLO accepts an offer of ours and names our boot, which a forger may know.
  Bytes forged_acceptance(const Bytes& hello, bool has_mac);
  static Bytes without_mac(const Bytes& hello);
  static Bytes with_wrong_checksum(Bytes hello);
  // A packet of no session.
  Bytes stranger(const Session& from, std::size_t size);
  // The datagram as a frame of the WAN.
  Bytes frame_of(const Session& from, const Bytes& datagram) const;

  // --- the gateway
  // Sends `per_second` of these frames a second for `time`, one after the other, in bursts as a
  // worker gets them.
  void flood(std::span<const Bytes> frames, std::size_t per_second, Duration time);
  void rest(Duration time) { flood({}, 1000, time); }
  // A real peer at this round-trip time, beside the flood. time_to_meet() is the time from the
  // arrival of its first HELLO until both ends had a session; nullopt: they have none.
  void invite(const Session& of, std::uint64_t epoch, Duration round_trip);
  std::optional<Duration> time_to_meet() const;
  double seconds() const { return nanoseconds_ / 1e9; }  // Processor time.
  std::uint64_t frames_out() const { return frames_out_; }
  const CountedEntropy& entropy() const { return entropy_; }
  gateway::Gateway& engine() { return *engine_; }
  Instant now() const { return now_; }
  void forget() {
    nanoseconds_ = 0;
    frames_out_ = 0;
  }

 private:
  struct Guest {
    Session of;
    sim::StpSpeaker speaker;
    Duration way;
    std::optional<Instant> first_arrival, met;
    // In flight, with the time of arrival: datagrams, and frames.
    std::deque<std::pair<Instant, Bytes>> to_it, to_us;
  };
  sim::StpSpeaker speaker(const Session& of, std::uint64_t epoch);
  void poll();
  void hear(ConstBytes frame);
  void run_guest();

  Spec spec_;
  config::Gateway config_;
  LargeMemory memory_;
  CountedEntropy entropy_;
  SeededEntropy entropy_of_peers_{2};
  Random random_{3};
  Instant now_ = Instant::from_nanoseconds(1'700'000'000'000'000'000);
  std::unique_ptr<gateway::Gateway> engine_;
  Bytes buffer_;
  std::optional<Guest> guest_;
  std::vector<Bytes> to_show_;  // Answers to ARP.
  std::size_t next_ = 0;        // Next frame of the flood.
  double nanoseconds_ = 0;
  std::uint64_t frames_out_ = 0;
};

}  // namespace satrelay::bench
