#include "pep/stp/recovery/recovery.h"

#include <algorithm>

namespace satrelay::stp {

// Processes each packet that the loss detector has found to be acknowledged or lost.
struct Recovery::Settler {
  const Job& job;
  ItemFates items;
  std::uint64_t delivered = 0;     // number of packets
  std::uint64_t lost_packets = 0;  // packets lost on the path or at the peer's port
  std::uint64_t lost_at_peer = 0;  // packets of lost_packets that the peer's port dropped
  std::uint64_t moved;      // the part of LossDetector::moved() that is already counted as work
  bool must_go_on = false;  // continue even if this call has done enough

  explicit Settler(const Recovery& recovery)
      : job(recovery.job_), items(recovery.items()), moved(job.path.losses.moved()) {}

  // Counts the visit of one run, and the cost of changes of the detector's sets, as work. The sets
  // change at most once between two calls of looks() or lost().
  void looks() {
    job.work.add();
    items.count_moved(moved, job.path.losses.moved());
  }
  bool goes_on() const { return must_go_on || job.work.total() < job.enough; }

  void acknowledged(std::uint64_t number) {
    job.work.add();
    const SentPacket* packet = job.ledger.find(number);
    if (packet == nullptr) return;
    ++delivered;
    job.path.mtu.on_acknowledged(number, packet->bytes, job.now);
    job.path.gate.on_delivered(*packet);
    if (packet->eliciting) job.path.probes.on_settled();
    items.on_acknowledged(*packet);
    job.ledger.settle(number);
  }
  void lost(std::uint64_t number) {
    items.end_run();
    looks();
    const SentPacket* packet = job.ledger.find(number);
    if (packet == nullptr) return;
    blame(number, *packet);
    if (job.path.mtu.take_verdict() == PathMtu::Verdict::kBlackHole) {
      ++job.counters.mtu_black_holes;
      if (job.fec != nullptr) job.fec->forget_runs_below(job.ledger.next());
    }
    if (packet->eliciting) job.path.probes.on_settled();
    items.on_lost(*packet);
    job.ledger.settle(number);
  }
  bool is_covered(std::uint64_t number) {
    job.work.add();
    const SentPacket* packet = job.ledger.find(number);
    if (packet == nullptr || !packet->covered) return false;
    return job.fec->is_repairable(packet->prompt ? FecCode::kPrompt : FecCode::kFlight, number);
  }
  void spurious(std::uint64_t number) {
    job.work.add();
    ++job.counters.spurious_losses;
    if (const SentPacket* packet = job.ledger.find(number)) {
      job.path.gate.on_delivered_late(*packet);
      items.on_acknowledged(*packet);
    }
  }

 private:
  // A lost probe of the path MTU, or a packet that was lost in an outage, says nothing about the
  // current link.
  void blame(std::uint64_t number, const SentPacket& packet) {
    Path& path = job.path;
    if (path.mtu.on_lost(number, packet.bytes, job.now)) {
      ++job.counters.mtu_probes_lost;
      path.gate.on_gone(packet);
    } else if (number < path.outage_end) {
      ++job.counters.packets_lost;
      path.gate.on_gone(packet);
    } else {
      const bool at_peer = path.peer_reception.on_lost(job.now);
      ++lost_packets;
      if (at_peer) {
        ++lost_at_peer;
      } else {
        path.mtu.on_counted(number, packet.bytes);
      }
      path.gate.on_lost(packet, at_peer);
    }
  }
};

bool Recovery::handle_report(const FeedbackFrame& report, Duration waited) {
  // A peer cannot have received more than we have sent.
  if (report.highest >= job_.ledger.next() || report.repaired > job_.ledger.next() ||
      report.bytes_received > job_.counters.bytes_out) {
    return false;
  }
  ++job_.counters.feedback_in;
  PendingReport pending = job_.path.begin_report(report, job_.ledger, job_.now);
  if (const SentPacket* newest = job_.ledger.find(report.highest)) {
    pending.lateness = waited + job_.late_sendings.lateness(newest->sent);
  }
  if (job_.fec != nullptr) job_.fec->note_runs(report);
  ReportBacklog& reports = job_.path.reports;
  if (reports.empty() && work_off(pending)) return true;
  if (!reports.push(pending)) ++job_.counters.feedback_dropped;
  return true;
}

void Recovery::handle_reception(const ReceptionFrame& frame) {
  const std::uint64_t late = job_.path.peer_reception.on_told(frame.missed, job_.now);
  if (late == 0) return;
  job_.counters.packets_lost_at_peer += late;
  job_.path.loss_rate.on_excused(late);
  if (job_.fec != nullptr) job_.fec->policy.on_excused(late);
  job_.path.gate.on_excused(late);
}

void Recovery::work_off_reports() {
  ReportBacklog& reports = job_.path.reports;
  while (!reports.empty() && work_off(reports.front())) reports.pop();
}

// Applies the report until it is finished, or until this call has done enough. Returns true if it
// is finished.
bool Recovery::work_off(PendingReport& pending) {
  const FeedbackFrame& report = pending.report;
  {
    Settler settler(*this);
    pending.from =
        job_.path.losses.handle_report(report, pending.from, loss_rule(report), job_.now, settler);
    pending.delivered += settler.delivered;
    count_losses(settler);
  }
  if (pending.from != LossDetector::kWhole) return false;
  const std::uint64_t repaired = job_.fec != nullptr ? job_.fec->note_repaired(report.repaired) : 0;
  job_.path.end_report(pending, repaired, job_.ledger, job_.now);
  if (job_.fec != nullptr) {
    job_.fec->policy.on_report(pending.delivered - std::min(repaired, pending.delivered), repaired);
  }
  return true;
}

LossDetector::Rule Recovery::loss_rule(const FeedbackFrame& report) {
  LossDetector::Rule rule = job_.path.loss_rule(report, job_.ledger);
  if (job_.fec == nullptr) return rule;
  // Repairs may have been in flight when the report was written. The packets that these repairs
  // cover are in `rule.repairable`, and do not count as lost yet.
  if (const SentPacket* newest = job_.ledger.find(report.highest)) {
    const Duration delay = report_time(report.delay_us);
    rule.repairable = job_.fec->repairable(newest->sent + delay - job_.path.tolerance.time());
  }
  return rule;
}

void Recovery::run_timer() {
  Settler settler(*this);
  job_.path.losses.handle_timeout(job_.now, settler);
  count_losses(settler);
}

void Recovery::probe_tail() {
  constexpr std::uint64_t kSearch = 64;
  const LossDetector& losses = job_.path.losses;
  const std::uint64_t oldest = losses.oldest_unresolved();
  for (std::uint64_t n = job_.ledger.next(); n > oldest && job_.ledger.next() - n < kSearch; --n) {
    const SentPacket* packet = job_.ledger.find(n - 1);
    if (packet == nullptr) return;
    if (packet->item_count == 0 || !losses.is_unresolved(n - 1)) continue;
    ItemFates(items()).repeat(*packet);
    job_.path.probes.allow_data();
    return;
  }
}

void Recovery::make_room() {
  Settler settler(*this);
  settler.must_go_on = true;
  LossDetector& losses = job_.path.losses;
  losses.abandon_below(losses.oldest_unresolved() + 1, settler);
  count_losses(settler);
}

void Recovery::count_losses(const Settler& settler) {
  const std::uint64_t at_peer = settler.lost_at_peer;
  job_.counters.packets_lost += settler.lost_packets;
  job_.counters.packets_lost_at_peer += at_peer;
  const std::uint64_t too_large = job_.path.count_losses(settler.lost_packets, at_peer);
  if (job_.fec == nullptr) return;
  job_.fec->policy.on_report(at_peer, settler.lost_packets - at_peer);
  job_.fec->policy.on_excused(too_large);
}

}  // namespace satrelay::stp
