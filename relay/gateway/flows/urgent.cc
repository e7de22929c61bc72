#include "relay/gateway/flows/urgent.h"

#include <limits>

namespace satrelay::gateway {
namespace {

// No window is larger than 1 GiB (RFC 7323 section 2.3), and no gateway stores so much of one flow.
constexpr std::uint64_t kMostAhead = std::numeric_limits<std::uint32_t>::max();

}  // namespace

bool note_urgent(Flow& f, std::uint64_t mark, std::uint64_t end, tcp::Counters& counters) {
  using Added = tcp::UrgentMarks::Added;
  auto& urgent = f.make_rare().urgent;
  if (!urgent) urgent = std::make_unique<HostUrgency>();
  urgent->marks.pass(f.endpoint.received().consumed());
  const Added added = urgent->marks.add(mark, end);
  if (added == Added::kMark || added == Added::kMerged) ++counters.urgent_marks_in;
  if (added == Added::kMerged) ++counters.urgent_marks_merged;
  return added != Added::kNothing;
}

std::uint64_t next_mark(const Flow& f, const stp::Session& session) {
  const HostUrgency* const urgent = f.rare().urgent.get();
  if (urgent == nullptr || !session.urgent_marks()) return 0;
  return urgent->marks.after(f.endpoint.received().consumed());
}

stp::UrgentNotice urgent_notice(const Flow& f, const stp::Session& session) {
  HostUrgency* const urgent = f.rare().urgent.get();
  if (urgent == nullptr || !session.urgent_marks()) return {};
  urgent->marks.pass(f.endpoint.received().consumed());
  if (const std::uint64_t mark = urgent->marks.after(0); mark > 0) {
    urgent->told = {urgent->marks.passed(), mark};
  }
  return urgent->told;
}

void show_far_urgent(Flow& f, tcp::Counters& counters) {
  const stp::UrgentNotice notice = f.rare().far_urgent;
  if (notice.mark <= f.bytes_to_lan || notice.after > f.bytes_to_lan) return;
  if (notice.mark - f.bytes_to_lan > kMostAhead) {
    ++counters.urgent_marks_refused;
    f.make_rare().far_urgent = {};
    return;
  }
  f.endpoint.mark_urgent(notice.mark);
}

}  // namespace satrelay::gateway
