// The gateway at the other end of a link: a session of STP with a relay that a fuzz target
// controls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "pep/base/arena.h"
#include "pep/base/bytes.h"
#include "pep/base/check.h"
#include "pep/control/fixed_rate.h"
#include "pep/control/pacer.h"
#include "pep/stp/session.h"

namespace satrelay {

struct FarLane {
  std::uint8_t number = 0;
  std::uint8_t count = 1;
};

class FuzzPeer final : public stp::StreamSource {
 public:
  // The streams that this gateway opens.
  enum class Streams : std::uint8_t { kOdd, kEven };
  // Whether it knows LAN reports and later capabilities.
  enum class LanReports : std::uint8_t { kUnderstood, kUnknown };
  FuzzPeer(std::uint64_t epoch, BitRate rate, Instant now, Streams opens = Streams::kOdd,
           FarLane lane = {}, LanReports reports = LanReports::kUnderstood)
      : memory_(1 << 20),
        arena_(memory_, 4096),
        pacer_(rate, control::LinkOverhead{}, Duration::milliseconds(4)),
        controller_(rate),
        session_(config(epoch, opens, lane, reports), arena_, pacer_, controller_, *this, now) {}

  stp::Session& session() { return session_; }
  void produce(stp::StreamId id, std::uint32_t, Instant) override {
    session_.streams().set_ready(id, false);
  }
  void open(ConstBytes metadata, Instant now) {
    if (const auto id = session_.streams().open(metadata, 0, now)) streams_.push_back(*id);
  }
  std::optional<stp::StreamId> stream(unsigned which) const {
    if (streams_.empty()) return std::nullopt;
    return streams_[which % streams_.size()];
  }
  std::optional<stp::StreamId> last() const {
    return streams_.empty() ? std::nullopt : std::optional(streams_.back());
  }
  void write(stp::StreamId id, ConstBytes bytes, Instant now) {
    const auto part =
        bytes.first(std::min<std::size_t>(bytes.size(), session_.streams().send_room(id)));
    SATRELAY_CHECK(session_.streams().write(id, part, now) == part.size());
  }
  void end(stp::StreamId id, bool reset, stp::ResetReason reason, Instant now) {
    if (reset) {
      session_.streams().reset(id, reason, now);
      std::erase(streams_, id);
    } else {
      session_.streams().finish(id);
    }
  }
  void take_events(bool takes_bytes, Instant now) {
    while (const auto event = session_.poll_event()) {
      using Kind = stp::Event::Kind;
      if (event->kind == Kind::kOpened) streams_.push_back(event->stream);
      if (event->kind == Kind::kReset) std::erase(streams_, event->stream);
      if (event->kind == Kind::kReadable && takes_bytes) {
        session_.streams().consume(event->stream,
                                   session_.streams().received(event->stream)->readable(), now);
      }
      if (event->kind == Kind::kPeerRestarted || event->kind == Kind::kPeerClosed) {
        streams_.clear();
      }
    }
  }

 private:
  static stp::Config config(std::uint64_t epoch, Streams opens, FarLane lane, LanReports reports) {
    stp::Config config;
    config.boot_epoch = epoch;
    config.lane = lane.number;
    config.lane_count = lane.count;
    config.opens_even_streams = opens == Streams::kEven;
    config.streams.max_streams = 32;
    if (reports == LanReports::kUnderstood) {
      config.relay_capabilities = stp::kCapabilityLanReports | stp::kCapabilityEvidence |
                                  stp::kCapabilityDestinations | stp::kCapabilityHostWords |
                                  stp::kCapabilityIcmp | stp::kCapabilityArrivals |
                                  stp::kCapabilityBetween;
    }
    config.streams.lane_receive_limit = config.streams.receive_limit = config.streams.send_limit =
        1 << 18;
    return config;
  }
  std::vector<std::byte> memory_;
  Arena arena_;
  control::Pacer pacer_;
  control::FixedRate controller_;
  stp::Session session_;
  std::vector<stp::StreamId> streams_;
};

}  // namespace satrelay
