#include "pep/stp/connection/protection.h"

#include <algorithm>

namespace satrelay::stp {

Protection::Protection(const std::optional<Security>& security, std::uint8_t lane,
                       bool opens_even_streams, std::size_t datagram_size)
    : lane_(lane), is_even_(opens_even_streams) {
  if (!security) return;
  key_life_ = {security->packets_per_key, security->time_per_key};
  plain_.resize(datagram_size);
}

Sender Protection::sender(bool is_even) const {
  return {lane_, is_even ? crypto::Direction::kFromEven : crypto::Direction::kFromOdd};
}

void Protection::clear() {
  keys_in_ = keys_in();
  is_bound_ = false;
  send_.reset();
  receive_.reset();
  proven_.reset();
  proposals_ = {};
}

void Protection::bind(std::uint64_t own_epoch, std::uint64_t peer_epoch) {
  send_seal_ = SessionSeal(own_epoch, peer_epoch);
  receive_seal_ = SessionSeal(peer_epoch, own_epoch);
  is_bound_ = true;
}

void Protection::propose(Offerer offerer, const SessionKeys& keys) {
  proposals_[static_cast<std::size_t>(offerer)].emplace(
      Proposal{ReceiveKey(keys.receive, sender(!is_even_)), keys.send});
}

void Protection::send_with_proven(std::uint64_t next, Instant now) {
  if (proven_ && (!send_ || is_worn_out(next))) send_with(*proven_, next, now);
  proven_.reset();
}

void Protection::prepare(std::uint64_t next, Instant now) {
  if (!send_) return;
  const std::uint64_t packets = send_->packets(next);
  const bool is_due =
      packets >= key_life_->packets || (packets > 0 && now - send_->since() >= key_life_->time);
  if (!is_due || !send_->may_follow()) return;
  send_->follow(next, now);
  ++keys_out_;
}

bool Protection::is_worn_out(std::uint64_t next) const {
  return send_ && send_->packets(next) >= 2 * key_life_->packets;
}

void Protection::close(MutableBytes packet, std::uint64_t number) {
  show(PacketObserver::Way::kSent, packet, trailer_size());
  if (encrypts()) {
    send_->seal(packet, number);
  } else {
    send_seal_.close(packet);
  }
}

bool Protection::recognizes(std::uint16_t tag) const {
  if (!encrypts()) return is_bound_ && tag == receive_seal_.tag();
  return (receive_ && receive_->tag() == tag) ||
         std::any_of(proposals_.begin(), proposals_.end(), [tag](const auto& proposal) {
           return proposal && proposal->receive.tag() == tag;
         });
}

std::optional<ConstBytes> Protection::unseal(const PacketHeader& header, std::uint64_t number,
                                             ConstBytes packet, Instant now, Duration keep) {
  if (!encrypts()) {
    if (!receive_seal_.verify(packet)) return std::nullopt;
    return frames_of(packet);
  }
  if (packet.size() <= kHeaderSize + crypto::kTagSize) return std::nullopt;
  const std::size_t size = packet.size() - kHeaderSize - crypto::kTagSize;
  if (size > plain_.size()) return std::nullopt;
  const MutableBytes plain = MutableBytes(plain_).first(size);
  const auto opens = [&](ReceiveKey& key) {
    return key.tag() == header.session_tag &&
           key.open(header.key_phase, number, packet, plain, now, keep);
  };
  if (receive_ && opens(*receive_)) return plain;
  for (std::optional<Proposal>& proposal : proposals_) {
    if (!proposal || !opens(proposal->receive)) continue;
    keys_in_ = keys_in();
    receive_.emplace(std::move(proposal->receive));
    proven_ = proposal->send;
    proposals_ = {};
    return plain;
  }
  return std::nullopt;
}

}  // namespace satrelay::stp
