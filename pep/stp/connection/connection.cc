#include "pep/stp/connection/connection.h"

#include <utility>

#include "pep/base/sequence.h"

namespace satrelay::stp {

namespace {

// The counter for HELLOs with this mismatch.
std::uint64_t& mismatches(Counters& counters, Handshake::Outcome reason) {
  if (reason == Handshake::Outcome::kUnlikeSecurity) return counters.security_mismatch;
  if (reason == Handshake::Outcome::kUnlikeLanes) return counters.lanes_mismatch;
  return counters.version_mismatch;
}

}  // namespace

Connection::Connection(const Config& config, Counters& counters, Instant now)
    : counters_(counters),
      epoch_(config.handshake.epoch),
      suspect_after_(config.suspect_after),
      handshake_(config.handshake, now),
      turns_(config.hello_budget, {config.budget_peer, config.lane}, config.octets),
      admission_({handshake_, turns_, key_mismatch_, counters}, config.handshake.epoch),
      protection_(config.security, config.lane, config.handshake.opens_even_streams,
                  config.handshake.datagram_size),
      newcomer_(config.security, config.lane, config.handshake.opens_even_streams,
                config.handshake.datagram_size) {
  if (!config.security) return;
  key_exchange_.emplace(*config.security, config.lane, config.handshake.opens_even_streams, epoch_);
}

bool Connection::on_heard(Instant now) {
  key_mismatch_.on_heard();
  if (state_ != PeerState::kSuspect) return false;
  state_ = PeerState::kAlive;
  alive_since_ = now;
  return true;
}

void Connection::promise(std::uint64_t lane_credit) {
  // The credit in an offer is encrypted and cannot be changed, so a new offer is needed.
  if (key_exchange_ && lane_credit != promised_) key_exchange_->withdraw_offer();
  promised_ = lane_credit;
}

// begin() swaps `protection_` and `newcomer_`. So some keys were counted in `protection_`, and the
// others in `newcomer_`.
void Connection::write_counts(Counters& counters) const {
  counters.hellos_delayed = turns_.delayed();
  counters.keys_in = protection_.keys_in() + newcomer_.keys_in();
  counters.keys_out = protection_.keys_out() + newcomer_.keys_out();
}

void Connection::set_observer(PacketObserver* observer) {
  protection_.set_observer(observer);
  newcomer_.set_observer(observer);
}

void Connection::set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other) {
  if (key_exchange_) key_exchange_->set_secrets(psk, other);
}

// CLOSE continues the sequence of packet numbers.
void Connection::close(std::uint64_t next) {
  close_sequence_.begin(next, connected());
  handshake_.end();
  // No other peer is accepted any more, so neither secrets nor their mismatch matter.
  key_exchange_.reset();
  admission_.clear();
  turns_.stop_reading();
  key_mismatch_ = {};
  newcomer_.clear();
  state_ = PeerState::kClosed;
}

void Connection::close_by_peer() {
  protection_.clear();
  handshake_.stop();
  state_ = PeerState::kClosed;
}

// --- HELLOs that arrive ------------------------------------------------------------------------

Connection::Heard Connection::handle_hello(ConstBytes datagram, const PacketHeader& header,
                                           const Situation& situation) {
  protection_.show(PacketObserver::Way::kReceived, datagram, 0);
  if (!SessionSeal().verify(datagram)) {
    ++counters_.bad_crc;
    return {};
  }
  const auto hello = parse(datagram, header.number, situation.may_begin);
  if (!hello || (key_exchange_ && !is_admitted(*hello, situation.now))) return {};
  return hear(*hello, situation);
}

Connection::Heard Connection::hear_held_hello(const Situation& situation) {
  const auto packet = admission_.take(situation.now);
  if (!packet) return {};
  const auto hello = parse(*packet, parse_header(*packet)->number, situation.may_begin);
  return hello ? hear(*hello, situation) : Heard{};
}

// Parses a packet with a correct checksum. If it is no usable HELLO, counts the packet and returns
// nullopt.
std::optional<ReceivedHello> Connection::parse(ConstBytes datagram, std::uint32_t number,
                                               bool may_begin) {
  ByteReader in(frames_of(datagram));
  const bool is_hello = in.u8() == static_cast<std::uint8_t>(FrameType::kHello);
  ReceivedHello hello{.packet = datagram, .number = number, .frame = {}, .keys = {}};
  hello.frame = parse_hello(in, hello.keys);
  if (!is_hello || !in.ok()) {
    ++counters_.malformed;
    return std::nullopt;
  }
  // The MAC covers only the fields before it, so it must be the last field.
  if (in.remaining() > 0) hello.keys.has_mac = false;
  // Many sessions have ended shortly after each other, and their streams are not freed yet. So no
  // other session may begin now.
  if (!may_begin) {
    ++counters_.hellos_unread;
    return std::nullopt;
  }
  if (has_closed() || (!connected() && hello.frame.epoch == peer().epoch)) {
    ++counters_.stale_epoch;
    return std::nullopt;
  }
  return hello;
}

// Whether the HELLO is read now. Called only if the session encrypts.
bool Connection::is_admitted(const ReceivedHello& hello, Instant now) {
  if (hello.frame.epoch == epoch_) {  // it is our own HELLO, sent back
    ++counters_.stale_epoch;
    return false;
  }
  // Any machine may have sent this HELLO. So it changes the state only if we know neither a peer
  // nor a newcomer.
  if (const auto mismatch = handshake_.find_mismatch(hello.frame);
      mismatch != Handshake::Outcome::kNothing) {
    ++mismatches(counters_, mismatch);
    if (!handshake_.knows_peer() && !has_newcomer()) {
      state_ = PeerState::kRefused;
    } else if (hello.frame.answer_wanted) {
      handshake_.answer_stranger(now);  // the peer's operator should see the mismatch, too
    }
    return false;
  }
  return admission_.admit(hello, *key_exchange_, is_alive(), now);
}

Connection::Heard Connection::hear(const ReceivedHello& received, const Situation& situation) {
  const Instant now = situation.now;
  const bool is_silent = !connected() || (state_ == PeerState::kSuspect && situation.is_silent);
  HelloFrame hello = received.frame;
  std::optional<SessionKeys> session_keys;
  if (key_exchange_) {
    const auto reading = read_keys(received, is_silent, now);
    if (!reading) return {};
    hello = reading->hello;
    session_keys = reading->keys;
    if (session_keys && received.keys.has_mac)
      turns_.budget().on_mac_proved(turns_.who().peer, now);
  }
  handshake_.expire(now);
  const std::uint64_t known_newcomer = handshake_.newcomer();
  const Handshake::Outcome outcome =
      handshake_.handle_hello(hello, received.number, is_silent, now);
  if (handshake_.newcomer() == hello.epoch) newcomer_has_mac_ = received.keys.has_mac;
  const bool may_begin =
      outcome == Handshake::Outcome::kNewcomer || outcome == Handshake::Outcome::kEstablished;
  if (may_begin && known_newcomer != hello.epoch) {
    newcomer_.clear();
    newcomer_.bind(epoch_, hello.epoch);
  }
  Heard heard;
  switch (outcome) {
    case Handshake::Outcome::kStale:
      ++counters_.stale_epoch;
      return {};
    case Handshake::Outcome::kIncompatible:
    case Handshake::Outcome::kUnlikeSecurity:
    case Handshake::Outcome::kUnlikeLanes:
      ++mismatches(counters_, outcome);
      // The state becomes kRefused only if there is neither an established peer nor a newcomer.
      if (!connected() && !has_newcomer()) state_ = PeerState::kRefused;
      return {};
    case Handshake::Outcome::kNewcomer:
      ++counters_.newcomers;
      // If another newcomer replaces a newcomer, that is not reported as a change. Our HELLO grants
      // the other newcomer the same lane credit as the first.
      if (known_newcomer == 0) heard.change = Change::kNewcomer;
      if (state_ == PeerState::kRefused) state_ = PeerState::kConnecting;
      break;
    case Handshake::Outcome::kEstablished:
      heard = begin(now);
      take_keys(session_keys, 0, now);
      // The session then sends a PING. The PING proves to the peer that we are running, even if our
      // next HELLO answers another newcomer.
      heard.wants_proof = hello.answer_wanted;
      break;
    case Handshake::Outcome::kNothing:
      if (connected() && hello.epoch == peer().epoch) {
        if (protection_.may_replace(situation.next)) take_keys(session_keys, situation.next, now);
        if (hello.peer_epoch == epoch_) heard.change = Change::kHeard;
      }
      break;
  }
  heard.rtt = handshake_.take_rtt_sample();
  return heard;
}

// Returns the content of a HELLO if the peer has written it. Otherwise counts the HELLO.
std::optional<KeyExchange::Reading> Connection::read_keys(const ReceivedHello& hello,
                                                          bool is_silent, Instant now) {
  using Verdict = KeyExchange::Reading::Verdict;
  KeyExchange::Reading reading = key_exchange_->read(hello.frame, hello.keys, is_silent);
  switch (reading.verdict) {
    case Verdict::kAuthentic:
      key_mismatch_.on_heard();
      turns_.owe_answer();
      return reading;
    case Verdict::kRepeated:
      if (hello.keys.has_mac) handshake_.on_repeated(hello.frame.epoch, now);
      // Our last answer may be lost, so the HELLO is answered again. If the HELLO has an offer, a
      // turn (turns.h) was used to read it, so our answer needs no further turn.
      if (hello.frame.answer_wanted) {
        handshake_.answer_stranger(now);
        if (!hello.keys.offer.empty()) turns_.owe_answer();
      }
      break;
    case Verdict::kForged:
      ++counters_.not_authentic;
      key_mismatch_.on_unopened(now);
      break;
    case Verdict::kStale:
    case Verdict::kNothing:
      ++counters_.stale_epoch;
      break;
  }
  return std::nullopt;
}

// The newcomer has proved that it is the peer, so a session with any other boot ends.
Connection::Heard Connection::begin(Instant now) {
  const bool has_restarted = connected();
  if (has_restarted) ++counters_.peer_restarts;
  std::swap(protection_, newcomer_);
  newcomer_.clear();
  state_ = PeerState::kAlive;
  alive_since_ = now;
  return {.change = Change::kBegun, .has_restarted = has_restarted, .rtt = {}};
}

std::optional<Connection::Opened> Connection::open_of_newcomer(const PacketHeader& header,
                                                               ConstBytes datagram, Duration keep,
                                                               Instant now) {
  if (!newcomer_recognizes(header.session_tag)) return std::nullopt;
  const std::uint64_t number = unwrap_sequence<32>(header.number, 0);
  const auto frames = newcomer_.open(header, number, datagram, now, keep);
  if (!frames) return std::nullopt;
  handshake_.establish_newcomer();
  if (key_exchange_) {
    if (newcomer_has_mac_) turns_.budget().on_mac_proved(turns_.who().peer, now);
    key_exchange_->settle(peer().epoch);
    // Make a new offer. If the peer accepted the old offer, that would only prove that the peer was
    // running earlier.
    key_exchange_->withdraw_offer();
  }
  return Opened{number, *frames, begin(now)};
}

// `of_our_offer` has the keys of our offer if the peer has just accepted it, otherwise nullopt.
void Connection::take_keys(const std::optional<SessionKeys>& of_our_offer, std::uint64_t next,
                           Instant now) {
  if (!of_our_offer) return;
  protection_.propose(Protection::Offerer::kWe, *of_our_offer);
  protection_.send_with(of_our_offer->send, next, now);
}

// --- HELLOs that leave -------------------------------------------------------------------------

// Our HELLOs ask the peer for an answer in two cases. The peer is silent: it may have restarted, or
// may not know our current boot epoch. Or no reports arrive, so it is unknown whether the peer has
// the current key.
void Connection::greet_again(std::uint64_t next, Instant now) {
  protection_.prepare(next, now);
  const bool lacks_keys = needs_keys(next, now);
  if (!lacks_keys && state_ != PeerState::kSuspect) return;
  if (key_exchange_) key_exchange_->want_answer();
  handshake_.ask_again(now);
}

Connection::Hello Connection::make_hello(std::uint64_t stream_credit, Instant now) {
  Hello hello;
  hello.frame = handshake_.make_hello(promised_, stream_credit, now);
  hello.number = handshake_.hello_number();
  if (key_exchange_) {
    hello.keys.accept = key_exchange_->accept(hello.frame);
    take_accepted_keys();
    hello.frame.answer_wanted = hello.frame.answer_wanted || key_exchange_->wants_answer();
    if (hello.frame.answer_wanted) hello.keys.offer = key_exchange_->offer(hello.frame, now);
    hello.keys.has_mac = true;
    if (!hello.keys.accept.empty()) hello.keys.accepted = key_exchange_->accepted();
  }
  turns_.on_hello_sent();
  return hello;
}

void Connection::close_hello(MutableBytes packet) {
  if (key_exchange_) key_exchange_->close(packet);
  protection_.show(PacketObserver::Way::kSent, packet, 0);
}

// If our next HELLO accepts an offer of the peer, uses the keys of that offer.
void Connection::take_accepted_keys() {
  const auto accepted = key_exchange_->take_accepted();
  if (!accepted) return;
  if (accepted->epoch == handshake_.newcomer()) {
    newcomer_.propose(Protection::Offerer::kPeer, accepted->keys);
  } else if (connected() && accepted->epoch == peer().epoch) {
    protection_.propose(Protection::Offerer::kPeer, accepted->keys);
  }
}

}  // namespace satrelay::stp
