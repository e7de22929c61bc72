#include "relay/sim/hosts/application.h"

#include <algorithm>
#include <array>

namespace satrelay::sim {
namespace {

constexpr std::uint64_t kSlowReadUnit = 4096;

}  // namespace

Application::Application(const Plan& plan, Outcome& outcome, Instant now)
    : plan_(plan),
      outcome_(&outcome),
      next_timeout_(Instant::never()),
      last_progress_(now),
      ask_at_(now + plan.keep_alive),
      read_allowed_(now + plan.read_pause),
      next_chunk_(now) {
  outcome_->started = true;
  outcome_->started_at = now;
  allowed_ = plan.chunk == 0 ? plan.send_bytes : 0;
}

void Application::run(tcp::Endpoint& endpoint, Instant now) {
  if (outcome_->ended) return;
  next_timeout_ = Instant::never();
  if (!outcome_->established && endpoint.is_synchronised()) {
    outcome_->established = true;
    outcome_->established_at = now;
    last_progress_ = now;
  }
  outcome_->arrived = outcome_->received + endpoint.received().readable();
  if (!is_dead()) read(endpoint, now);
  abort_if_planned(endpoint, now);
  if (!endpoint.is_closed() && !is_dead()) write(endpoint, now);
  note_acknowledged(endpoint, now);
  if (!endpoint.is_closed()) {
    // A hanging program is ended too, as by an operator, but only after all timers of a gateway
    // have expired.
    const Instant end = last_progress_ + (is_dead() ? plan_.patience * 2 : plan_.patience);
    if (now >= end) {
      outcome_->gave_up = true;
      endpoint.abort(now);
    } else {
      want(end);
    }
  }
  if (!endpoint.is_closed() && !plan_.keep_alive.is_infinite()) {
    ask_at_ = later(ask_at_, last_progress_ + plan_.keep_alive);
    if (now >= ask_at_) {
      if (plan_.forgives) {
        (void)endpoint.ask_once();
      } else {
        endpoint.send_keep_alive(now);
      }
      ask_at_ = now + plan_.keep_alive;
    }
    want(ask_at_);
  }
  note_end(endpoint, now);
  if (outcome_->ended) next_timeout_ = Instant::never();
}

void Application::note_acknowledged(const tcp::Endpoint& endpoint, Instant now) {
  const std::uint64_t acknowledged = outcome_->written - endpoint.sending().unacknowledged();
  if (acknowledged <= last_acknowledged_) return;
  last_acknowledged_ = acknowledged;
  last_progress_ = now;
  const bool early = outcome_->peer != nullptr && acknowledged > outcome_->peer->arrived;
  if (early && !endpoint.is_closed() && !outcome_->first_early_acknowledgment) {
    outcome_->first_early_acknowledgment = acknowledged;
  }
}

void Application::read(tcp::Endpoint& endpoint, Instant now) {
  while (endpoint.received().readable() > 0) {
    if (now < read_allowed_) {
      want(read_allowed_);
      return;
    }
    if (is_dead()) return;
    ConstBytes bytes = endpoint.received().front();
    if (plan_.dead_after) {
      bytes = bytes.first(
          std::min<std::uint64_t>(bytes.size(), *plan_.dead_after - outcome_->received));
    }
    if (!plan_.read_rate.is_zero()) {
      bytes = bytes.first(std::min<std::size_t>(bytes.size(), kSlowReadUnit));
      read_allowed_ = now + plan_.read_rate.time_for(ByteCount(bytes.size()));
    }
    if (!outcome_->first_wrong_byte) {
      outcome_->first_wrong_byte = plan_.expected.first_difference(outcome_->received, bytes);
    }
    if (outcome_->received == 0) outcome_->first_byte_at = now;
    outcome_->received += bytes.size();
    const Outcome* peer = outcome_->peer;
    if (peer != nullptr && outcome_->received > peer->written && !outcome_->first_early_byte) {
      outcome_->first_early_byte = outcome_->received;
    }
    last_progress_ = now;
    if (plan_.record_arrivals) outcome_->arrivals.push_back({now, outcome_->received});
    endpoint.consume(bytes.size());
  }
  if (!outcome_->saw_end && endpoint.receiving().has_finished() &&
      endpoint.received().readable() == 0) {
    outcome_->saw_end = true;
    outcome_->end_came_early = outcome_->peer != nullptr && !outcome_->peer->closed;
    outcome_->saw_end_at = now;
    last_progress_ = now;
  }
}

void Application::abort_if_planned(tcp::Endpoint& endpoint, Instant now) {
  if (endpoint.is_closed()) return;
  bool due = plan_.finish == Finish::kAbortWhenReceived && outcome_->received >= plan_.abort_at;
  // A RST drops unacknowledged bytes, so kAbortWhenSent waits until all bytes are acknowledged.
  due = due || (plan_.finish == Finish::kAbortWhenSent && endpoint.is_synchronised() &&
                outcome_->written == plan_.send_bytes && endpoint.sending().unacknowledged() == 0);
  if (!plan_.abort_after.is_infinite()) {
    const Instant when = outcome_->started_at + plan_.abort_after;
    due = due || now >= when;
    want(when);
  }
  if (!due) return;
  outcome_->aborted = true;
  endpoint.abort(now);
}

void Application::write(tcp::Endpoint& endpoint, Instant now) {
  if (outcome_->closed) return;
  const bool may_send =
      outcome_->received >= plan_.send_after && (!plan_.send_after_end || outcome_->saw_end);
  if (!may_send) return;
  if (plan_.chunk != 0 && endpoint.is_synchronised()) {
    while (allowed_ < plan_.send_bytes && next_chunk_ <= now) {
      allowed_ = std::min(plan_.send_bytes, allowed_ + plan_.chunk);
      next_chunk_ = later(next_chunk_, now) + plan_.interval;
    }
    if (allowed_ < plan_.send_bytes) want(next_chunk_);
  }
  std::array<std::byte, 16384> buffer;
  while (outcome_->written < allowed_) {
    const std::uint64_t room =
        std::min(endpoint.sending().writable(), allowed_ - outcome_->written);
    if (room == 0) break;
    const auto piece = MutableBytes(buffer).first(std::min<std::uint64_t>(room, buffer.size()));
    plan_.content.fill(outcome_->written, piece);
    const std::size_t taken = endpoint.write(piece);
    outcome_->written += taken;
    if (taken < piece.size()) {
      // The host itself is short of memory. Try again soon, as a kernel would wake a blocked
      // process.
      want(now + Duration::milliseconds(10));
      break;
    }
  }
  if (outcome_->written < plan_.send_bytes) return;
  const bool close = plan_.finish == Finish::kWhenSent ||
                     (plan_.finish == Finish::kWhenPeerFinished && outcome_->saw_end);
  if (close) {
    outcome_->closed = true;
    endpoint.close();
  }
}

void Application::note_end(const tcp::Endpoint& endpoint, Instant now) {
  outcome_->asks_nothing = endpoint.sending().unacknowledged() == 0;
  outcome_->sent_all =
      outcome_->sent_all || (outcome_->closed && endpoint.sending().has_finished());
  const bool closed = endpoint.sending().has_finished() && endpoint.receiving().has_finished();
  if (closed && outcome_->closed_at == Instant()) outcome_->closed_at = now;
  const bool clean = outcome_->saw_end && outcome_->sent_all;
  // If the endpoint is closed and nothing is left to read, the connection is over, even if the
  // program has not seen the peer's FIN. Such an end is not clean.
  const bool broken =
      endpoint.is_closed() && (endpoint.lifecycle().reason() != tcp::CloseReason::kNone ||
                               endpoint.received().readable() == 0 || is_dead());
  if (!clean && !broken) return;
  outcome_->ended = true;
  outcome_->ended_at = now;
  outcome_->reason = clean ? tcp::CloseReason::kNone : endpoint.lifecycle().reason();
}

}  // namespace satrelay::sim
