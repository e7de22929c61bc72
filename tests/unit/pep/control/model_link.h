// Runs a controller against a link that is plain arithmetic. Packets of 1500 bytes leave at the
// controller's rate and within its window. The link has a tail-drop queue, a delay, random loss and
// periodic reports. There is no session and no recovery, so a test takes milliseconds of computing.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "pep/base/random.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control::test {

struct ModelLink {
  BitRate rate = BitRate::bits_per_second(10'000'000);
  Duration delay = Duration::milliseconds(275);  // one way
  Duration jitter;                               // uniform; the order is kept
  double loss = 0;
  ByteCount queue = ByteCount(125'000);  // 100 ms at 10 Mbit/s
  Duration report_interval = Duration::milliseconds(25);
  double lost_reports = 0;
  bool cut = false;  // everything is lost
};

class Model {
 public:
  static constexpr std::uint64_t kPacket = 1500;
  Model(RateController& controller, const ModelLink& model, std::uint64_t seed = 1)
      : link(model), controller_(controller), random_(seed) {
    controller_.on_start({link.delay * 2, ByteCount(kPacket), now_});
  }

  ModelLink link;  // may be changed between runs
  bool sending = true;
  // Changes a sample before the controller sees it.
  std::function<void(FeedbackSample&)> amend = [](FeedbackSample&) {};

  void run(Duration time) {
    for (const Instant end = now_ + time; now_ < end; now_ += kStep) {
      send();
      if (now_ >= next_report_) make_report();
      if (now_ >= asked_at_) answer();
      while (!reports_.empty() && reports_.front().due <= now_) {
        deliver(reports_.front());
        reports_.erase(reports_.begin());
      }
    }
  }
  // The delay of the link's queue now.
  Duration queue() const { return busy_ > now_ ? busy_ - now_ : Duration::zero(); }
  // The bytes that arrived since the last call, as a share of the link's rate.
  double share() {
    const std::uint64_t bytes = arrived_bytes();
    const double result = static_cast<double>(bytes - counted_) * 8 /
                          static_cast<double>(link.rate.to_bits_per_second()) /
                          (now_ - counted_at_).to_seconds();
    counted_ = bytes;
    counted_at_ = now_;
    return result;
  }
  Instant now() const { return now_; }

 private:
  static constexpr Duration kStep = Duration::milliseconds(1);
  struct Packet {
    Instant sent;
    Instant arrives = Instant::never();
    bool low = false;
    bool settled = false;
  };
  struct Report {
    Instant due;
    Instant made;
  };

  void send() {
    budget_ +=
        static_cast<double>(controller_.rate().to_bits_per_second()) / 8 * kStep.to_seconds();
    budget_ = sending ? std::min(budget_, 20.0 * kPacket) : 0;
    while (budget_ >= kPacket && ByteCount(in_flight_) < controller_.window()) {
      if (now_ < controller_.holds_until()) budget_ = 0;
      if (budget_ < kPacket) break;
      budget_ -= kPacket;
      Packet packet;
      packet.sent = now_;
      packet.low = is_low(controller_.on_sent(Purpose::kNewData, ByteCount(kPacket), now_));
      in_flight_ += kPacket;
      const Duration time = link.rate.time_for(ByteCount(kPacket));
      const Instant departs = later(busy_, now_) + time;
      if (departs - now_ <= link.rate.time_for(link.queue) + time) {
        busy_ = departs;
        Instant arrives = departs + link.delay;
        if (link.jitter > Duration::zero()) {
          arrives += Duration::nanoseconds(static_cast<std::int64_t>(
              random_.below(static_cast<std::uint64_t>(link.jitter.to_nanoseconds()))));
        }
        last_arrival_ = later(last_arrival_, arrives);
        if (!link.cut && !random_.chance(link.loss)) packet.arrives = last_arrival_;
      }
      if (controller_.take_question()) asked_at_ = departs + link.delay;
      packets_.push_back(packet);
    }
  }
  void make_report() {
    next_report_ = now_ + link.report_interval;
    report();
  }
  // A PING behind a packet asks for a report now.
  void answer() {
    asked_at_ = Instant::never();
    report();
  }
  void report() {
    if (link.cut || random_.chance(link.lost_reports)) return;
    reports_.push_back({now_ + link.delay, now_});
  }
  void deliver(const Report& report) {
    while (highest_end_ < packets_.size()) {
      // The next packet that has arrived. Lost packets before it are skipped.
      std::size_t next = highest_end_;
      while (next < packets_.size() && packets_[next].arrives.is_never()) ++next;
      if (next == packets_.size() || packets_[next].arrives > report.made) break;
      highest_end_ = next + 1;
    }
    if (highest_end_ == 0) return;
    FeedbackSample sample;
    for (std::size_t i = first_; i < highest_end_; ++i) {
      Packet& packet = packets_[i];
      if (packet.settled) continue;
      const bool came = packet.arrives <= report.made;
      if (!came && i + 3 >= highest_end_) continue;
      packet.settled = true;
      in_flight_ -= kPacket;
      if (came) {
        received_ += kPacket;
        ++sample.packets_delivered;
        sample.newly_delivered += ByteCount(kPacket);
      } else {
        ++sample.packets_lost;
        if (packet.low) ++sample.low_priority_packets_lost;
      }
    }
    while (first_ < highest_end_ && packets_[first_].settled) ++first_;
    const Packet& newest = packets_[highest_end_ - 1];
    sample.in_flight = ByteCount(in_flight_);
    sample.rtt = newest.arrives - newest.sent + link.delay;
    sample.interval = now_ - last_report_;
    sample.sent = newest.sent;
    sample.number = highest_end_ - 1;
    sample.booked = ByteCount(kPacket);
    sample.arrived = newest.arrives + Duration::seconds(1000);  // the receiver has another clock
    sample.received = ByteCount(received_);
    sample.now = now_;
    last_report_ = now_;
    amend(sample);
    controller_.on_feedback(sample);
  }
  std::uint64_t arrived_bytes() {
    while (arrived_index_ < packets_.size() && packets_[arrived_index_].sent < now_ - kSettle) {
      if (!packets_[arrived_index_].arrives.is_never()) arrived_ += kPacket;
      ++arrived_index_;
    }
    return arrived_;
  }
  static constexpr Duration kSettle = Duration::zero();

  RateController& controller_;
  Random random_;
  Instant now_ = Instant() + Duration::seconds(1);
  std::vector<Packet> packets_;
  std::vector<Report> reports_;
  Instant busy_, last_arrival_, next_report_, last_report_;
  Instant asked_at_ = Instant::never();
  double budget_ = 0;
  std::uint64_t in_flight_ = 0, received_ = 0, arrived_ = 0, counted_ = 0;
  Instant counted_at_ = now_;
  std::size_t first_ = 0, highest_end_ = 0, arrived_index_ = 0;
};

}  // namespace satrelay::control::test
