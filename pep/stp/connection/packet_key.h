// The sequence of keys in one direction of a session (docs/stp.md section 16). Bit K of a packet's
// header says whether the number of its key is even or odd. Each key is derived from the previous
// one. A previous key cannot be derived from a later one, so an attacker that gets a key cannot
// read earlier packets.
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

// The fields of the nonce other than the packet number.
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
  // `next` is the number of the first packet under the key.
  SendKey(const crypto::Key256& first, const Sender& sender, std::uint64_t next, Instant now);

  std::uint16_t tag() const { return tag_; }
  bool phase() const { return phase_; }
  // Encrypts in place the bytes between the header and the space for the tag.
  void seal(MutableBytes packet, std::uint64_t number);

  // follow() switches to a new key for the packets from `next` on. It may only be called after a
  // report has shown that the peer knows the current key. Otherwise the peer would see two new
  // keys, and could not distinguish them.
  bool may_follow() const { return confirmed_; }
  std::uint64_t packets(std::uint64_t next) const { return next - first_; }
  Instant since() const { return since_; }
  void follow(std::uint64_t next, Instant now);
  // A report of the peer names `highest` as the highest packet number that has arrived.
  void on_reported(std::uint64_t highest) { confirmed_ = confirmed_ || highest >= first_; }

 private:
  KeyChain chain_;
  Sender sender_;
  std::unique_ptr<crypto::Aead> aead_;
  std::uint16_t tag_;
  bool phase_ = false;
  bool confirmed_ = false;
  std::uint64_t first_;  // number of the first packet under the current key
  Instant since_;
};

class ReceiveKey {
 public:
  ReceiveKey(const crypto::Key256& first, const Sender& sender);

  std::uint16_t tag() const { return tag_; }
  // Returns whether the peer has sent the packet. If so, `plain` contains its frames; `plain` must
  // have the size of the bytes between header and tag. This call also detects that the peer uses a
  // new key, and keeps the old key for the time `keep`.
  bool open(bool phase, std::uint64_t number, ConstBytes packet, MutableBytes plain, Instant now,
            Duration keep);
  // When the old key expires; never() if there is none.
  Instant expires() const { return previous_ == nullptr ? Instant::never() : previous_until_; }
  void expire(Instant now) {
    if (now >= expires()) previous_.reset();
  }
  // How often the peer has switched to a new key.
  std::uint64_t followed() const { return followed_; }

 private:
  bool open_with(crypto::Aead& key, std::uint64_t number, ConstBytes packet,
                 MutableBytes plain) const;
  KeyChain chain_;  // holds the secret of `next_`
  Sender sender_;
  std::uint16_t tag_;
  std::unique_ptr<crypto::Aead> previous_;
  std::unique_ptr<crypto::Aead> current_;
  std::unique_ptr<crypto::Aead> next_;
  Instant previous_until_;
  bool phase_ = false;
  std::uint64_t first_ = ~std::uint64_t{0};  // lowest packet number seen under the current key
  std::uint64_t followed_ = 0;
};

}  // namespace satrelay::stp
