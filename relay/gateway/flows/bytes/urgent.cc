#include "relay/gateway/flows/bytes/urgent.h"

namespace satrelay::gateway {
namespace {

bool is_honest(const Flow& f, const stp::UrgentNotice& notice) {
  return notice.after < notice.mark && notice.mark <= f.bytes.to_lan + tcp::UrgentMarks::kMostAhead;
}

}  // namespace

bool note_urgent(Flow& f, std::uint64_t mark, std::uint64_t end, tcp::Counters& counters) {
  using Added = tcp::UrgentMarks::Added;
  auto& urgent = f.make_rare().urgent;
  if (!urgent) urgent = std::make_unique<UrgentState>();
  urgent->marks.pass(f.endpoint.received().consumed());
  const Added added = urgent->marks.add(mark, end);
  if (added == Added::kMark || added == Added::kMerged) ++counters.urgent_marks_in;
  if (added == Added::kMerged) ++counters.urgent_marks_merged;
  return added != Added::kNothing;
}

std::uint64_t next_mark(const Flow& f, const stp::Session& session) {
  const UrgentState* const urgent = f.rare().urgent.get();
  if (urgent == nullptr || !session.agreed().urgent_marks()) return 0;
  return urgent->marks.after(f.endpoint.received().consumed());
}

stp::UrgentNotice urgent_notice(Flow& f, const stp::Session& session) {
  if (f.rare().urgent == nullptr || !session.agreed().urgent_marks()) return {};
  UrgentState& urgent = *f.make_rare().urgent;
  urgent.marks.pass(f.endpoint.received().consumed());
  if (const std::uint64_t mark = urgent.marks.after(0); mark > 0) {
    urgent.told = {urgent.marks.passed(), mark};
  }
  return urgent.told;
}

void hear_urgent(Flow& f, const stp::UrgentNotice& notice, tcp::Counters& counters) {
  if (notice.mark == 0 || notice == f.rare().far_urgent) return;
  f.make_rare().far_urgent = notice;
  if (!is_honest(f, notice)) ++counters.urgent_marks_refused;
}

void show_far_urgent(Flow& f) {
  const stp::UrgentNotice notice = f.rare().far_urgent;
  if (!is_honest(f, notice)) return;
  if (notice.after <= f.bytes.to_lan) {
    f.endpoint.mark_urgent(notice.mark);
  } else if (!f.endpoint.sending().is_urgent()) {
    // The host has not got the bytes up to the earlier mark `after`. A newer CONFIRM has replaced
    // the CONFIRM that carried `after`, and the block with `after` is stuck in the stream. So show
    // `after` first. If there is a third mark before `after`, the octet of the third mark becomes
    // an ordinary octet, as in TCP itself.
    f.endpoint.mark_urgent(notice.after);
  }
}

}  // namespace satrelay::gateway
