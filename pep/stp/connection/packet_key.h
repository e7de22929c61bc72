// The keys of one direction of a session, one after the other (docs/stp.md section 16). Bit K of a
// packet's header says whether its key has an even or an odd place in that order. Each key is
// derived from the one before. Earlier keys cannot be derived from it, so an attacker with that key
// cannot read earlier packets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/crypto/aead.h"
#include "pep/crypto/hkdf.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {

// The other fields of the nonce, beside the packet number.
struct Sender {
  std::uint8_t lane = 0;
  crypto::Direction direction = crypto::Direction::kFromEven;
  crypto::Nonce nonce(std::uint64_t number) const {
    return crypto::packet_nonce({lane, direction, number});
  }
};

// A secret. A key, a tag and the next secret are derived from it.
class KeyChain {
 public:
  explicit KeyChain(const crypto::Key256& first) : secret_(first) {}
  std::unique_ptr<crypto::Aead> key() const;
  std::uint16_t tag() const;
  void advance();

 private:
  crypto::Key256 secret_;
};

class SendKey {
 public:
  // `next`: the number of the first packet under the key.
  SendKey(const crypto::Key256& first, const Sender& sender, std::uint64_t next, Instant now);

  std::uint16_t tag() const { return tag_; }
  bool phase() const { return phase_; }
  // Encrypts in place what stands between the header and the room for the tag.
  void seal(MutableBytes packet, std::uint64_t number);

  // follow() gives the packets from `next` on a new key. It may be called only after a report has
  // shown that the peer knows the present key: the peer could not tell two new keys apart.
  bool may_follow() const { return confirmed_; }
  std::uint64_t packets(std::uint64_t next) const { return next - first_; }
  Instant since() const { return since_; }
  void follow(std::uint64_t next, Instant now);
  // A report of the peer names `highest` as the highest packet that has arrived.
  void on_reported(std::uint64_t highest) { confirmed_ = confirmed_ || highest >= first_; }

 private:
  KeyChain chain_;
  Sender sender_;
  std::unique_ptr<crypto::Aead> aead_;
  std::uint16_t tag_;
  bool phase_ = false;
  bool confirmed_ = false;
  std::uint64_t first_;  // number of the first packet under the present key
  Instant since_;
};

class ReceiveKey {
 public:
  ReceiveKey(const crypto::Key256& first, const Sender& sender);

  std::uint16_t tag() const { return tag_; }
  // Whether the peer has sent the packet. If so, `plain` holds its frames; it is as long as what
  // stands between header and tag. This call also finds a new key of the peer, and keeps the old
  // one for `keep`.
  bool open(bool phase, std::uint64_t number, ConstBytes packet, MutableBytes plain, Instant now,
            Duration keep);
  // When the old key expires; never() without one.
  Instant expires() const { return previous_ == nullptr ? Instant::never() : previous_until_; }
  void expire(Instant now) {
    if (now >= expires()) previous_.reset();
  }
  std::uint64_t followed() const { return followed_; }  // count of the peer's new keys

 private:
  bool open_with(crypto::Aead& key, std::uint64_t number, ConstBytes packet,
                 MutableBytes plain) const;
  KeyChain chain_;  // its secret is that of `next_`
  Sender sender_;
  std::uint16_t tag_;
  std::unique_ptr<crypto::Aead> previous_;
  std::unique_ptr<crypto::Aead> current_;
  std::unique_ptr<crypto::Aead> next_;
  Instant previous_until_;
  bool phase_ = false;
  std::uint64_t first_ = ~std::uint64_t{0};  // lowest number seen under the present key
  std::uint64_t followed_ = 0;
};

}  // namespace satrelay::stp
