#include "pep/stp/connection/key_exchange.h"

#include <algorithm>
#include <string_view>

namespace satrelay::stp {
namespace {

constexpr std::string_view kLabel = "satrelay STP 1";
constexpr std::size_t kPayloadSize = kHelloFrameSize + 4;
// If an offer is not accepted within this time, a new offer replaces it.
constexpr Duration kOfferLifetime = Duration::seconds(8);
bool same(ConstBytes a, ConstBytes b) {
  return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

KeyExchange::KeyExchange(const Security& security, std::uint8_t lane, bool opens_even_streams,
                         std::uint64_t epoch)
    : security_(security),
      mac_(lane, opens_even_streams),
      lane_(lane),
      is_even_(opens_even_streams),
      epoch_(epoch) {}

// The prologue says which end makes the offer, so that an attacker cannot reflect an offer to its
// sender.
KeyExchange::Bytes KeyExchange::prologue(bool from_even) const {
  const ConstBytes label = std::as_bytes(std::span(kLabel));
  Bytes bytes(label.begin(), label.end());
  bytes.push_back(std::byte{lane_});
  bytes.push_back(from_even ? std::byte{1} : std::byte{0});
  bytes.insert(bytes.end(), security_.names.begin(), security_.names.end());
  return bytes;
}

crypto::PrivateKey KeyExchange::ephemeral() {
  crypto::PrivateKey key;
  security_.entropy->fill(key.bytes());
  return key;
}

KeyExchange::Bytes KeyExchange::payload(const HelloFrame& hello, std::uint32_t number) {
  HelloFrame plain = hello;
  plain.encrypts = false;  // no HelloKeys follow this frame
  Bytes bytes(kPayloadSize);
  ByteWriter out(bytes);
  write_hello(out, plain);
  out.u32(number);
  return bytes;
}

std::optional<KeyExchange::Said> KeyExchange::parse(ConstBytes payload) {
  ByteReader in(payload);
  Said said;
  HelloKeys none;
  const bool is_hello = in.u8() == static_cast<std::uint8_t>(FrameType::kHello);
  said.hello = parse_hello(in, none);
  said.hello.encrypts = true;
  said.number = in.u32();
  if (!is_hello || !in.ok()) return std::nullopt;
  return said;
}

bool KeyExchange::is_accepted_by(const HelloKeys& keys) const {
  if (keys.accept.empty() || !offering_) return false;
  return !keys.has_mac || same(keys.accepted, ConstBytes(offering_->message).first(kOfferNameSize));
}

bool KeyExchange::answers_offer(const HelloKeys& keys) const {
  return keys.has_mac && is_accepted_by(keys) && !offering_->was_tried;
}

KeyExchange::Reading KeyExchange::read(const HelloFrame& clear, const HelloKeys& keys,
                                       bool peer_silent) {
  Reading reading;
  std::optional<Said> offered;
  std::optional<Said> accepted;
  using Verdict = Reading::Verdict;
  if (!keys.accept.empty()) {
    if (same(keys.accept, last_accept_)) {
      reading.verdict = Verdict::kRepeated;
    } else if (!is_accepted_by(keys)) {
      reading.verdict = Verdict::kStale;
    } else {
      // The first acceptance with a MAC is read without a turn. A HELLO without a MAC has used a
      // turn, so it does not count as the first.
      if (keys.has_mac) offering_->was_tried = true;
      accepted = read_accept(keys.accept, reading);
    }
  }
  if (!keys.offer.empty()) {
    Reading of_offer{.verdict = Verdict::kRepeated, .hello = {}, .keys = {}};
    if (!same(keys.offer, last_offer_)) offered = read_offer(keys.offer, peer_silent, of_offer);
    if (!accepted) reading.verdict = of_offer.verdict;
  }
  if (!accepted && !offered) return reading;
  reading.verdict = Verdict::kAuthentic;
  reading.hello = accepted ? accepted->hello : offered->hello;
  reading.hello.peer_epoch = accepted ? epoch_ : 0;
  // These two fields change from HELLO to HELLO, but an encrypted message is repeated unchanged. So
  // the unencrypted values are used. Forged values can only cause an answer, or a wrong first
  // estimate of the RTT.
  reading.hello.echo = clear.echo;
  reading.hello.answer_wanted = clear.answer_wanted;
  return reading;
}

std::optional<KeyExchange::Said> KeyExchange::read_accept(ConstBytes message, Reading& reading) {
  Bytes text(message.size() < crypto::NoiseHandshake::kOverhead
                 ? 0
                 : message.size() - crypto::NoiseHandshake::kOverhead);
  reading.verdict = Reading::Verdict::kForged;
  if (offering_->noise.read_message(message, text) != crypto::NoiseResult::kOk) {
    return std::nullopt;
  }
  const auto said = parse(text);
  crypto::NoiseKeys keys = offering_->noise.split();
  offering_.reset();
  last_accept_.assign(message.begin(), message.end());
  if (!said) return std::nullopt;
  reading.keys = SessionKeys{keys.from_initiator, keys.from_responder};
  settle(said->hello.epoch);
  return said;
}

void KeyExchange::settle(std::uint64_t peer_epoch) {
  wants_answer_ = false;
  if (newest_.epoch != peer_epoch) newest_ = {peer_epoch, 0};
  if (last_.epoch == peer_epoch) newest_ = std::max(newest_, last_);
}

std::optional<KeyExchange::Said> KeyExchange::read_offer(ConstBytes message, bool peer_silent,
                                                         Reading& reading) {
  Bytes text(message.size() < crypto::NoiseHandshake::kOverhead
                 ? 0
                 : message.size() - crypto::NoiseHandshake::kOverhead);
  reading.verdict = Reading::Verdict::kForged;
  std::optional<crypto::NoiseHandshake> answer;
  const auto try_key = [&](const crypto::Psk& psk) {
    answer.emplace(crypto::NoiseHandshake::Role::kResponder, psk, prologue(!is_even_), ephemeral());
    return answer->read_message(message, text) == crypto::NoiseResult::kOk;
  };
  HelloMac::Under under = HelloMac::Under::kFirst;
  if (!try_key(security_.psk)) {
    if (!security_.other || !try_key(*security_.other)) return std::nullopt;
    under = HelloMac::Under::kOther;
  }
  const auto said = parse(text);
  if (!said) return std::nullopt;
  const Age age{said->hello.epoch, said->number};
  const bool is_old = age <= newest_ && !(peer_silent && age.epoch < newest_.epoch);
  if (is_old || (age.epoch == last_.epoch && age <= last_)) {
    reading.verdict = Reading::Verdict::kStale;
    return std::nullopt;
  }
  if (age.epoch == newest_.epoch) newest_ = age;
  last_ = age;
  accepting_ = answer;
  last_offer_.assign(message.begin(), message.end());
  under_ = under;
  accept_.clear();
  accepted_.reset();
  return said;
}

ConstBytes KeyExchange::offer(const HelloFrame& ours, Instant now) {
  if (offering_ && now - offering_->at < kOfferLifetime) return offering_->message;
  offering_.reset();
  crypto::NoiseHandshake noise(crypto::NoiseHandshake::Role::kInitiator, security_.psk,
                               prologue(is_even_), ephemeral());
  if (++offers_ == 0) offers_ = 1;
  const Bytes text = payload(ours, offers_);
  Bytes message(text.size() + crypto::NoiseHandshake::kOverhead);
  if (noise.write_message(text, message) != crypto::NoiseResult::kOk) return {};
  offering_.emplace(Offering{.noise = noise, .message = std::move(message), .at = now});
  return offering_->message;
}

ConstBytes KeyExchange::accept(const HelloFrame& ours) {
  if (!accepting_) return accept_;
  const Bytes text = payload(ours, last_.number);
  accept_.resize(text.size() + crypto::NoiseHandshake::kOverhead);
  if (accepting_->write_message(text, accept_) == crypto::NoiseResult::kOk) {
    const crypto::NoiseKeys keys = accepting_->split();
    accepted_ = Accepted{last_.epoch, {keys.from_responder, keys.from_initiator}};
  } else {
    accept_.clear();  // the peer's public key is weak, so its offer is not accepted
  }
  accepting_.reset();
  return accept_;
}

void KeyExchange::set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other) {
  const bool has_other = other.has_value();
  if (same(psk.bytes(), security_.psk.bytes()) && has_other == security_.other.has_value() &&
      (!has_other || same(other->bytes(), security_.other->bytes()))) {
    return;
  }
  // The sender of the last offer that we read knows this secret.
  const crypto::Psk& known =
      under_ == HelloMac::Under::kOther && security_.other ? *security_.other : security_.psk;
  if (other && same(known.bytes(), other->bytes())) {
    under_ = HelloMac::Under::kOther;
  } else {
    if (!same(known.bytes(), psk.bytes())) accept_.clear();
    under_ = HelloMac::Under::kFirst;
  }
  security_.psk = psk;
  security_.other = other;
  mac_.forget();
  withdraw_offer();
  // `accepting_` was computed from the old secrets. The peer will make another offer.
  accepting_.reset();
}

}  // namespace satrelay::stp
