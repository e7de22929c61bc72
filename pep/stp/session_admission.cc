// Which HELLOs are read. A HELLO costs its sender nothing, but its reader a
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
    hello_turns.on_acceptance();
    return true;
  }
  if (hello.keys.offer.empty() && !key_exchange->is_accepted_by(hello.keys)) return true;
  const HeldHello::Claim claim = {
      .has_mac = true, .epoch = hello.frame.epoch, .number = hello.number};
  const bool is_newest = held.empty() || claim > held.claim();
  if (is_newest && hello_turns.budget().offers.take(hello_turns.who(), now)) {
    held.clear();
    hello_turns.on_turn();
    return true;
  }
  hold(hello, claim);
  return false;
}

// The HELLO is of an older build, or of any other sender.
bool Session::Impl::admit_without_mac(const ReceivedHello& hello) {
  if (hello_turns.budget().expects_mac(hello_turns.who().peer, now)) {
    ++counters.hellos_without_mac;
    return false;
  }
  if (held.empty() && hello_turns.budget().without_mac.take(hello_turns.who(), now)) {
    hello_turns.on_turn();
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
  if (!held_turns().take(hello_turns.who(), now)) return;
  hello_turns.on_turn();
  const std::vector<std::byte> packet = held.take();
  const auto hello = parse_hello_packet(packet, parse_header(packet)->number);
  if (!hello || !is_of_interest(hello->frame)) return;
  hear_hello(*hello);
}

}  // namespace satrelay::stp
