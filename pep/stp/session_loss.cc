#include <algorithm>
#include <utility>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

namespace {

// The number of reports that each packet must stand in, so that it goes unreported with a chance of
// at most 1e-5. From 3 to kMaxRepeats.
int repeats_for(double loss) {
  int repeats = 1;
  for (double residual = loss; residual > 1e-5 && repeats < int{ReceivedPackets::kMaxRepeats};
       ++repeats) {
    residual *= loss;
  }
  return std::max(repeats, 3);
}

}  // namespace

// Applies the fate of packets to the streams.
struct Session::Impl::Settler {
  Impl& s;
  std::uint64_t delivered_packets = 0;
  std::uint64_t lost_packets = 0;
  std::uint64_t lost_at_peer = 0;  // those of them that were lost at the peer's port
  // Moves in the detector's sets that were counted.
  std::uint64_t moved = s.path().losses.moved();
  bool must_go_on = false;  // whatever this call has settled already

  // So many searches and shifts of small entries take as long as one packet.
  static constexpr std::uint64_t kRangesPerObject = 64;
  void count_moved(std::uint64_t& counted, std::uint64_t now) {
    const std::uint64_t objects = (now - counted) / kRangesPerObject;
    s.work.add(objects);
    counted += objects * kRangesPerObject;
  }
  // Consecutive packets mostly carry bytes of one stream, in order. All these bytes are settled in
  // one call: when other bytes follow, when something was lost, or when the settler is destroyed.
  struct Run {
    Stream* stream = nullptr;
    std::uint64_t begin = 0, end = 0;
  };
  Run run = {};
  ~Settler() { end_run(); }
  void end_run() {
    if (run.stream == nullptr) return;
    Stream& stream = *std::exchange(run.stream, nullptr);
    settle_bytes(stream, run.begin, run.end - run.begin, false);
  }
  void settle_bytes(Stream& stream, std::uint64_t offset, std::uint64_t length, bool fin) {
    std::uint64_t shifted = stream.send.moved();
    stream.send.on_acknowledged(offset, length, fin);
    count_moved(shifted, stream.send.moved());
    s.streams->on_acknowledged(stream, s.now);
  }
  // The detector's sets change only once between two calls of looks() or lost().
  void looks() {
    s.work.add();
    count_moved(moved, s.path().losses.moved());
  }
  bool goes_on() const { return must_go_on || s.work.total() < s.enough_settled; }

  void acknowledged(std::uint64_t number) {
    s.work.add();
    const SentPacket* packet = s.association->ledger.find(number);
    if (packet == nullptr) return;
    ++delivered_packets;
    s.path().mtu.on_acknowledged(number, packet->bytes, s.now);
    s.path().gate.on_delivered(*packet);
    if (packet->eliciting) s.path().probes.on_settled();
    apply_acknowledged(*packet);
    s.association->ledger.settle(number);
  }
  void lost(std::uint64_t number) {
    end_run();
    looks();
    const SentPacket* packet = s.association->ledger.find(number);
    if (packet == nullptr) return;
    if (s.path().mtu.on_lost(number, packet->bytes, s.now)) {
      ++s.counters.mtu_probes_lost;
      s.path().gate.on_gone(*packet);
    } else if (number < s.path().outage_end) {
      ++s.counters.packets_lost;
      s.path().gate.on_gone(*packet);
    } else {
      const bool at_peer = s.path().peer_reception.on_lost(s.now);
      ++lost_packets;
      if (at_peer) {
        ++lost_at_peer;
      } else {
        s.path().mtu.on_counted(number, packet->bytes);
      }
      s.path().gate.on_lost(*packet, at_peer);
    }
    if (s.path().mtu.take_verdict() == PathMtu::Verdict::kBlackHole) {
      ++s.counters.mtu_black_holes;
      if (s.fec != nullptr) s.fec->forget_runs_below(s.association->ledger.next());
    }
    if (packet->eliciting) s.path().probes.on_settled();
    s.association->ledger.for_each_item(*packet, [&](const SentItem& item) {
      repair(item, std::min(item.losses() + 1, LostRanges::kMaxLosses));
    });
    s.association->ledger.settle(number);
  }
  bool is_covered(std::uint64_t number) {
    s.work.add();
    const SentPacket* packet = s.association->ledger.find(number);
    if (packet == nullptr || !packet->covered) return false;
    return s.fec->is_repairable(packet->prompt ? FecCode::kPrompt : FecCode::kFlight, number);
  }
  void spurious(std::uint64_t number) {
    s.work.add();
    ++s.counters.spurious_losses;
    if (const SentPacket* packet = s.association->ledger.find(number)) {
      s.path().gate.on_delivered_late(*packet);
      apply_acknowledged(*packet);
    }
  }

  // Arranges that the content of the item is sent again. `times_lost`: how often it was lost.
  void repair(const SentItem& item, unsigned times_lost) {
    if (item.kind() == ItemKind::kLaneCredit) {
      s.streams->receive_credit().lane().announce_again();
      return;
    }
    if (item.kind() == ItemKind::kStartCredit) {
      s.streams->receive_credit().start().on_lost(item.offset);
      return;
    }
    if (item.kind() == ItemKind::kRate) {
      s.own_capacity.on_lost(item.offset);
      return;
    }
    Stream* stream = s.streams->present(item.stream, item.generation());
    if (stream == nullptr) return;
    s.work.add();
    const bool resetting = stream->phase == Stream::Phase::kResetting;
    switch (item.kind()) {
      case ItemKind::kReset:
        if (resetting && !stream->reset_acknowledged) {
          stream->reset_due = true;
          s.streams->due().resets.push_back(*stream);
        }
        return;
      case ItemKind::kOpen:
        if (!resetting && !stream->open_acknowledged) {
          s.streams->owe_open(*stream);
        }
        return;
      case ItemKind::kConfirm:
        if (!resetting && stream->confirmations.is_newest(item.offset)) {
          s.streams->owe_confirmation(*stream, Streams::News::kState);
        }
        return;
      case ItemKind::kStreamCredit:
        if (!resetting && !stream->receive.final_known()) s.streams->owe_credit(*stream);
        return;
      default:
        if (resetting) return;
        std::uint64_t shifted = stream->send.moved();
        stream->send.on_lost(item.offset, item.length, item.kind() == ItemKind::kDataAndFin,
                             times_lost);
        count_moved(shifted, stream->send.moved());
        s.streams->schedule().update_lost(*stream);
        if (stream->send.fin_due()) s.streams->due().fins.push_back(*stream);
    }
  }

 private:
  bool goes_on_run(const SentItem& item) {
    const Stream* stream = run.stream;
    if (stream == nullptr || item.kind() != ItemKind::kData || item.stream != stream->index ||
        item.generation() != (stream->generation & SentItem::kGenerationMask) ||
        item.offset != run.end) {
      return false;
    }
    s.work.add();
    run.end += item.length;
    return true;
  }
  void apply_acknowledged(const SentPacket& packet) {
    s.association->ledger.for_each_item(packet, [&](const SentItem& item) {
      if (item.kind() == ItemKind::kLaneCredit || item.kind() == ItemKind::kStreamCredit ||
          item.kind() == ItemKind::kRate || item.kind() == ItemKind::kStartCredit) {
        return;
      }
      if (goes_on_run(item)) return;
      end_run();
      Stream* stream = s.streams->present(item.stream, item.generation());
      if (stream == nullptr) return;
      s.work.add();
      const bool resetting = stream->phase == Stream::Phase::kResetting;
      switch (item.kind()) {
        case ItemKind::kReset:
          stream->reset_acknowledged = true;
          stream->reset_due = false;
          s.streams->due().resets.remove(*stream);
          s.streams->free_if_over(*stream);
          return;
        case ItemKind::kConfirm:
          stream->confirmations.on_acknowledged(item.offset);
          if (s.streams->visible(StreamId{stream->id}) != nullptr &&
              stream->confirmations.all_acknowledged()) {
            s.streams->notify(*stream, &Stream::Pending::confirmed);
          }
          return;
        case ItemKind::kOpen:
          s.streams->on_open_left(*stream);
          stream->open_acknowledged = true;
          stream->forget_metadata();
          return;
        default:
          if (resetting) return;
          if (item.kind() == ItemKind::kDataAndFin) {
            settle_bytes(*stream, item.offset, item.length, true);
          } else {
            run = {stream, item.offset, item.offset + item.length};
          }
      }
    });
  }
};

LossDetector::Rule Session::Impl::loss_rule(const FeedbackFrame& report) {
  const auto microseconds = [](std::uint64_t us) {
    return Duration::microseconds(
        static_cast<std::int64_t>(std::min<std::uint64_t>(us, 60'000'000)));
  };
  path().tolerance.set_lateness(std::min(microseconds(report.late_us), ArrivalOrder::kMaxLateness));
  const Duration delay = microseconds(report.delay_us);
  LossDetector::Rule rule;
  rule.uncertain = path().tolerance.first_uncertain(
      report.highest, delay, path().losses.oldest_unresolved(), association->ledger);
  rule.wait = std::max(Duration::zero(), path().tolerance.time() - delay);
  // If packets come late, the next report is more reliable than the clock.
  if (!path().tolerance.keeps_order()) rule.wait = rule.wait + path().peer_feedback_interval;
  // Repairs for these packets were on their way when the report was written. They are not lost yet.
  const SentPacket* newest = association->ledger.find(report.highest);
  if (fec != nullptr && newest != nullptr) {
    rule.repairable = fec->repairable(newest->sent + delay - path().tolerance.time());
  }
  return rule;
}

// Some packets that were counted as losses of the link may have been lost at the peer's port.
void Session::Impl::handle_reception(const ReceptionFrame& frame) {
  const std::uint64_t late = path().peer_reception.on_told(frame.missed, now);
  if (late == 0) return;
  counters.packets_lost_at_peer += late;
  path().loss_rate.on_excused(late);
  if (fec != nullptr) fec->policy.on_excused(late);
  path().gate.on_excused(late);
}

void Session::Impl::handle_report(const FeedbackFrame& report, Duration waited) {
  // No peer can have received more than was sent.
  if (report.highest >= association->ledger.next() ||
      report.repaired > association->ledger.next() || report.bytes_received > counters.bytes_out) {
    ++counters.malformed;
    return;
  }
  ++counters.feedback_in;
  protection.on_reported(report.highest);
  PendingReport pending{.report = report};
  const SentPacket* const newest = association->ledger.find(report.highest);
  if (newest != nullptr && path().losses.is_unresolved(report.highest)) {
    const auto delay_us =
        static_cast<std::int64_t>(std::min<std::uint64_t>(report.delay_us, 60'000'000));
    pending.rtt = std::max(Duration::zero(), now - newest->sent - Duration::microseconds(delay_us));
    path().rtt.on_sample(pending.rtt);
  }
  if (newest != nullptr) pending.lateness = waited + late_sendings.lateness(newest->sent);
  path().peer_feedback_interval = std::clamp(
      Duration::milliseconds(
          static_cast<std::int64_t>(std::min<std::uint64_t>(report.interval_ms, 60'000))),
      config.feedback_minimum, Duration::seconds(60));
  path().update_rtt();
  path().note_outage(association->ledger, now);
  path().probes.on_report(now);
  if (fec != nullptr) fec->note_runs(report);
  if (path().reports.empty() && work_off(pending)) return;
  if (!path().reports.push(pending)) ++counters.feedback_dropped;
}

void Session::Impl::work_off_reports() {
  while (!path().reports.empty() && work_off(path().reports.front())) path().reports.pop();
}

// Applies the report until it is done, or until this call has settled enough. True if it is done.
bool Session::Impl::work_off(PendingReport& pending) {
  const FeedbackFrame& report = pending.report;
  {
    Settler settler{*this};
    pending.from =
        path().losses.handle_report(report, pending.from, loss_rule(report), now, settler);
    pending.delivered += settler.delivered_packets;
    count_losses(settler.lost_packets, settler.lost_at_peer);
  }
  if (pending.from != LossDetector::kWhole) return false;
  path().gate.on_report(report, association->ledger.find(report.highest),
                        {pending.rtt, now - path().last_report, pending.lateness}, now);
  path().last_report = now;
  // The path has lost these packets too.
  const std::uint64_t repaired = fec != nullptr ? fec->note_repaired(report.repaired) : 0;
  path().loss_rate.on_repaired(repaired);
  if (fec != nullptr) {
    fec->policy.on_report(pending.delivered - std::min(repaired, pending.delivered), repaired);
  }
  path().loss_rate.on_delivered(pending.delivered);
  // Reports share the path with our packets. So the more packets are lost, the more often each
  // arrival is reported.
  path().feedback.set_repeats(repeats_for(path().loss_rate.ratio()));
  path().ask_for_missed_reports(report, now);
  return true;
}

void Session::Impl::run_loss_timer() {
  Settler settler{*this};
  path().losses.handle_timeout(now, settler);
  count_losses(settler.lost_packets, settler.lost_at_peer);
}

// Sends again what the newest packet in flight carried. If the tail was lost, this repairs it, and
// shows any other gap.
void Session::Impl::arm_tail_probe() {
  constexpr std::uint64_t kSearch = 64;
  Settler settler{*this};
  const std::uint64_t oldest = path().losses.oldest_unresolved();
  for (std::uint64_t n = association->ledger.next();
       n > oldest && association->ledger.next() - n < kSearch; --n) {
    const SentPacket* packet = association->ledger.find(n - 1);
    if (packet == nullptr) return;
    if (packet->item_count == 0 || !path().losses.is_unresolved(n - 1)) continue;
    association->ledger.for_each_item(
        *packet, [&](const SentItem& item) { settler.repair(item, std::max(item.losses(), 1U)); });
    path().probes.allow_data();
    return;
  }
}

// The ledger is full only if a very old packet was never reported. Its content is sent again, and
// the packet is forgotten.
void Session::Impl::make_ledger_room() {
  if (association->ledger.has_room(path().losses.oldest_unresolved())) return;
  Settler settler{*this};
  settler.must_go_on = true;
  path().losses.abandon_below(path().losses.oldest_unresolved() + 1, settler);
  count_losses(settler.lost_packets, settler.lost_at_peer);
}

// The link has carried the packets that had reached the peer.
void Session::Impl::count_losses(std::uint64_t packets, std::uint64_t at_peer) {
  counters.packets_lost += packets;
  counters.packets_lost_at_peer += at_peer;
  path().loss_rate.on_lost(packets - at_peer);
  path().loss_rate.on_delivered(at_peer);
  const std::uint64_t too_large = path().mtu.take_too_large();
  path().loss_rate.on_excused(too_large);
  if (fec != nullptr) {
    fec->policy.on_report(at_peer, packets - at_peer);
    fec->policy.on_excused(too_large);
  }
}

}  // namespace satrelay::stp
