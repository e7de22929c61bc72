// The keys of a session, from the secret that both ends share (docs/stp.md section 16).
//
// Either end offers: message 1 of Noise_NNpsk0. The other accepts: message 2. Both then have the
// same two keys, one a direction. Both messages travel in HELLOs, and their payload is what the
// HELLO says, sealed: what stands in the clear beside it is believed of no one.
//
//   A                                         B
//   HELLO, offer 1 of A  ------------------->         B: A is there, with this boot epoch
//           <-------------------  HELLO, accepts offer 1 of A; offer 1 of B
//   HELLO, accepts offer 1 of B  ----------->         A: B is there now, and can read what A sends
//
// An accepted offer is proof that its acceptor is there now: nobody else could have answered it.
// An offer is not: it may be an old one, played again. But as long as one is repeated it stays the
// same, and a new one has a higher number; so those of the peer are read once each, and the newest
// counts. Those of a newcomer are read whatever others have offered: until there is proof of it, it
// is in nobody's way.
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

// Of one exchange, as this end uses them.
struct SessionKeys {
  crypto::Key256 send;
  crypto::Key256 receive;
};

class KeyExchange {
 public:
  struct Reading {
    enum class Verdict : std::uint8_t {
      kAuthentic,  // `hello` is what the peer has said, under a fresh offer or accepting ours
      kRepeated,   // of an offer or an acceptance that was read before
      kStale,      // an old offer, or an acceptance of one that we know no more
      kForged,
      kNothing,  // neither offer nor acceptance
    };
    Verdict verdict = Verdict::kNothing;
    // peer_epoch is ours if the HELLO accepts our offer, else 0: we cannot know.
    HelloFrame hello;
    std::optional<SessionKeys> keys;  // if it does
  };

  KeyExchange(const Security& security, std::uint8_t lane, bool opens_even_streams,
              std::uint64_t epoch);

  // Whether somebody with a secret of ours has written a HELLO packet that has a MAC.
  bool is_genuine(ConstBytes packet) { return mac_.is_genuine(packet, security_); }
  // Whether a genuine HELLO accepts the offer that we have out, for the first time: its sender is
  // there now.
  bool answers_offer(const HelloKeys& keys) const;
  // Whether it accepts that offer at all: to read that takes a curve.
  bool is_accepted_by(const HelloKeys& keys) const;
  // `peer_silent`: as in Handshake; else an offer of an older boot than the peer's is stale. Takes
  // hashes for an offer, and a curve for an acceptance: whoever calls has asked whether that may
  // be.
  Reading read(const HelloFrame& clear, const HelloKeys& keys, bool peer_silent);

  // The peer is now the boot with this epoch, and has keys of ours: there is proof of it.
  void settle(std::uint64_t peer_epoch);

  // Whether the peer shall accept an offer of ours although it is known: it may not have our keys.
  bool wants_answer() const { return wants_answer_; }
  void want_answer() { wants_answer_ = true; }
  // What the next HELLO carries beside `ours`; valid until the next call.
  ConstBytes offer(const HelloFrame& ours, Instant now);
  // Empty: there is no offer to accept.
  ConstBytes accept(const HelloFrame& ours);
  // The name of the offer that accept() was for.
  ConstBytes accepted() const { return ConstBytes(last_offer_).first(kOfferNameSize); }
  // Fills in MAC and checksum of a HELLO packet with all of that.
  void close(MutableBytes packet) {
    mac_.close(packet, security_, accept_.empty() ? HelloMac::Under::kFirst : under_);
  }
  // Once, after an offer has been accepted: its keys, and of which boot it is.
  struct Accepted {
    std::uint64_t epoch = 0;
    SessionKeys keys;
  };
  std::optional<Accepted> take_accepted() { return std::exchange(accepted_, std::nullopt); }
  void set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other);
  // What we have to say has changed: the next offer is a new one.
  void withdraw_offer() { offering_.reset(); }

 private:
  using Bytes = std::vector<std::byte>;
  // Which offer of which boot.
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
    bool was_tried = false;  // by an acceptance that was none
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
  Bytes last_accept_;  // of ours, that was read

  Bytes last_offer_;                                 // that was read, of the peer or a newcomer
  HelloMac::Under under_ = HelloMac::Under::kFirst;  // which secret it was
  Age last_;                                         // the same
  Age newest_;                                       // of the peer
  std::optional<crypto::NoiseHandshake> accepting_;  // message 2 is not written yet
  Bytes accept_;
  std::optional<Accepted> accepted_;
  bool wants_answer_ = false;
};

}  // namespace satrelay::stp
