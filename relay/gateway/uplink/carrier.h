// A satellite carrier: its pacer, and the order of what it carries. Peers may share one, and
// bridged frames are debited to it.
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
#include "pep/stp/packets/report_budget.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/uplink/class_order.h"
#include "relay/gateway/uplink/held_frames.h"
#include "relay/gateway/uplink/link_way.h"
#include "relay/gateway/uplink/own_traffic.h"

namespace satrelay::gateway {

// Whatever is announced, a link that may be configured stays usable.
inline constexpr BitRate kLeastCapacity = BitRate::bits_per_second(1'000);

struct Carrier {
  // `sources`: of what it carries, see ClassOrder. `most_hosts`: that may wait for it. `reports`:
  // what those of all sessions may take of it together; zero: config::kReportPercent.
  // `workers`: that share it.
  Carrier(const config::Link& link, std::size_t sources, std::size_t most_hosts,
          BitRate reports = {}, unsigned workers = 1);
  BitRate& capacity(LinkWay way) {
    return way == LinkWay::kSend ? send_capacity : receive_capacity;
  }
  BitRate configured(LinkWay way) const {
    return way == LinkWay::kSend ? config.send_rate : config.receive_rate;
  }

  // As the operator says, if that is below what is configured; else zero.
  BitRate commanded(LinkWay way) const {
    const BitRate capacity = way == LinkWay::kSend ? send_capacity : receive_capacity;
    return capacity == configured(way) ? BitRate() : capacity;
  }

  // The modem carries another rate from now on. `found`: that is no mere ceiling.
  void set_rate(BitRate rate, bool found, Instant now);
  // What one of several workers has of it, from now on: all that is sized for the link stays so.
  void take_share(const LinkShare& share, Instant now);
  // That share is at least twice the one before: who waits for the pacer may send earlier.
  bool share_has_risen() const { return share_has_risen_; }
  // When the share expires; never() if there is none, or it has expired.
  Instant share_until() const { return share_until_; }
  void fall_back(Instant now);
  bool has_fallen_back() const { return is_shared_ && share_until_.is_never(); }
  std::uint64_t share_serial() const { return share_serial_; }
  BitRate in_force() const { return in_force_; }  // of the link
  BitRate rate() const { return rate_; }          // of it, that is paced
  BitRate report_rate() const;                    // of it, for reports
  // How long bridged frames of a class may wait.
  HeldFrames::Terms held_terms(schedule::ClassId traffic_class) const;

  config::Link config;
  control::Pacer pacer;
  ClassOrder classes;
  schedule::HostShares host_shares;
  stp::ReportBudget report_budget;
  OwnTraffic own;
  // Who sends next: a class, and of its sources the bridged frames (0) or the peer before `source`.
  struct Choice {
    schedule::ClassId traffic_class = 0;
    std::size_t source = 0;
    bool is_alone = false;      // nothing else waits, and nothing is withheld
    bool is_contested = false;  // both bridged frames and sessions wait in the class
    bool is_only_source = false;
  };
  std::optional<Choice> choice;  // of the poll that goes on
  // As the operator says; never above what is configured.
  BitRate send_capacity;
  BitRate receive_capacity;
  std::size_t index = 0;  // of the link
  bool has_peers = false;
  LinkTerms terms;  // for those who divide it
  // As the link counts them.
  std::uint64_t sent = 0;
  std::array<std::uint64_t, schedule::kClasses> sent_of{};

 private:
  bool is_found_;     // what the modem carries is known, or was found
  unsigned workers_;  // of the gateway
  BitRate configured_reports_;
  BitRate in_force_;
  BitRate rate_;
  bool is_shared_ = false;
  bool share_has_risen_ = false;
  Instant share_until_ = Instant::never();
  std::uint32_t fallback_ = 0;  // of kWholeLink
  std::uint64_t share_serial_ = 0;
};

}  // namespace satrelay::gateway
