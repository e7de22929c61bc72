// A packet under construction: its frames, after space for the header, and the list of items to
// retransmit if the packet is lost.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "pep/control/rate_controller.h"
#include "pep/stp/connection/protection.h"
#include "pep/stp/numbers/sent_ledger.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/wire/frames.h"
#include "pep/stp/wire/packet.h"

namespace satrelay::stp {

static_assert(SentItem::kGenerationMask == Stream::kGenerationMask);

class PacketBuilder {
 public:
  PacketBuilder(MutableBytes room, std::size_t trailer)
      : room_(room), trailer_(trailer), frames_(frames_in(room, trailer)) {}
  // Begins the next packet, after the previous one was closed.
  void renew(MutableBytes room) {
    room_ = room;
    frames_ = ByteWriter(frames_in(room, trailer_));
    item_count_ = 0;
    purpose_ = control::Purpose::kControl;
    eliciting_ = is_protected_ = false;
  }

  ByteWriter& frames() { return frames_; }
  std::size_t remaining() const { return frames_.remaining(); }
  bool empty() const { return frames_.written() == (is_protected_ ? kCodedFrameSize : 0); }
  bool fits(std::size_t frame) const { return frame <= remaining() && can_add_item(); }
  bool can_add_item() const { return item_count_ < items_.size(); }
  void add_item(const SentItem& item) {
    items_[item_count_++] = item;
    eliciting_ = true;
  }
  void add_item(ItemKind kind, const Stream& stream) {
    add_item(SentItem::make(kind, stream.index, stream.generation));
  }
  std::span<const SentItem> items() const { return std::span(items_).first(item_count_); }

  // Sets the purpose of the packet for the rate controller. If the packet has several purposes, the
  // highest counts.
  void carries(control::Purpose purpose) { purpose_ = std::max(purpose_, purpose); }
  control::Purpose purpose() const { return purpose_; }

  // Lets a REPAIR frame cover this packet. To be called while the packet is empty.
  void protect(const CodedFrame& frame) {
    write_coded(frames_, frame);
    is_protected_ = true;
  }
  bool is_protected() const { return is_protected_; }

  // Fills the rest of the packet with PADDING.
  void pad() {
    const MutableBytes rest = frames_.reserve(frames_.remaining());
    std::fill(rest.begin(), rest.end(), std::byte{0});
  }

  void set_eliciting() { eliciting_ = true; }
  bool eliciting() const { return eliciting_; }

  // All frames written so far. Valid until the packet is closed.
  ConstBytes written() const { return room_.subspan(kHeaderSize, frames_.written()); }
  // The frames that a REPAIR covers. The packet must be protected.
  ConstBytes covered() const { return written().subspan(kCodedFrameSize); }

  // Adds header and trailer. Returns the whole packet, which has the number `number` in its
  // session.
  MutableBytes close(PacketHeader header, std::uint64_t number, Protection& protection) {
    header.session_tag = protection.tag();
    header.key_phase = protection.phase();
    header.number = static_cast<std::uint32_t>(number);
    const MutableBytes packet = begin_packet(header);
    protection.close(packet, number);
    return packet;
  }
  // Does the same for a packet outside any session.
  MutableBytes close(const PacketHeader& header) {
    const MutableBytes packet = begin_packet(header);
    SessionSeal().close(packet);
    return packet;
  }

 private:
  static MutableBytes frames_in(MutableBytes room, std::size_t trailer) {
    return room.subspan(kHeaderSize, room.size() - kHeaderSize - trailer);
  }
  MutableBytes begin_packet(const PacketHeader& header) {
    const MutableBytes packet = room_.first(kHeaderSize + frames_.written() + trailer_);
    write_header(header, packet.data());
    return packet;
  }
  MutableBytes room_;
  std::size_t trailer_;
  ByteWriter frames_;
  std::array<SentItem, SentLedger::kMaxItems> items_;
  std::size_t item_count_ = 0;
  control::Purpose purpose_ = control::Purpose::kControl;
  bool eliciting_ = false;
  bool is_protected_ = false;
};

}  // namespace satrelay::stp
