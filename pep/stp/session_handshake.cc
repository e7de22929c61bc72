// The content of HELLOs, received and sent: which boot the peer is, and its keys.
#include "pep/stp/session_impl.h"

namespace satrelay::stp {

void Session::Impl::hear_hello(const ReceivedHello& received) {
  HelloFrame hello = received.frame;
  const bool silent = !connected() || (state == PeerState::kSuspect && path().probes.silent(now));
  std::optional<SessionKeys> session_keys;
  if (key_exchange) {
    const auto reading = read_keys(received, silent);
    if (!reading) return;
    hello = reading->hello;
    session_keys = reading->keys;
    if (session_keys && received.keys.has_mac)
      hello_turns.budget().on_mac_proved(hello_turns.who().peer, now);
  }
  handshake.expire(now);
  const std::uint64_t known_newcomer = handshake.newcomer();
  const Handshake::Outcome outcome = handshake.handle_hello(hello, received.number, silent, now);
  if (handshake.newcomer() == hello.epoch) newcomer_has_mac = received.keys.has_mac;
  switch (outcome) {
    case Handshake::Outcome::kStale:
      ++counters.stale_epoch;
      return;
    case Handshake::Outcome::kIncompatible:
    case Handshake::Outcome::kUnlikeSecurity:
    case Handshake::Outcome::kUnlikeLanes:
      ++mismatches(outcome);
      note_refusal();
      return;
    case Handshake::Outcome::kNewcomer:
      ++counters.newcomers;
      // Only the first of several newcomers in a row renews the promise. The others may take what
      // was promised to it.
      if (known_newcomer == 0) {
        renew_promise();
        doubt_peer();
      }
      bind_newcomer(hello.epoch);
      if (state == PeerState::kRefused) state = PeerState::kConnecting;
      break;
    case Handshake::Outcome::kEstablished:
      if (known_newcomer != hello.epoch) bind_newcomer(hello.epoch);
      take_over();
      take_keys(session_keys);
      establish();
      // The PING is a proof for the peer, in case our next HELLO answers another newcomer.
      if (hello.answer_wanted) path().requests.ask();
      break;
    case Handshake::Outcome::kNothing:
      if (connected() && hello.epoch == handshake.peer().epoch) {
        if (protection.may_replace(association->ledger.next())) take_keys(session_keys);
        if (hello.peer_epoch == config.boot_epoch) heard();
      }
      break;
  }
  if (const Duration sample = handshake.take_rtt_sample(); sample > Duration::zero()) {
    path().rtt.on_sample(sample);
    path().update_rtt();
  }
}

void Session::Impl::bind_newcomer(std::uint64_t epoch) {
  newcomer.clear();
  newcomer.bind(config.boot_epoch, epoch);
}

// A peer that is there answers the PING soon. Only the first of several newcomers in a row causes
// this. Otherwise a flood of such HELLOs would keep all new streams waiting.
void Session::Impl::doubt_peer() {
  if (state != PeerState::kAlive) return;
  association->doubts_peer = true;
  path().requests.ask();
}

// The counter of HELLOs with this mismatch.
std::uint64_t& Session::Impl::mismatches(Handshake::Outcome reason) {
  if (reason == Handshake::Outcome::kUnlikeSecurity) return counters.security_mismatch;
  if (reason == Handshake::Outcome::kUnlikeLanes) return counters.lanes_mismatch;
  return counters.version_mismatch;
}

// The state is kRefused only while no possible peer has been heard.
void Session::Impl::note_refusal() {
  if (!connected() && handshake.newcomer() == 0) state = PeerState::kRefused;
}

// Returns the content of a HELLO if the peer has written it. Otherwise the HELLO is counted.
std::optional<KeyExchange::Reading> Session::Impl::read_keys(const ReceivedHello& hello,
                                                             bool silent) {
  using Verdict = KeyExchange::Reading::Verdict;
  KeyExchange::Reading reading = key_exchange->read(hello.frame, hello.keys, silent);
  switch (reading.verdict) {
    case Verdict::kAuthentic:
      key_mismatch.on_heard();
      hello_turns.owe_answer();
      return reading;
    case Verdict::kRepeated:
      if (hello.keys.has_mac) handshake.on_repeated(hello.frame.epoch, now);
      // Our last answer may be lost, so the HELLO is answered again. It had a turn only if it has
      // an offer.
      if (hello.frame.answer_wanted) {
        handshake.answer_stranger(now);
        if (!hello.keys.offer.empty()) hello_turns.owe_answer();
      }
      break;
    case Verdict::kForged:
      ++counters.not_authentic;
      key_mismatch.on_unopened(now);
      break;
    case Verdict::kStale:
    case Verdict::kNothing:
      ++counters.stale_epoch;
      break;
  }
  return std::nullopt;
}

// Takes the keys of the peer's offer that our next HELLO accepts.
void Session::Impl::take_accepted_keys() {
  const auto accepted = key_exchange->take_accepted();
  if (!accepted) return;
  if (accepted->epoch == handshake.newcomer()) {
    newcomer.propose(Protection::Offerer::kPeer, accepted->keys);
  } else if (connected() && accepted->epoch == handshake.peer().epoch) {
    protection.propose(Protection::Offerer::kPeer, accepted->keys);
  }
}

// `of_our_offer`: nullopt unless the peer has just accepted our offer.
void Session::Impl::take_keys(const std::optional<SessionKeys>& of_our_offer) {
  if (!of_our_offer) return;
  protection.propose(Protection::Offerer::kWe, *of_our_offer);
  protection.send_with(of_our_offer->send, association->ledger.next(), now);
}

// A peer that is silent may have restarted, or may take us for another boot. Without reports we do
// not know whether it has the present key. So our HELLOs ask it.
void Session::Impl::greet_again() {
  protection.prepare(association->ledger.next(), now);
  const bool lacks_keys = needs_keys();
  if (!lacks_keys && state != PeerState::kSuspect) return;
  if (key_exchange) key_exchange->want_answer();
  handshake.ask_again(now);
}

std::size_t Session::Impl::send_hello(MutableBytes out) {
  path().gate.on_unlisted();
  HelloFrame hello = handshake.make_hello(hello_lane_credit, config.streams.receive_limit, now);
  HelloKeys keys;
  if (key_exchange) {
    keys.accept = key_exchange->accept(hello);
    take_accepted_keys();
    hello.answer_wanted = hello.answer_wanted || key_exchange->wants_answer();
    if (hello.answer_wanted) keys.offer = key_exchange->offer(hello, now);
    keys.has_mac = true;
    if (!keys.accept.empty()) keys.accepted = key_exchange->accepted();
  }
  hello_turns.on_hello_sent();
  PacketBuilder packet(out, kTrailerSize);
  write_hello(packet.frames(), hello, keys);
  PacketHeader header;
  header.type = PacketType::kHello;
  header.lane = config.lane;
  header.number = handshake.hello_number();
  const MutableBytes whole = packet.close(header);
  if (key_exchange) key_exchange->close(whole);
  protection.show(PacketObserver::Way::kSent, whole, 0);
  return count_out(whole);
}

}  // namespace satrelay::stp
