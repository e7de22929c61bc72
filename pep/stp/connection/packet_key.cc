#include "pep/stp/connection/packet_key.h"

#include <array>
#include <string_view>

#include "pep/base/check.h"

namespace satrelay::stp {
namespace {

// The labels for HKDF-Expand. An output for one label reveals nothing about the outputs for others.
constexpr std::string_view kKeyLabel = "satrelay stp key";
constexpr std::string_view kTagLabel = "satrelay stp tag";
constexpr std::string_view kNextLabel = "satrelay stp next";

ConstBytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

ConstBytes header_of(ConstBytes packet) { return packet.first(kHeaderSize); }

}  // namespace

std::unique_ptr<crypto::Aead> KeyChain::key() const {
  Secret<crypto::kAeadKeySize> key;
  crypto::hkdf_expand(secret_, bytes_of(kKeyLabel), key.bytes());
  return crypto::make_aead(key.bytes(), crypto::preferred_backend());
}

std::uint16_t KeyChain::tag() const {
  std::array<std::byte, 2> tag;
  crypto::hkdf_expand(secret_, bytes_of(kTagLabel), tag);
  return load_u16(tag.data());
}

void KeyChain::advance() {
  crypto::Key256 next;
  crypto::hkdf_expand(secret_, bytes_of(kNextLabel), next.bytes());
  secret_ = next;
}

SendKey::SendKey(const crypto::Key256& first, const Sender& sender, std::uint64_t next, Instant now)
    : chain_(first),
      sender_(sender),
      aead_(chain_.key()),
      tag_(chain_.tag()),
      first_(next),
      since_(now) {}

void SendKey::seal(MutableBytes packet, std::uint64_t number) {
  const MutableBytes sealed = packet.subspan(kHeaderSize);
  aead_->seal(sender_.nonce(number), header_of(packet),
              sealed.first(sealed.size() - crypto::kTagSize), sealed);
}

void SendKey::follow(std::uint64_t next, Instant now) {
  SATRELAY_CHECK(may_follow());
  chain_.advance();
  aead_ = chain_.key();
  phase_ = !phase_;
  confirmed_ = false;
  first_ = next;
  since_ = now;
}

ReceiveKey::ReceiveKey(const crypto::Key256& first, const Sender& sender)
    : chain_(first), sender_(sender), tag_(chain_.tag()), current_(chain_.key()) {
  chain_.advance();
  next_ = chain_.key();
}

bool ReceiveKey::open_with(crypto::Aead& key, std::uint64_t number, ConstBytes packet,
                           MutableBytes plain) const {
  return key.open(sender_.nonce(number), header_of(packet), packet.subspan(kHeaderSize), plain);
}

bool ReceiveKey::open(bool phase, std::uint64_t number, ConstBytes packet, MutableBytes plain,
                      Instant now, Duration keep) {
  if (phase == phase_) {
    if (!open_with(*current_, number, packet, plain)) return false;
    first_ = std::min(first_, number);
    return true;
  }
  // A number below all numbers under the current key belongs to a late packet of the previous key.
  // Any other number belongs to a packet of the next key.
  if (number < first_ && followed_ > 0) {
    return previous_ != nullptr && open_with(*previous_, number, packet, plain);
  }
  if (!open_with(*next_, number, packet, plain)) return false;
  previous_ = std::move(current_);
  previous_until_ = now + keep;
  current_ = std::move(next_);
  chain_.advance();
  next_ = chain_.key();
  phase_ = phase;
  first_ = number;
  ++followed_;
  return true;
}

}  // namespace satrelay::stp
