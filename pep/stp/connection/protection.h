// How the packets of a session are closed and opened (docs/stp.md sections 3 and 16): with a
// checksum, or, of a session that encrypts, with keys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "pep/base/time.h"
#include "pep/stp/connection/key_exchange.h"
#include "pep/stp/connection/packet_key.h"
#include "pep/stp/connection/security.h"
#include "pep/stp/wire/packet.h"
#include "pep/stp/wire/packet_observer.h"

namespace satrelay::stp {

class Protection {
 public:
  // `security`: nullopt for a checksum.
  Protection(const std::optional<Security>& security, std::uint8_t lane, bool opens_even_streams,
             std::size_t datagram_size);

  bool encrypts() const { return key_life_.has_value(); }
  std::size_t trailer_size() const { return encrypts() ? crypto::kTagSize : kTrailerSize; }

  // --- keys ----------------------------------------------------------------------------------
  // Nothing is sent or understood any more.
  void clear();
  // With a checksum: the session of these two boots.
  void bind(std::uint64_t own_epoch, std::uint64_t peer_epoch);
  // Keys of an exchange that the peer may send under from now on. Whoever has offered proposes: one
  // of each is remembered.
  enum class Offerer : std::uint8_t { kWe, kPeer };
  void propose(Offerer offerer, const SessionKeys& keys);
  // Of what is sent from packet `next` on.
  void send_with(const crypto::Key256& key, std::uint64_t next, Instant now) {
    send_.emplace(key, sender(is_even_), next, now);
  }
  // The same, once the peer has sent under proposed keys: with the other of them, unless there is a
  // key already that is not worn out.
  void send_with_proven(std::uint64_t next, Instant now);

  // --- the way out ---------------------------------------------------------------------------
  // Before packet `next` is sent: the next key takes the place of the present one when due.
  void prepare(std::uint64_t next, Instant now);
  // The peer has not heard of the key for so long that nothing more may be sent under it.
  bool is_worn_out(std::uint64_t next) const;
  // The same for `patience`: it may know another key instead, of an exchange that was under way.
  bool is_unconfirmed(std::uint64_t next, Duration patience, Instant now) const {
    return send_ && !send_->may_follow() && send_->packets(next) > 0 &&
           now - send_->since() >= patience;
  }
  // Whether the keys of another exchange shall take the place of the present one: as long as the
  // peer has not told that it knows that, it knows the newest that it has accepted.
  bool may_replace(std::uint64_t next) const {
    return send_ && (!send_->may_follow() || is_worn_out(next));
  }
  // Up to this packet, from `next` on, all is sent under the present key with nothing to ask: at
  // least one has been, unless it is `next`.
  std::uint64_t same_key_until(std::uint64_t next) const {
    if (!send_) return std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t packets = send_->packets(next);
    return packets == 0 ? next : next - packets + key_life_->packets;
  }
  std::uint16_t tag() const { return encrypts() ? send_->tag() : send_seal_.tag(); }
  bool phase() const { return encrypts() && send_->phase(); }
  // Fills the trailer of a packet whose header and frames stand in front of it, and encrypts.
  void close(MutableBytes packet, std::uint64_t number);
  void on_reported(std::uint64_t highest) {
    if (send_) send_->on_reported(highest);
  }

  // --- the way in ----------------------------------------------------------------------------
  // Whether the tag is that of the session; costs a comparison or three.
  bool recognizes(std::uint16_t tag) const;
  // The frames of a packet that the peer has sent, until the next call; nullopt if another has, or
  // the packet has changed on the way. Its old key is kept for `keep`.
  std::optional<ConstBytes> open(const PacketHeader& header, std::uint64_t number,
                                 ConstBytes packet, Instant now, Duration keep) {
    const auto frames = unseal(header, number, packet, now, keep);
    if (frames && observer_ != nullptr) {
      observer_->see(PacketObserver::Way::kReceived, packet.first(kHeaderSize), *frames);
    }
    return frames;
  }
  Instant next_timeout() const { return receive_ ? receive_->expires() : Instant::never(); }
  void expire(Instant now) {
    if (receive_) receive_->expire(now);
  }

  // Sees every packet that close() and open() see, with no secret left in it; nullptr: nobody.
  void set_observer(PacketObserver* observer) { observer_ = observer; }
  void show(PacketObserver::Way way, ConstBytes packet, std::size_t trailer) const {
    if (observer_ == nullptr) return;
    observer_->see(way, packet.first(kHeaderSize),
                   packet.subspan(kHeaderSize, packet.size() - kHeaderSize - trailer));
  }

  std::uint64_t keys_out() const { return keys_out_; }  // new keys of ours
  std::uint64_t keys_in() const { return keys_in_ + (receive_ ? receive_->followed() : 0); }

 private:
  struct Proposal {
    ReceiveKey receive;
    crypto::Key256 send;
  };
  Sender sender(bool is_even) const;
  std::optional<ConstBytes> unseal(const PacketHeader& header, std::uint64_t number,
                                   ConstBytes packet, Instant now, Duration keep);

  // Of a session that encrypts; the secrets are none of ours.
  struct KeyLife {
    std::uint64_t packets = 0;
    Duration time;
  };
  std::optional<KeyLife> key_life_;
  std::uint8_t lane_;
  bool is_even_;
  SessionSeal send_seal_;
  SessionSeal receive_seal_;
  bool is_bound_ = false;
  std::optional<SendKey> send_;
  std::optional<ReceiveKey> receive_;
  std::optional<crypto::Key256> proven_;  // the other key of the exchange that receive_ is from
  std::array<std::optional<Proposal>, 2> proposals_;
  std::vector<std::byte> plain_;
  PacketObserver* observer_ = nullptr;
  std::uint64_t keys_out_ = 0;
  std::uint64_t keys_in_ = 0;
};

}  // namespace satrelay::stp
