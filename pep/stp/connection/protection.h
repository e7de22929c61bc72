// Protects the packets of a session, and checks them on arrival (docs/stp-wire.md sections 3 and
// 16): with a checksum, or with keys if the session encrypts.
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
  // `security` is nullopt if the packets of the session have only a checksum.
  Protection(const std::optional<Security>& security, std::uint8_t lane, bool opens_even_streams,
             std::size_t datagram_size);

  bool encrypts() const { return key_life_.has_value(); }
  std::size_t trailer_size() const { return encrypts() ? crypto::kTagSize : kTrailerSize; }

  // --- keys ----------------------------------------------------------------------------------
  // Forgets keys and epochs. No packet can be sent or opened until new keys or epochs are set.
  void clear();
  // Sets the boot epochs of both ends, for a session with a checksum.
  void bind(std::uint64_t own_epoch, std::uint64_t peer_epoch);
  // Adds the keys of an exchange. The peer may send with these keys from now on. `offerer` is the
  // end that made the accepted offer. For each of the two ends, only the last keys are kept.
  enum class Offerer : std::uint8_t { kWe, kPeer };
  void propose(Offerer offerer, const SessionKeys& keys);
  // Sends the packets from `next` on under `key`.
  void send_with(const crypto::Key256& key, std::uint64_t next, Instant now) {
    send_.emplace(key, sender(is_even_), next, now);
  }
  // To be called after a packet of the peer was opened. If the packet was opened with the keys of a
  // new exchange, we send with the key of that exchange, unless the current key can still be used
  // (is_worn_out()).
  void send_with_proven(std::uint64_t next, Instant now);

  // --- sending -------------------------------------------------------------------------------
  // To be called before packet `next` is sent. Switches to the next key when that is due.
  void prepare(std::uint64_t next, Instant now);
  // Whether no more packets may be sent under the current key. This is so if many packets were
  // sent, but no report has shown that the peer knows the key.
  bool is_worn_out(std::uint64_t next) const;
  // Whether packets have been sent under the current key for the time `patience`, and no report has
  // shown that the peer knows the key. The peer may have another key from a simultaneous exchange.
  bool is_unconfirmed(std::uint64_t next, Duration patience, Instant now) const {
    return send_ && !send_->may_follow() && send_->packets(next) > 0 &&
           now - send_->since() >= patience;
  }
  // Whether keys of another exchange should replace the current key. They should if no report has
  // shown that the peer knows the current key, because the peer may know only the keys of the last
  // exchange.
  bool may_replace(std::uint64_t next) const {
    return send_ && (!send_->may_follow() || is_worn_out(next));
  }
  // Returns the packet number before which prepare() need not be called again: the packets from
  // `next` on can be sent under the current key. Returns `next` if no packet was sent under the key
  // yet.
  std::uint64_t same_key_until(std::uint64_t next) const {
    if (!send_) return std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t packets = send_->packets(next);
    return packets == 0 ? next : next - packets + key_life_->packets;
  }
  std::uint16_t tag() const { return encrypts() ? send_->tag() : send_seal_.tag(); }
  bool phase() const { return encrypts() && send_->phase(); }
  // Encrypts a packet, if the session encrypts, and writes its trailer. Header and frames must
  // already be before the space for the trailer.
  void close(MutableBytes packet, std::uint64_t number);
  void on_reported(std::uint64_t highest) {
    if (send_) send_->on_reported(highest);
  }

  // --- receiving -----------------------------------------------------------------------------
  // Whether the tag belongs to the session. Takes one to three comparisons.
  bool recognizes(std::uint16_t tag) const;
  // Returns the frames of a packet from the peer, valid until the next call. Returns nullopt if
  // another machine sent the packet, or if it was changed on the path. If the peer has switched to
  // a new key, the old key is kept for the time `keep`.
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

  // The observer gets every packet of close() and open() unencrypted. nullptr removes the observer.
  void set_observer(PacketObserver* observer) { observer_ = observer; }
  void show(PacketObserver::Way way, ConstBytes packet, std::size_t trailer) const {
    if (observer_ == nullptr) return;
    observer_->see(way, packet.first(kHeaderSize),
                   packet.subspan(kHeaderSize, packet.size() - kHeaderSize - trailer));
  }

  std::uint64_t keys_out() const { return keys_out_; }  // how often we have switched to a new key
  std::uint64_t keys_in() const { return keys_in_ + (receive_ ? receive_->followed() : 0); }

 private:
  struct Proposal {
    ReceiveKey receive;
    crypto::Key256 send;
  };
  Sender sender(bool is_even) const;
  std::optional<ConstBytes> unseal(const PacketHeader& header, std::uint64_t number,
                                   ConstBytes packet, Instant now, Duration keep);

  // Set if the session encrypts. The shared secrets are not kept here.
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
  std::optional<crypto::Key256> proven_;  // our send key from the same exchange as receive_
  std::array<std::optional<Proposal>, 2> proposals_;
  std::vector<std::byte> plain_;
  PacketObserver* observer_ = nullptr;
  std::uint64_t keys_out_ = 0;
  std::uint64_t keys_in_ = 0;
};

}  // namespace satrelay::stp
