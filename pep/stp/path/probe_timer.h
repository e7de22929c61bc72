// Detects silence: decides when to probe the path, when to hold back data, and when the peer is
// suspect (docs/stp.md section 8). It measures two times: since the last report, while packets are
// in flight, and since the last packet of any kind.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::stp {

class ProbeTimer {
 public:
  struct Config {
    Duration ping_after = Duration::seconds(1);
    Duration suspect_after = Duration::seconds(3);
  };
  // The interval of further probes on a silent path. So when the link works again, a probe is sent
  // within this time.
  static constexpr Duration kProbeInterval = Duration::milliseconds(100);

  // If the peer announces a longer feedback interval, suspect_after is calculated with this
  // interval.
  static constexpr Duration kMostInterval = Duration::seconds(2);

  static constexpr std::uint64_t kFew = 3;

  explicit ProbeTimer(const Config& config)
      : config_(config), suspect_after_(config.suspect_after) {}

  void start(Instant now) {
    last_heard_ = last_report_ = now;
    probes_ = 0;
    in_flight_ = 0;
    frozen_ = data_allowed_ = false;
    missing_since_ = Instant::never();
    reported_since_ = now;
  }
  // Sets the patience (how long to wait for a report before the path counts as silent) to 1.5 round
  // trips and two feedback intervals. If the interval is long, the patience is shorter, so that the
  // peer can answer a probe before it counts as suspect.
  void set_patience(Duration smoothed_rtt, Duration feedback_interval) {
    const Duration answer = smoothed_rtt + kProbeInterval * 2;
    patience_ = std::min(
        smoothed_rtt * 3 / 2 + feedback_interval * 2,
        std::max(least_patience(smoothed_rtt, feedback_interval), config_.suspect_after - answer));
    suspect_after_ =
        std::max(config_.suspect_after,
                 least_patience(smoothed_rtt, std::min(feedback_interval, kMostInterval)) + answer);
  }
  Duration patience() const { return patience_; }

  void on_heard(Instant now) { last_heard_ = now; }
  void on_report(Instant now) {
    go_on(now);
    if (!missing_since_.is_never()) reported_since_ = now;
    missing_since_ = Instant::never();
  }
  // Call on_sent() when a packet that asks for a report is sent. Call on_settled() when such a
  // packet is found to be acknowledged or lost.
  void on_sent(Instant now) {
    if (in_flight_++ == 0) busy_since_ = now;
    last_sent_ = now;
  }
  void on_settled() {
    if (in_flight_ > 0) --in_flight_;
  }
  std::uint64_t in_flight() const { return in_flight_; }
  // The time since which at least one packet has always been in flight. Only valid while a packet
  // is in flight.
  Instant busy_since() const { return busy_since_; }

  // Whether more than kFew packets are in flight, and no report has arrived for `time`.
  bool is_quiet_for(Duration time, Instant now) const {
    return in_flight_ > kFew && now >= last_report_ + time;
  }
  // Whether new data is held back, because a report is long overdue. In an outage the data would
  // only be lost. If only a few packets are in flight, all of them may be lost by chance. So data
  // is then held back only if a probe got no answer.
  bool frozen() const { return frozen_; }
  // Since when reports are missing, even if other packets arrive; never() if none is missing.
  Instant missing_since() const { return missing_since_; }
  // Since when reports have arrived regularly; never() if a report is missing.
  Instant reported_since() const {
    return missing_since_.is_never() ? reported_since_ : Instant::never();
  }
  bool probe_due(Instant now) const { return in_flight_ > 0 && now >= probe_at(); }
  // Returns true for the first probe of this silence, which carries data.
  bool on_probe(Instant now) {
    if (probes_ == 0) silent_from_ = in_flight_ > kFew ? silence_end() : now + patience_;
    if (now >= silent_from_) {
      frozen_ = true;
      missing_since_ = earlier(missing_since_, later(last_report_, busy_since_));
    }
    next_probe_ = now + kProbeInterval;
    return probes_++ == 0;
  }
  // Allows one packet of data although the path is silent.
  void allow_data() { data_allowed_ = true; }
  bool data_allowed() const { return data_allowed_; }
  void on_data_sent() { data_allowed_ = false; }
  // Whether nothing is in flight, and the peer was silent for so long that it should be probed.
  bool ping_due(Instant now) const { return in_flight_ == 0 && now >= ping_at(); }
  bool silent(Instant now) const { return now >= suspect_at(); }
  Instant suspect_at() const { return last_heard_ + suspect_after_; }
  Instant next_probe() const { return in_flight_ == 0 ? ping_at() : probe_at(); }

  // Whether a packet of the peer ends a complete silence. In this case the path works again, and
  // half a round trip is saved: a report about our probes arrives later. If other packets of the
  // peer have arrived all the time, and only reports were missing, a packet says nothing about the
  // direction to the peer.
  bool is_return(Instant now) const { return frozen_ && now - last_heard_ >= patience_; }
  // Data may be sent again. If no report arrives, the path counts as silent again after patience().
  void on_return(Instant now) { go_on(now); }

  // Whether the silence is an outage: the probes got no answer. If only the last packets were lost,
  // the probes would have been answered.
  bool is_outage(Duration round_trip, Instant now) const {
    return frozen_ && now >= silence_end() + round_trip + kProbeInterval * 2;
  }

 private:
  void go_on(Instant now) {
    last_report_ = now;
    probes_ = 0;
    frozen_ = false;
  }
  static Duration least_patience(Duration smoothed_rtt, Duration feedback_interval) {
    return (smoothed_rtt + feedback_interval) * 5 / 4 + kProbeInterval;
  }
  Instant silence_end() const { return later(last_report_, busy_since_) + patience_; }
  // When to probe. A probe is sent in two cases. Perhaps the last packets that we sent are lost,
  // and no later packet shows the gap. Or the whole path is silent.
  Instant probe_at() const {
    return probes_ > 0 ? next_probe_ : earlier(last_sent_ + patience_, silence_end());
  }
  Instant ping_at() const { return last_heard_ + config_.ping_after; }
  Config config_;
  Duration patience_ = Duration::seconds(1);
  Duration suspect_after_;
  Instant last_heard_;
  Instant last_report_;
  Instant last_sent_;
  Instant busy_since_;  // the time since which at least one packet has always been in flight
  Instant next_probe_;
  Instant silent_from_;  // if a probe is sent at this time or later, the path counts as silent
  Instant missing_since_ = Instant::never();
  Instant reported_since_;
  std::uint64_t in_flight_ = 0;
  int probes_ = 0;  // number of probes since the last report
  bool frozen_ = false;
  bool data_allowed_ = false;
};

}  // namespace satrelay::stp
