#include "pep/tcp/endpoint.h"

#include <utility>

#include "pep/tcp/memory_reserve.h"

namespace satrelay::tcp {
namespace {

// Counters and settings of an endpoint that shares them with no other endpoint.
struct Own {
  Own(const Config& config, Arena& arena)
      : common{static_cast<const Profile&>(config), counters, arena} {}
  Counters counters;
  Common common;
};

Environment environment(const Config& config, Arena& arena, Endpoint::Shared shared) {
  std::shared_ptr<const Common> common = std::move(shared.common);
  if (!common && shared.counters != nullptr) {
    common = std::make_shared<const Common>(
        Common{static_cast<const Profile&>(config), *shared.counters, arena});
  } else if (!common) {
    const auto own = std::make_shared<Own>(config, arena);
    common = {own, &own->common};
  }
  return {.common = std::move(common),
          .mss = config.mss,
          .reserve_blocks = static_cast<std::uint32_t>(reserve_blocks(arena, config.mss))};
}

}  // namespace

Endpoint::Endpoint(const Config& config, Arena& arena, Shared shared)
    : tcb_(config, environment(config, arena, std::move(shared))) {}

void Endpoint::handle_timeout(Instant now) {
  Timers& timers = tcb_.timers();
  if (timers.expire(Timer::kDelayedAck, now)) tcb_.receiver.acks().owe_now();
  if (!is_synchronised()) {
    if (timers.expire(Timer::kRetransmission, now)) handle_syn_timeout(tcb_, now);
  } else if (tcb_.sender.handle_timeout(tcb_.around, now) == TimeoutOutcome::kGivesUp) {
    give_up(tcb_);
  }
  if (timers.expire(Timer::kKeepAlive, now)) handle_keep_alive_timeout(tcb_, now);
  if (timers.expire(Timer::kClose, now)) handle_close_timeout(tcb_, now);
}

std::size_t Endpoint::write(ConstBytes bytes) {
  return tcb_.lifecycle.is_over() ? 0 : tcb_.sender.write(bytes, tcb_.around);
}

UrgentMarks::Added Endpoint::mark_urgent(std::uint64_t mark) {
  if (tcb_.lifecycle.is_over()) return UrgentMarks::Added::kNothing;
  return tcb_.sender.mark_urgent(mark, tcb_.counters());
}

void Endpoint::copy_payload(std::uint64_t offset, MutableBytes out) const {
  if (!out.empty()) tcb_.sender.queue().copy_out(offset, out);
}

bool Endpoint::admits_new_incarnation(const wire::TcpHeader& syn) const {
  return state() == State::kTimeWait && tcp::admits_new_incarnation(numbers(tcb_), syn);
}

}  // namespace satrelay::tcp
