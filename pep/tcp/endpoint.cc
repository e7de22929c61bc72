#include "pep/tcp/endpoint.h"

#include <algorithm>
#include <utility>

#include "pep/base/check.h"
#include "pep/tcp/memory_reserve.h"

namespace satrelay::tcp {

const char* to_string(State state) {
  switch (state) {
    case State::kClosed:
      return "closed";
    case State::kSynSent:
      return "syn_sent";
    case State::kSynReceived:
      return "syn_received";
    case State::kEstablished:
      return "established";
    case State::kFinWait1:
      return "fin_wait_1";
    case State::kFinWait2:
      return "fin_wait_2";
    case State::kCloseWait:
      return "close_wait";
    case State::kClosing:
      return "closing";
    case State::kLastAck:
      return "last_ack";
    case State::kTimeWait:
      return "time_wait";
  }
  return "unknown";
}

namespace {

// Counters and settings of an endpoint that shares nothing.
struct Own {
  Own(const Config& config, Arena& arena)
      : common{static_cast<const Profile&>(config), counters, arena} {}
  Counters counters;
  Common common;
};

}  // namespace

Environment Endpoint::environment(const Config& config, Arena& arena, Shared shared) {
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

Endpoint::Endpoint(const Config& config, Arena& arena, Shared shared)
    : around_(environment(config, arena, std::move(shared))),
      sender_(*around_.common),
      receiver_(config, around_.arena()),
      timestamps_(config.timestamp_offset),
      send_space_(config.initial_sequence) {}

namespace {

//              accept()            connect()
//   CLOSED ---------> SYN-RECEIVED <--------- SYN-SENT <--- CLOSED
//                          |      peer's SYN     |
//                 its ACK  v                     | SYN-ACK
//                     ESTABLISHED <--------------+
//            close()   |       |   peer's FIN
//                      v       v
//      FIN-WAIT-1 <----+       +----> CLOSE-WAIT
//       |   |   peer's FIN                 | close()
//   ACK |   +----------> CLOSING           v
//       v                   |           LAST-ACK
//   FIN-WAIT-2              | ACK          | ACK
//       | peer's FIN        v              v
//       +-------------> TIME-WAIT -----> CLOSED
//
// Any state goes to CLOSED by a reset, a timeout or abort(). close() before the handshake is
// complete takes effect when it is. LAST-ACK leads to TIME-WAIT if the ACK of the peer's FIN was
// held.
bool is_transition(State from, State to) {
  if (to == State::kClosed) return true;
  switch (from) {
    case State::kClosed:
      return to == State::kSynSent || to == State::kSynReceived;
    case State::kSynSent:
      return to == State::kSynReceived || to == State::kEstablished;
    case State::kSynReceived:
      return to == State::kEstablished;
    case State::kEstablished:
      return to == State::kFinWait1 || to == State::kCloseWait;
    case State::kFinWait1:
      return to == State::kFinWait2 || to == State::kClosing;
    case State::kFinWait2:
      return to == State::kTimeWait;
    case State::kCloseWait:
      return to == State::kLastAck;
    case State::kClosing:
    case State::kLastAck:  // the ACK of the peer's FIN was held for longer
      return to == State::kTimeWait;
    case State::kTimeWait:
      return false;
  }
  return false;
}

}  // namespace

void Endpoint::set_state(State next) {
  SATRELAY_CHECK(is_transition(state_, next));
  state_ = next;
  if (trace_size_ < trace_.size()) trace_[trace_size_++] = next;
}

void Endpoint::accept(const wire::TcpHeader& syn, Instant now, Answer when) {
  SATRELAY_CHECK(trace_size_ == 0);
  offer_ = answer_to(syn.options, announced());
  negotiate_with(syn);
  ecn_.on_syn(syn, profile().ecn);
  set_state(State::kSynReceived);
  syn_held_ = true;
  if (when == Answer::kLater) return;
  answer(now);
  if (when == Answer::kAtOnce) return;
  make_syn(now);
  syn_owed_ = false;
  syn_sent_at_ = Instant::never();  // the time of sending is unknown
}

void Endpoint::answer(Instant now) {
  if (!syn_held_) return;
  syn_held_ = false;
  syn_owed_ = true;
  timers().arm(Timer::kRetransmission, now + sender_.recovery().rtt().rto());
}

void Endpoint::connect(const wire::TcpOptions& offer, Instant now, EcnOffer ecn) {
  SATRELAY_CHECK(trace_size_ == 0);
  if (profile().ecn && ecn == EcnOffer::kYes) ecn_.offer();
  opened_actively_ = true;
  offer_ = offer_like(offer, announced());
  set_state(State::kSynSent);
  syn_owed_ = true;
  timers().arm(Timer::kRetransmission, now + sender_.recovery().rtt().rto());
}

void Endpoint::negotiate_with(const wire::TcpHeader& syn) {
  peer_scales_windows_ = syn.options.window_scale.has_value();
  receive_space_ = SequenceSpace(syn.sequence);
  negotiation_ = negotiate(offer_, syn.options, announced());
  if (negotiation_.timestamps) timestamps_.set_recent(syn.options.timestamps->value);
}

void Endpoint::establish(std::uint64_t peer_window, Instant now) {
  timers().cancel(Timer::kRetransmission);
  syn_owed_ = false;
  receiver_.window().set_scale(negotiation_.receive_scale);
  sender_.establish({negotiation_.segment_size(), peer_window, negotiation_.selective}, profile());
  if (syn_retries_ > 0) {
    sender_.recovery().rtt().distrust_initial(rto_limits(profile()));
  } else if (!syn_sent_at_.is_never()) {
    sender_.recovery().rtt().sample(now - syn_sent_at_, rto_limits(profile()));
  }
  set_state(State::kEstablished);
  if (sender_.close_called()) set_state(State::kFinWait1);
}

void Endpoint::handle_timeout(Instant now) {
  if (timers().expire(Timer::kDelayedAck, now)) receiver_.acks().owe_now();
  if (!is_synchronised()) {
    if (timers().expire(Timer::kRetransmission, now)) handle_syn_timeout(now);
  } else if (sender_.handle_timeout(around_, now) == TimeoutOutcome::kGivesUp) {
    send_reset();
    fail(CloseReason::kTimeout);
  }
  if (timers().expire(Timer::kKeepAlive, now)) {
    if (const Duration wait = keep_alive_.on_timeout(); wait > Duration::zero()) {
      timers().arm(Timer::kKeepAlive, now + wait);
    } else {
      send_reset();
      fail(CloseReason::kTimeout);
    }
  }
  if (timers().expire(Timer::kClose, now)) {
    if (state_ == State::kTimeWait && receiver_.holds_fin()) {
      timers().arm(Timer::kClose, now + profile().time_wait);
    } else if (state_ == State::kTimeWait) {
      fail(CloseReason::kNone);
    } else {
      send_reset();
      fail(CloseReason::kTimeout);
    }
  }
}

void Endpoint::handle_syn_timeout(Instant now) {
  if (syn_retries_ >= (opened_actively_ ? profile().syn_retries : profile().syn_ack_retries)) {
    fail(path_error_heard_ ? CloseReason::kUnreachable : CloseReason::kTimeout);
    return;
  }
  ++syn_retries_;
  ++around_.counters().retransmission_timeouts;
  sender_.recovery().rtt().back_off(rto_limits(profile()));
  syn_owed_ = true;
  timers().arm(Timer::kRetransmission, now + sender_.recovery().rtt().rto());
}

std::size_t Endpoint::write(ConstBytes bytes) {
  if (is_over()) return 0;
  return sender_.write(bytes, around_);
}

UrgentMarks::Added Endpoint::mark_urgent(std::uint64_t mark) {
  if (is_over()) return UrgentMarks::Added::kNothing;
  return sender_.mark_urgent(mark, around_.counters());
}

void Endpoint::close() {
  if (is_over() || sender_.close_called()) return;
  sender_.close();
  if (state_ == State::kEstablished) set_state(State::kFinWait1);
  if (state_ == State::kCloseWait) set_state(State::kLastAck);
}

void Endpoint::abort(Instant) {
  if (state_ == State::kClosed) return;
  if (state_ != State::kSynSent) send_reset();
  fail(CloseReason::kAborted);
  receiver_.drop();
}

void Endpoint::abandon() {
  if (state_ == State::kClosed) return;
  fail(CloseReason::kAborted);
  receiver_.drop();
}

void Endpoint::consume(std::uint64_t count) { receiver_.consume(count); }

bool Endpoint::own_memory() {
  if (!sender_.own()) return false;
  if (receiver_.own()) return true;
  sender_.disown();
  return false;
}

void Endpoint::give_up_own_memory() {
  if (sender_.queue().empty()) sender_.disown();
  if (receiver_.stream().stored() == 0) receiver_.disown();
}

void Endpoint::set_receive_limit(std::uint64_t bytes) { receiver_.set_limit(bytes); }
std::uint64_t Endpoint::receive_limit() const { return receiver_.window().limit(); }

void Endpoint::send_keep_alive(Instant now) {
  if (!is_synchronised() || state_ == State::kTimeWait || keep_alive_.probing()) return;
  timers().arm(Timer::kKeepAlive, now + keep_alive_.start());
}

bool Endpoint::ask_once() {
  if (!is_synchronised() || state_ == State::kTimeWait) return false;
  keep_alive_.ask_once();
  return true;
}

void Endpoint::on_own_fin_acknowledged(Instant now) {
  if (state_ == State::kFinWait1) {
    set_state(State::kFinWait2);
    sender_.drop();  // no data is ever sent again: give back the last block
  } else if (state_ == State::kClosing) {
    enter_time_wait(now);
  } else if (state_ == State::kLastAck && !receiver_.holds_fin()) {
    last_ack_is_ours_ ? enter_time_wait(now) : fail(CloseReason::kNone);
  }
}

void Endpoint::hold_acknowledgments(std::uint64_t from, Instant now) {
  const bool held = receiver_.holds_fin();
  receiver_.hold_acknowledgments(from);
  if (held && !receiver_.holds_fin()) on_fin_released(now);
}

void Endpoint::release_fin(Instant now) {
  const bool held = receiver_.holds_fin();
  receiver_.release_fin();
  if (held && !receiver_.holds_fin()) on_fin_released(now);
}

// In LAST-ACK, our ACK of the peer's FIN is the last segment of the connection and may be lost.
// TIME-WAIT follows, so that a repeated FIN is acknowledged again.
void Endpoint::on_fin_released(Instant now) {
  last_ack_is_ours_ = state_ == State::kLastAck;
  if (state_ == State::kLastAck && sender_.fin_acknowledged()) enter_time_wait(now);
  if (state_ == State::kTimeWait) timers().arm(Timer::kClose, now + profile().time_wait);
}

void Endpoint::on_peer_fin(Instant now) {
  if (state_ == State::kEstablished) {
    set_state(State::kCloseWait);
  } else if (state_ == State::kFinWait1) {
    set_state(State::kClosing);
  } else if (state_ == State::kFinWait2) {
    enter_time_wait(now);
  }
}

void Endpoint::enter_time_wait(Instant now) {
  set_state(State::kTimeWait);
  timers().cancel_all();
  timers().arm(Timer::kClose, now + profile().time_wait);
  sender_.drop();
}

void Endpoint::arm_half_closed(Instant now) {
  timers().arm(Timer::kClose, now + profile().half_closed);
}

// Received bytes stay readable: they were acknowledged, and the owner decides what happens to them.
void Endpoint::fail(CloseReason reason) {
  set_state(State::kClosed);
  reason_ = reason;
  timers().cancel_all();
  syn_owed_ = syn_held_ = false;
  sender_.drop();
}

bool Endpoint::is_synchronised() const {
  return state_ != State::kClosed && state_ != State::kSynSent && state_ != State::kSynReceived;
}

std::uint64_t Endpoint::receive_window() const {
  const std::uint64_t told = receiver_.window().told();
  return told > receiver_.next() ? told - receiver_.next() : 0;
}

TimeWait Endpoint::numbers() const {
  return {.send_next = send_space_.to_sequence(sender_.next()),
          .receive_next = receive_space_.to_sequence(receiver_.next()),
          .recent_timestamp = timestamps_.recent(),
          .window = static_cast<std::uint16_t>(receive_window() >> negotiation_.receive_scale),
          .window_scale = negotiation_.receive_scale,
          .timestamps = negotiation_.timestamps};
}

bool Endpoint::admits_new_incarnation(const wire::TcpHeader& syn) const {
  return state_ == State::kTimeWait && tcp::admits_new_incarnation(numbers(), syn);
}

std::optional<TimeWait> Endpoint::time_wait() const {
  const bool over = state_ == State::kTimeWait && !receiver_.holds_fin();
  if (!over || reset_ || receiver_.acks().owed_now()) return std::nullopt;
  return numbers();
}

void Endpoint::image(Image& image) {
  image(around_, sender_, receiver_, last_ack_sent_, syn_sent_at_, keep_alives_, stray_answers_,
        timestamps_, send_space_, receive_space_, reset_, challenges_, negotiation_, offer_,
        keep_alive_, ecn_, state_, reason_, acceptance_, syn_retries_, question_, trace_size_,
        trace_);
  opened_actively_ = image.same(opened_actively_);
  syn_owed_ = image.same(syn_owed_);
  path_error_heard_ = image.same(path_error_heard_);
  syn_held_ = image.same(syn_held_);
  last_ack_is_ours_ = image.same(last_ack_is_ours_);
  peer_scales_windows_ = image.same(peer_scales_windows_);
  leaves_questions_ = image.same(leaves_questions_);
  if (trace_size_ > kTraceSize) image.fail();
}

}  // namespace satrelay::tcp
