// A peer comes while an attacker floods the gateway with HELLOs in that peer's name, or in another
// peer's. The gateway meets the peer within the same time as without the flood.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "pep/base/random.h"
#include "pep/base/seeded_entropy.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"
#include "relay/sim/adversaries/forged_hello.h"
#include "relay/sim/adversaries/hello_packet.h"
#include "relay/sim/adversaries/stp_speaker.h"
#include "tests/sim/options.h"
#include "tests/sim/stations.h"

namespace satrelay::sim::hello_flood_test {
namespace {

using gateway::PortId;
using Bytes = std::vector<std::byte>;

enum class Kind : std::uint8_t { kForged, kRecorded, kRecordedInOrder, kWithoutMac };
enum class Whose : std::uint8_t { kOwn, kAnothers };

constexpr std::size_t kHub = 0, kTerminal = 1, kOther = 2;
constexpr std::size_t kRecorded = 300;
constexpr Duration kRoundTrip = Duration::milliseconds(4 * 137);

crypto::Psk secret() {
  crypto::Psk psk;
  psk.bytes()[0] = std::byte{1};
  return psk;
}

StationSpec sealed_station(std::size_t index, const std::vector<std::size_t>& others) {
  StationSpec spec = station(index, others);
  for (config::Peer& peer : spec.gateway.peers) {
    peer.security.keys.emplace();
    peer.security.keys->current = secret();
  }
  return spec;
}

MacAddress mac_of(std::size_t station) {
  return {{0x02, 0, 0x5e, 0, 0xff, static_cast<std::uint8_t>(station)}};
}

// Stands between the link and the hub, and notes when the terminal's first packet arrives. The
// flood passes it by.
class HelloTap final : public FrameSink {
 public:
  HelloTap(Stations& stations, const IpAddress& terminal)
      : stations_(stations), terminal_(terminal) {}
  void receive(unsigned port, FrameHandle frame) override {
    const gateway::Frame seen = gateway::look_at(stations_.frames().bytes(frame));
    if (!first_ && seen.kind == gateway::FrameKind::kUdp && seen.ip.source == terminal_) {
      first_ = stations_.now();
    }
    stations_.gateway(kHub).receive(port, frame);
  }
  const std::optional<Instant>& first() const { return first_; }

 private:
  Stations& stations_;
  IpAddress terminal_;
  std::optional<Instant> first_;
};

class HelloFloodSim : public ::testing::TestWithParam<std::tuple<Kind, Whose>> {
 protected:
  Kind kind() const { return std::get<0>(GetParam()); }
  std::size_t whose() const { return std::get<1>(GetParam()) == Whose::kOwn ? kTerminal : kOther; }
  // HELLOs of earlier boots of a station, as frames.
  std::vector<Bytes> recording(std::size_t from) {
    std::vector<Bytes> frames;
    for (const std::uint64_t epoch : {1'500'000'000'000'000'000U, 1'600'000'000'000'000'000U}) {
      StpSpeaker::Config config;
      config.epoch = epoch;
      config.opens_even_streams = wan_address(from) < wan_address(kHub);
      const std::string names = std::min(wan_address(from), wan_address(kHub)).to_string() + ' ' +
                                std::max(wan_address(from), wan_address(kHub)).to_string() + ' ';
      const ConstBytes octets = std::as_bytes(std::span(names));
      config.security = stp::Security{.psk = secret(),
                                      .other = std::nullopt,
                                      .entropy = &entropy_,
                                      .names = {octets.begin(), octets.end()}};
      StpSpeaker speaker(config, Instant());
      for (std::size_t i = 0; i < kRecorded; ++i) {
        const Bytes hello = speaker.hello(Instant() + Duration::seconds(static_cast<int>(i)));
        frames.push_back(frame_of(from, changed(hello)));
      }
    }
    return frames;
  }
  Bytes frame_of(std::size_t from, const Bytes& hello) const {
    return write_stp_frame({wan_address(from), mac_of(from)}, {wan_address(kHub), mac_of(kHub)},
                           hello, 0);
  }
  Bytes changed(const Bytes& hello) {
    if (kind() == Kind::kRecorded || kind() == Kind::kRecordedInOrder) return hello;
    ByteReader in(stp::frames_of(hello));
    in.u8();
    stp::HelloKeys keys;
    const stp::HelloFrame frame = stp::parse_hello(in, keys);
    Bytes offer(103);
    for (std::byte& octet : offer) octet = static_cast<std::byte>(random_.next());
    keys.offer = offer;
    keys.has_mac = kind() == Kind::kForged;
    return write_hello_packet(*stp::parse_header(hello), frame, keys);
  }
  // Time from the arrival of the terminal's first packet; nullopt if the gateways do not meet.
  std::optional<Duration> time_to_meet(std::uint64_t seed) {
    random_ = Random(seed);
    const std::vector<Bytes> frames = recording(whose());
    Stations stations;
    stations.add(sealed_station(kHub, {kTerminal, kOther}));
    stations.add(sealed_station(kTerminal, {kHub}));
    HelloTap tap(stations, wan_address(kTerminal));
    stations.link(kHub).connect(SatelliteLink::kA, tap, static_cast<unsigned>(PortId::kWan));
    stations.gateway(kHub).start(1'700'000'000'000'000'000U);
    const Instant begin =
        stations.now() + Duration::microseconds(static_cast<std::int64_t>(random_.below(300'000)));
    const Instant end = begin + Duration::seconds(5);
    std::size_t next = 0;
    while (stations.now() < end) {
      for (std::uint64_t i = 0; i < per_millisecond(); ++i) {
        const std::size_t at = kind() == Kind::kRecordedInOrder ? next++ % frames.size()
                                                                : random_.below(frames.size());
        stations.gateway(kHub).receive(static_cast<unsigned>(PortId::kWan),
                                       stations.frames().copy_of(frames[at]));
      }
      if (!stations.gateway(kTerminal).is_running() && stations.now() >= begin) {
        stations.gateway(kTerminal).start(1'700'000'000'000'000'001U);
      }
      stations.loop().run_until(stations.now() + Duration::milliseconds(1));
      if (!stations.gateway(kTerminal).is_running()) continue;
      const auto alive = [&](std::size_t station) {
        return stations.gateway(station).peers().at(0).state == stp::PeerState::kAlive;
      };
      if (alive(kHub) && alive(kTerminal)) return stations.now() - tap.first().value();
    }
    return std::nullopt;
  }
  // Frames of the flood: as many as a test has time for, and all if every seed is run.
  static std::uint64_t per_millisecond() { return options().seeds >= 100 ? 100 : 10; }

  Random random_{1};
  SeededEntropy entropy_{1};
};

TEST_P(HelloFloodSim, APeerIsMetWithinTwoRoundTrips) {
  const std::uint64_t seeds = std::min<std::uint64_t>(options().seeds, 100);
  std::uint64_t late = 0;
  Duration longest;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto time = time_to_meet(seed);
    if (!time || *time > kRoundTrip * 2) ++late;
    longest = std::max(longest, time.value_or(Duration::seconds(5)));
  }
  RecordProperty("longest_ms", static_cast<int>(longest.to_milliseconds()));
  std::printf("%llu seeds, %llu late, the longest took %lld ms\n",
              static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(late),
              static_cast<long long>(longest.to_milliseconds()));
  EXPECT_LE(late, seeds / 100);
}

std::string name_of(const std::tuple<Kind, Whose>& flood) {
  constexpr const char* kNames[] = {"Forged", "Recorded", "RecordedInOrder", "WithoutMac"};
  const auto [kind, whose] = flood;
  return std::string(kNames[static_cast<std::size_t>(kind)]) +
         (whose == Whose::kOwn ? "Own" : "Anothers");
}

INSTANTIATE_TEST_SUITE_P(Sim, HelloFloodSim,
                         ::testing::Combine(::testing::Values(Kind::kForged, Kind::kRecorded,
                                                              Kind::kRecordedInOrder,
                                                              Kind::kWithoutMac),
                                            ::testing::Values(Whose::kOwn, Whose::kAnothers)),
                         [](const auto& param_info) { return name_of(param_info.param); });

}  // namespace
}  // namespace satrelay::sim::hello_flood_test
