// Derives the keys of a session from the secret that both ends share (docs/stp.md section 16).
//
// Each end makes offers, which are message 1 of Noise_NNpsk0. The other end accepts an offer by
// message 2. Then both ends have the same two keys, one for each direction. HELLOs carry both
// messages. The payload of a message is the content of its HELLO, encrypted. The unencrypted fields
// of the HELLO are not trusted.
//
//   A                                         B
//   HELLO, offer 1 of A  ------------------->         B: A is there, with this boot epoch
//           <-------------------  HELLO, accepts offer 1 of A; offer 1 of B
//   HELLO, accepts offer 1 of B  ----------->         A: B is there now, and can read what A sends
//
// If the peer accepts our offer, it is running now: no other machine could have written the
// acceptance. An offer proves nothing, since an attacker may replay an old one. But an end repeats
// an offer unchanged, and gives each new offer a higher number. So each offer of the peer is read
// once, and the newest counts. An offer of a newcomer is always read, whatever other offers were
// read before. This is safe, since a newcomer without proof does not replace the peer.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "pep/base/time.h"
#include "pep/crypto/noise.h"
#include "pep/stp/connection/hello_mac.h"
#include "pep/stp/connection/security.h"
#include "pep/stp/wire/frames.h"

namespace satrelay::stp {

// The keys of one exchange, from this end's view.
struct SessionKeys {
  crypto::Key256 send;
  crypto::Key256 receive;
};

class KeyExchange {
 public:
  struct Reading {
    enum class Verdict : std::uint8_t {
      // The peer has written `hello`: it was in a new offer, or in an acceptance of our offer.
      kAuthentic,
      kRepeated,  // this offer or acceptance was read before
      kStale,     // an old offer, or an acceptance of an offer that we no longer have
      kForged,
      kNothing,  // the HELLO has neither offer nor acceptance
    };
    Verdict verdict = Verdict::kNothing;
    // `hello.peer_epoch` is our epoch if the HELLO accepts our offer, otherwise 0 for unknown.
    HelloFrame hello;
    std::optional<SessionKeys> keys;  // set if the HELLO accepts our offer
  };

  KeyExchange(const Security& security, std::uint8_t lane, bool opens_even_streams,
              std::uint64_t epoch);

  // Whether a holder of one of our secrets has written this HELLO packet. The packet must have a
  // MAC.
  bool is_genuine(ConstBytes packet) { return mac_.is_genuine(packet, security_); }
  // Whether a genuine HELLO is the first that accepts our current offer. If so, its sender is
  // running now.
  bool answers_offer(const HelloKeys& keys) const;
  // Whether a HELLO accepts our current offer, for the first time or not. To read such an
  // acceptance takes a curve operation.
  bool is_accepted_by(const HelloKeys& keys) const;
  // `peer_silent` means the same as in Handshake::handle_hello(). If it is false, an offer of a
  // boot older than the peer's is stale. read() takes hashes for an offer, and a curve operation
  // for an acceptance, so the caller checks its budget first.
  Reading read(const HelloFrame& clear, const HelloKeys& keys, bool peer_silent);

  // To be called when the boot with this epoch has proved to be the peer, and to have our keys.
  void settle(std::uint64_t peer_epoch);

  // Whether an established peer must accept another offer of ours, as it may not have our keys.
  bool wants_answer() const { return wants_answer_; }
  void want_answer() { wants_answer_ = true; }
  // The offer for the next HELLO. `ours` is the content of that HELLO. Valid until the next call.
  ConstBytes offer(const HelloFrame& ours, Instant now);
  // The acceptance for the next HELLO; empty if there is no offer to accept.
  ConstBytes accept(const HelloFrame& ours);
  // The name of the offer that accept() has accepted.
  ConstBytes accepted() const { return ConstBytes(last_offer_).first(kOfferNameSize); }
  // Writes MAC and checksum of the HELLO packet that contains offer and acceptance.
  void close(MutableBytes packet) {
    mac_.close(packet, security_, accept_.empty() ? HelloMac::Under::kFirst : under_);
  }
  // The keys of the peer's offer that we have accepted, and the boot epoch of the peer that made
  // the offer.
  struct Accepted {
    std::uint64_t epoch = 0;
    SessionKeys keys;
  };
  std::optional<Accepted> take_accepted() { return std::exchange(accepted_, std::nullopt); }
  void set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other);
  // Makes offer() return a new offer next time, as the content of our HELLO has changed.
  void withdraw_offer() { offering_.reset(); }

 private:
  using Bytes = std::vector<std::byte>;
  // Identifies an offer by the boot epoch of its sender, and by its number.
  struct Age {
    std::uint64_t epoch = 0;
    std::uint32_t number = 0;
    friend auto operator<=>(const Age&, const Age&) = default;
  };
  struct Said {
    HelloFrame hello;
    std::uint32_t number = 0;
  };
  struct Offering {
    crypto::NoiseHandshake noise;
    Bytes message;
    Instant at;
    bool was_tried = false;  // an acceptance with a MAC could not be decrypted
  };

  Bytes prologue(bool from_even) const;
  crypto::PrivateKey ephemeral();
  static Bytes payload(const HelloFrame& hello, std::uint32_t number);
  static std::optional<Said> parse(ConstBytes payload);
  std::optional<Said> read_accept(ConstBytes message, Reading& reading);
  std::optional<Said> read_offer(ConstBytes message, bool peer_silent, Reading& reading);

  Security security_;
  HelloMac mac_;
  std::uint8_t lane_;
  bool is_even_;
  std::uint64_t epoch_;

  std::optional<Offering> offering_;
  std::uint32_t offers_ = 0;
  Bytes last_accept_;  // the last acceptance that was read

  Bytes last_offer_;  // the last offer that was read, from the peer or from a newcomer
  HelloMac::Under under_ = HelloMac::Under::kFirst;  // the secret of last_offer_
  Age last_;                                         // age of last_offer_
  Age newest_;                                       // age of the newest offer of the peer
  std::optional<crypto::NoiseHandshake> accepting_;  // set until message 2 is written
  Bytes accept_;
  std::optional<Accepted> accepted_;
  bool wants_answer_ = false;
};

}  // namespace satrelay::stp
