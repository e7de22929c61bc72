// Which HELLOs are read, and when ours leave. A HELLO costs its sender nothing, but its reader a
// multiplication on a curve. So HELLOs of strangers are found out before: by their MAC, by their
// number, and by turns that all sessions of a worker share (docs/stp.md section 16).
#include "pep/stp/session_impl.h"

namespace satrelay::stp {

void Session::Impl::handle_hello(ConstBytes datagram, const PacketHeader& header) {
  if (!SessionSeal().verify(datagram)) {
    ++counters.bad_crc;
    return;
  }
  const auto hello = parse_hello_packet(datagram, header.number);
  if (hello && is_of_interest(hello->frame) && (!key_exchange || admit(*hello))) hear_hello(*hello);
}

std::optional<Session::Impl::ReceivedHello> Session::Impl::parse_hello_packet(
    ConstBytes datagram, std::uint32_t number) {
  ByteReader in(frames_of(datagram));
  const bool is_hello = in.u8() == static_cast<std::uint8_t>(FrameType::kHello);
  ReceivedHello hello{.packet = datagram, .number = number, .frame = {}, .keys = {}};
  hello.frame = parse_hello(in, hello.keys);
  if (!is_hello || !in.ok()) {
    ++counters.malformed;
    return std::nullopt;
  }
  // The MAC covers only what stands before it, so it must be the last field.
  if (in.remaining() > 0) hello.keys.has_mac = false;
  return hello;
}

bool Session::Impl::is_of_interest(const HelloFrame& hello) {
  // Sessions have followed each other faster than their streams could be freed.
  if (retired_streams.full()) {
    ++counters.hellos_unread;
    return false;
  }
  if (close_sequence.said() || (!connected() && hello.epoch == handshake.peer().epoch)) {
    ++counters.stale_epoch;
    return false;
  }
  return true;
}

// In a session that encrypts: whether the HELLO is read now. If not, it may be held until its turn.
bool Session::Impl::admit(const ReceivedHello& hello) {
  if (hello.frame.epoch == config.boot_epoch) {  // it is our own HELLO, sent back
    ++counters.stale_epoch;
    return false;
  }
  // Any machine may have sent this HELLO. So the refusal is shown only while no peer has been
  // heard.
  if (const auto mismatch = handshake.find_mismatch(hello.frame);
      mismatch != Handshake::Outcome::kNothing) {
    ++mismatches(mismatch);
    if (!handshake.knows_peer() && handshake.newcomer() == 0) {
      state = PeerState::kRefused;
    } else if (hello.frame.answer_wanted) {
      handshake.answer_stranger(now);  // so that it can tell its operator, too
    }
    return false;
  }
  return hello.keys.has_mac ? admit_with_mac(hello) : admit_without_mac(hello);
}

bool Session::Impl::admit_with_mac(const ReceivedHello& hello) {
  if (!key_exchange->is_genuine(hello.packet)) {
    ++counters.not_authentic;
    key_mismatch.on_unopened(now);
    return false;
  }
  if (!hello_memory.take(hello.frame.epoch, hello.number)) {
    ++counters.hellos_repeated;
    return false;
  }
  if (key_exchange->answers_offer(hello.keys)) {
    answers_acceptance = !owes_answer || answers_acceptance;
    return true;
  }
  if (hello.keys.offer.empty() && !key_exchange->is_accepted_by(hello.keys)) return true;
  const HeldHello::Claim claim = {
      .has_mac = true, .epoch = hello.frame.epoch, .number = hello.number};
  const bool is_newest = held.empty() || claim > held.claim();
  if (is_newest && budget.offers.take(who, now)) {
    held.clear();
    answers_acceptance = false;
    return true;
  }
  hold(hello, claim);
  return false;
}

// The HELLO is of an older build, or of any other sender.
bool Session::Impl::admit_without_mac(const ReceivedHello& hello) {
  if (budget.expects_mac(who.peer, now)) {
    ++counters.hellos_without_mac;
    return false;
  }
  if (held.empty() && budget.without_mac.take(who, now)) {
    answers_acceptance = false;
    return true;
  }
  const std::uint64_t unread = counters.hellos_unread;
  hold(hello, {.names_us = hello.frame.peer_epoch == config.boot_epoch});
  // The peer's own HELLO may be among the dropped ones. Its answer to a HELLO of ours goes before
  // those (names_us).
  if (counters.hellos_unread != unread && state != PeerState::kAlive) {
    key_exchange->want_answer();
    handshake.ask_soon(now);
  }
  return false;
}

// If a HELLO is held already, one of the two is dropped unread.
void Session::Impl::hold(const ReceivedHello& hello, const HeldHello::Claim& claim) {
  const bool is_first = held.empty();
  if (!held.offer(hello.packet, claim) || !is_first) ++counters.hellos_unread;
}

void Session::Impl::hear_held_hello() {
  if (!held_turns().take(who, now)) return;
  answers_acceptance = false;
  const std::vector<std::byte> packet = held.take();
  const auto hello = parse_hello_packet(packet, parse_header(packet)->number);
  if (!hello || !is_of_interest(hello->frame)) return;
  hear_hello(*hello);
}

// --- our own -----------------------------------------------------------------------------------

Instant Session::Impl::in_turn(const Turns& turns, Instant at) const {
  return turns.waits(who) ? later(at, turns.due(who)) : at;
}

Instant Session::Impl::next_hello() const {
  Instant at = handshake.next_hello();
  if (at.is_never()) return at;
  const control::BudgetPlace& place = hello_answers() ? answer_place : hello_place;
  at = later(later(at, path().gate.control_opens_at(kHelloRoom)), place.at(hello_octets()));
  return hello_is_free() ? at : in_turn(hello_turns(), at);
}

Instant Session::Impl::next_close() const {
  if (!close_sequence.due()) return Instant::never();
  const Instant at = later(later(now, path().gate.control_opens_at(kCloseRoom)),
                           close_place.at(config.handshake_budgets.closes));
  return close_sequence.repeats() ? in_turn(budget.ours, at) : at;
}

control::Budget* Session::Impl::hello_octets() const {
  return hello_answers() ? config.handshake_budgets.answers : config.handshake_budgets.hellos;
}

// The first HELLO of a session, and an answer to a HELLO that had its turn, leave at once. An
// answer to an acceptance waits for a turn: otherwise a holder of the secret could accept the offer
// in each such answer, without end.
bool Session::Impl::hello_leaves() {
  if (!handshake.hello_due(now) || !path().gate.control_open(now, kHelloRoom)) return false;
  control::BudgetPlace& place = hello_answers() ? answer_place : hello_place;
  control::Budget* octets = hello_octets();
  const ByteCount size = path().gate.accounted(kHelloRoom);
  if (!place.has_come(octets, size, now) || !(hello_is_free() || take_turn(hello_turns())))
    return false;
  place.use(octets, size, now);
  return true;
}

bool Session::Impl::close_leaves() {
  if (!close_sequence.due() || !path().gate.control_open(now, kCloseRoom)) return false;
  control::Budget* octets = config.handshake_budgets.closes;
  const ByteCount size = path().gate.accounted(kCloseRoom);
  if (!close_place.has_come(octets, size, now)) return false;
  if (close_sequence.repeats() && !take_turn(budget.ours)) return false;
  close_place.use(octets, size, now);
  return true;
}

bool Session::Impl::take_turn(Turns& turns) {
  const bool waited = turns.waits(who);
  if (turns.take(who, now)) return true;
  if (!waited) ++counters.hellos_delayed;
  return false;
}

}  // namespace satrelay::stp
