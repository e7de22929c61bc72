#include "pep/stp/connection/hello_admission.h"

namespace satrelay::stp {

bool HelloAdmission::admit(const ReceivedHello& hello, KeyExchange& key_exchange, bool is_alive,
                           Instant now) {
  return hello.keys.has_mac ? admit_with_mac(hello, key_exchange, now)
                            : admit_without_mac(hello, key_exchange, is_alive, now);
}

bool HelloAdmission::admit_with_mac(const ReceivedHello& hello, KeyExchange& key_exchange,
                                    Instant now) {
  HelloTurns& turns = parts_.turns;
  if (!key_exchange.is_genuine(hello.packet)) {
    ++parts_.counters.not_authentic;
    parts_.key_mismatch.on_unopened(now);
    return false;
  }
  if (!memory_.take(hello.frame.epoch, hello.number)) {
    ++parts_.counters.hellos_repeated;
    return false;
  }
  if (key_exchange.answers_offer(hello.keys)) {
    turns.on_acceptance();
    return true;
  }
  if (hello.keys.offer.empty() && !key_exchange.is_accepted_by(hello.keys)) return true;
  const HeldHello::Claim claim = {
      .has_mac = true, .epoch = hello.frame.epoch, .number = hello.number};
  const bool is_newest = held_.empty() || claim > held_.claim();
  if (is_newest && turns.budget().offers.take(turns.who(), now)) {
    held_.clear();
    turns.on_turn();
    return true;
  }
  hold(hello, claim);
  return false;
}

// A HELLO without a MAC comes from an older build of the peer, or from any other machine.
bool HelloAdmission::admit_without_mac(const ReceivedHello& hello, KeyExchange& key_exchange,
                                       bool is_alive, Instant now) {
  HelloTurns& turns = parts_.turns;
  if (turns.budget().expects_mac(turns.who().peer, now)) {
    ++parts_.counters.hellos_without_mac;
    return false;
  }
  if (held_.empty() && turns.budget().without_mac.take(turns.who(), now)) {
    turns.on_turn();
    return true;
  }
  const std::uint64_t unread = parts_.counters.hellos_unread;
  hold(hello, {.names_us = hello.frame.peer_epoch == epoch_});
  // The dropped HELLO may be from the peer, so ask the peer for another HELLO. That HELLO will name
  // our epoch. So it replaces the held HELLO, unless the held HELLO names our epoch as well
  // (Claim::names_us).
  if (parts_.counters.hellos_unread != unread && !is_alive) {
    key_exchange.want_answer();
    parts_.handshake.ask_soon(now);
  }
  return false;
}

// Holds the HELLO. If another is already held, one of the two is dropped unread.
void HelloAdmission::hold(const ReceivedHello& hello, const HeldHello::Claim& claim) {
  const bool is_first = held_.empty();
  if (!held_.offer(hello.packet, claim) || !is_first) ++parts_.counters.hellos_unread;
}

std::optional<std::vector<std::byte>> HelloAdmission::take(Instant now) {
  HelloTurns& turns = parts_.turns;
  if (held_.empty() || !turns_of_held().take(turns.who(), now)) return std::nullopt;
  turns.on_turn();
  return held_.take();
}

}  // namespace satrelay::stp
