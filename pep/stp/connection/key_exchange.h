// The keys of a session, from the secret that both ends share (docs/stp.md section 16).
//
// Either end offers: message 1 of Noise_NNpsk0. The other end accepts: message 2. Both then have
// the same two keys, one for each direction. Both messages travel in HELLOs. Their payload is the
// HELLO itself, sealed. The fields in the clear beside it are not trusted.
//
//   A                                         B
//   HELLO, offer 1 of A  ------------------->         B: A is there, with this boot epoch
//           <-------------------  HELLO, accepts offer 1 of A; offer 1 of B
//   HELLO, accepts offer 1 of B  ----------->         A: B is there now, and can read what A sends
//
// An acceptance of our offer proves that the peer is there now: no other machine could have written
// it. An offer is no such proof, since an attacker may replay an old one. But an end repeats an
// offer unchanged, and gives each new one a higher number. So each offer of the peer is read once,
// and the newest counts. An offer of a newcomer is read whatever other ends have offered: a
// newcomer without proof replaces no peer.
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

// The keys of one exchange, as this end uses them.
struct SessionKeys {
  crypto::Key256 send;
  crypto::Key256 receive;
};

class KeyExchange {
 public:
  struct Reading {
    enum class Verdict : std::uint8_t {
      kAuthentic,  // `hello` is from the peer: sealed in a fresh offer, or in an acceptance of ours
      kRepeated,   // the offer or the acceptance was read before
      kStale,      // an old offer, or an acceptance of an offer that we no longer have
      kForged,
      kNothing,  // neither offer nor acceptance
    };
    Verdict verdict = Verdict::kNothing;
    // peer_epoch is ours if the HELLO accepts our offer, else 0, since we cannot know it.
    HelloFrame hello;
    std::optional<SessionKeys> keys;  // if the HELLO accepts our offer
  };

  KeyExchange(const Security& security, std::uint8_t lane, bool opens_even_streams,
              std::uint64_t epoch);

  // Whether a holder of one of our secrets has written a HELLO packet that has a MAC.
  bool is_genuine(ConstBytes packet) { return mac_.is_genuine(packet, security_); }
  // Whether a genuine HELLO is the first to accept our current offer. Then its sender is there now.
  bool answers_offer(const HelloKeys& keys) const;
  // Whether it accepts our current offer at all. To read such an acceptance takes a curve.
  bool is_accepted_by(const HelloKeys& keys) const;
  // `peer_silent`: as in Handshake. If it is false, an offer of a boot older than the peer's is
  // stale. read() takes hashes for an offer and a curve for an acceptance, so the caller checks its
  // budget first.
  Reading read(const HelloFrame& clear, const HelloKeys& keys, bool peer_silent);

  // There is proof that the peer is the boot with this epoch, and that it has keys of ours.
  void settle(std::uint64_t peer_epoch);

  // Whether an established peer must accept another offer of ours, as it may not have our keys.
  bool wants_answer() const { return wants_answer_; }
  void want_answer() { wants_answer_ = true; }
  // The offer that the next HELLO carries beside `ours`; valid until the next call.
  ConstBytes offer(const HelloFrame& ours, Instant now);
  // The acceptance that the next HELLO carries. Empty: there is no offer to accept.
  ConstBytes accept(const HelloFrame& ours);
  // The name of the offer that accept() has accepted.
  ConstBytes accepted() const { return ConstBytes(last_offer_).first(kOfferNameSize); }
  // Fills in MAC and checksum of the HELLO packet that carries offer and acceptance.
  void close(MutableBytes packet) {
    mac_.close(packet, security_, accept_.empty() ? HelloMac::Under::kFirst : under_);
  }
  // The keys of the peer's offer that we have accepted, and the boot that offered. Returned once.
  struct Accepted {
    std::uint64_t epoch = 0;
    SessionKeys keys;
  };
  std::optional<Accepted> take_accepted() { return std::exchange(accepted_, std::nullopt); }
  void set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other);
  // The content of our HELLO has changed, so the next offer is a new one.
  void withdraw_offer() { offering_.reset(); }

 private:
  using Bytes = std::vector<std::byte>;
  // Identifies an offer by its boot and its number.
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
    bool was_tried = false;  // an acceptance with a MAC was tried, and could not be opened
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
  Bytes last_accept_;  // the last acceptance of an offer of ours that was read

  Bytes last_offer_;  // the last offer that was read, from the peer or a newcomer
  HelloMac::Under under_ = HelloMac::Under::kFirst;  // the secret of that offer
  Age last_;                                         // age of that offer
  Age newest_;                                       // age of the newest offer of the peer
  std::optional<crypto::NoiseHandshake> accepting_;  // set while message 2 is not written yet
  Bytes accept_;
  std::optional<Accepted> accepted_;
  bool wants_answer_ = false;
};

}  // namespace satrelay::stp
