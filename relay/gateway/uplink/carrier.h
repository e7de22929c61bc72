// A satellite carrier, with its pacer and the order of its traffic. Several peers may share a
// carrier. Bridged frames also use its rate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "config/model/schema.h"
#include "pep/base/units.h"
#include "pep/control/pacer.h"
#include "pep/schedule/class_set.h"
#include "pep/schedule/host_share.h"
#include "pep/stp/path/report_budget.h"
#include "relay/gateway/ids.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/uplink/class_order.h"
#include "relay/gateway/uplink/held_frames.h"
#include "relay/gateway/uplink/link_way.h"
#include "relay/gateway/uplink/own_traffic.h"
#include "relay/gateway/uplink/taken_share.h"

namespace satrelay::gateway {

// The lowest capacity that an announcement or a command can set. It keeps a link usable.
inline constexpr BitRate kLeastCapacity = BitRate::bits_per_second(1'000);

struct Carrier {
  // `sources`: number of sources of traffic (ClassOrder). `most_hosts`: maximum number of hosts
  // that wait for the carrier. `reports`: the rate that STP reports of all sessions together may
  // use; zero means config::kReportPercent of the link. `workers`: number of workers that share the
  // carrier.
  Carrier(const config::Link& link, std::size_t sources, std::size_t most_hosts,
          BitRate reports = {}, unsigned workers = 1);
  BitRate& capacity(LinkWay way) {
    return way == LinkWay::kSend ? send_capacity : receive_capacity;
  }
  BitRate configured(LinkWay way) const {
    return way == LinkWay::kSend ? config.send_rate : config.receive_rate;
  }

  // The operator's limit, if it is below the configured rate; otherwise zero.
  BitRate commanded(LinkWay way) const {
    const BitRate capacity = way == LinkWay::kSend ? send_capacity : receive_capacity;
    return capacity == configured(way) ? BitRate() : capacity;
  }

  // Call this when the rate of the modem has changed. `found`: false if `rate` is only an upper
  // limit, since no controller has found the rate yet.
  void set_rate(BitRate rate, bool found, Instant now);
  // From now on, limits this worker to its share of the carrier.
  void take_share(const LinkShare& share, Instant now);
  const TakenShare& share() const { return share_; }
  // Call this when the share has expired. The worker then uses the fallback part of its last share
  // until it takes over another share.
  void fall_back(Instant now);
  BitRate in_force() const { return in_force_; }  // rate of the link
  // The rate at which packets are paced, a little less than in_force().
  BitRate rate() const { return rate_; }
  // The rate that the STP reports of all sessions together may use.
  BitRate report_rate() const;
  // How long bridged frames of a class may wait.
  HeldFrames::Terms held_terms(schedule::ClassId traffic_class) const;

  config::Link config;
  control::Pacer pacer;
  ClassOrder classes;
  schedule::HostShares host_shares;
  stp::ReportBudget report_budget;
  OwnTraffic own;
  // The sources of traffic in a class (ClassOrder): the bridged frames, and each lane.
  static constexpr std::size_t kBridgedSource = 0;
  static constexpr std::size_t source_of(LaneId lane) { return lane.index() + 1; }
  // The next sender: a class, and a source in that class.
  struct Choice {
    schedule::ClassId traffic_class = 0;
    std::size_t source = kBridgedSource;
    bool is_lane() const { return source != kBridgedSource; }
    LaneId lane() const { return LaneId(source - 1); }
    // True if no other class or source waits, and no class has a maximum.
    bool is_alone = false;
    bool is_contested = false;  // whether both bridged frames and sessions wait in the class
    bool is_only_source = false;
  };
  // The next sender on this carrier, as the current poll has chosen; nullopt if there is none.
  std::optional<Choice> choice;
  // The operator's limits, never above the configured rates.
  BitRate send_capacity;
  BitRate receive_capacity;
  LinkId id;
  bool has_peers = false;
  LinkTerms terms;  // this worker's view of the rates, for the division among workers
  // Bytes sent so far, as the link counts them: in all classes together, and in each class.
  std::uint64_t sent = 0;
  std::array<std::uint64_t, schedule::kClasses> sent_of{};

 private:
  // Whether the modem's rate is known. False while `in_force_` is only an upper limit, since no
  // controller has found the rate yet.
  bool is_found_;
  unsigned workers_;  // number of the gateway's workers
  BitRate configured_reports_;
  BitRate in_force_;
  BitRate rate_;
  TakenShare share_;
};

}  // namespace satrelay::gateway
