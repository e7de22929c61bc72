#include "relay/dpdk/socket/socket_receiver.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"
#include "relay/dpdk/socket/finish_checksum.h"

namespace satrelay::dpdk {
namespace {

constexpr std::size_t kAddresses = 12;  // bytes of the two MAC addresses; a VLAN tag follows them
// Maximum number of system calls in one receive(). Without this limit, the loop would go on as long
// as all received frames are dropped.
constexpr unsigned kMostFetches = 4;

std::optional<wire::SegmentedProtocol> protocol_of(const OffloadHeader& head) {
  switch (head.kind & ~OffloadHeader::kEcn) {
    case OffloadHeader::kTcpV4:
    case OffloadHeader::kTcpV6:
      return wire::SegmentedProtocol::kTcp;
    case OffloadHeader::kUdp:
      return wire::SegmentedProtocol::kUdp;
    default:
      return std::nullopt;
  }
}

// Returns the VLAN tag that the kernel has removed from the frame; 0 if there was none.
std::uint32_t tag_of(const msghdr& message) {
  for (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr;
       c = CMSG_NXTHDR(const_cast<msghdr*>(&message), const_cast<cmsghdr*>(c))) {
    if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA) continue;
    tpacket_auxdata data{};
    std::memcpy(&data, CMSG_DATA(c), sizeof data);
    if ((data.tp_status & TP_STATUS_VLAN_VALID) == 0) return 0;
    const bool named = (data.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    const std::uint32_t protocol = named ? data.tp_vlan_tpid : std::uint16_t{ETH_P_8021Q};
    return protocol << 16 | data.tp_vlan_tci;
  }
  return 0;
}

// Inserts the VLAN tag, and returns the new beginning of the frame. Needs four free bytes in front
// of `frame`.
std::byte* put_tag(std::byte* frame, std::uint32_t tag) {
  std::byte* begin = frame - 4;
  std::memmove(begin, frame, kAddresses);
  store_u32(begin + kAddresses, tag);
  return begin;
}

}  // namespace

SocketReceiver::SocketReceiver(int descriptor, PacketPool& pool, std::uint16_t mtu)
    : descriptor_(descriptor),
      pool_(pool),
      mtu_(mtu),
      longest_(mtu + 14U + 8U),
      room_(PacketPool::room_for(mtu)),
      stride_(kTag + room_ + kOverflow),
      large_(kBatch * stride_) {}

bool SocketReceiver::prepare(Slot& slot, mmsghdr& message, std::byte* overflow) {
  if (!slot.packet) slot.packet = pool_.allocate();
  if (!slot.packet) return false;
  slot.parts = {{{.iov_base = &slot.head, .iov_len = sizeof slot.head},
                 {.iov_base = slot.packet.room().data(), .iov_len = room_},
                 {.iov_base = overflow, .iov_len = kOverflow}}};
  message.msg_hdr = {.msg_name = nullptr,
                     .msg_namelen = 0,
                     .msg_iov = slot.parts.data(),
                     .msg_iovlen = slot.parts.size(),
                     .msg_control = slot.control.data(),
                     .msg_controllen = slot.control.size(),
                     .msg_flags = 0};
  return true;
}

// Returns true if more frames may wait.
bool SocketReceiver::fetch() {
  const std::size_t wanted = large_came_ ? kLargeBatch : kBatch;
  std::size_t count = 0;
  while (count < wanted &&
         prepare(slots_[count], messages_[count], large_.data() + count * stride_ + kTag + room_)) {
    ++count;
  }
  if (count < wanted) ++counters_.no_buffer;
  if (count == 0) return false;
  const auto ask = [&] {
    return ::recvmmsg(descriptor_, messages_.data(), static_cast<unsigned>(count), MSG_DONTWAIT,
                      nullptr);
  };
  int got = ask();
  // The call fails if the offload header cannot describe the frame, for example after LRO. The
  // kernel has dropped this frame, so call again for the next frame.
  for (std::size_t i = 0; got < 0 && errno == EINVAL && i < kBatch; ++i) {
    ++counters_.uncut;
    got = ask();
  }
  if (got < 0 && errno == EINVAL) ++counters_.uncut;
  next_ = 0;
  fetched_ = got > 0 ? static_cast<std::size_t>(got) : 0;
  large_came_ = false;
  return fetched_ == count;
}

// `large`: memory for a frame that does not fit into slot.packet. The kernel has written the first
// part of such a frame into the packet, and the last part into `large`.
void SocketReceiver::open(Slot& slot, const mmsghdr& message, std::byte* large) {
  const std::size_t size =
      message.msg_len - std::min<std::size_t>(message.msg_len, sizeof slot.head);
  if ((message.msg_hdr.msg_flags & MSG_TRUNC) != 0 || size < ETH_HLEN) {
    ++counters_.uncut;
    return;
  }
  const std::uint32_t tag = tag_of(message.msg_hdr);
  const std::size_t tag_size = tag != 0 ? kTag : 0;
  std::byte* begin = slot.packet.room().data();
  if (size > room_) {
    std::memcpy(large, begin, room_);
    begin = large;
  }
  if (tag != 0) begin = put_tag(begin, tag);
  const MutableBytes frame(begin, size + tag_size);
  if (slot.head.kind != OffloadHeader::kNotLarge) {
    open_large(slot, frame, tag_size);
    return;
  }
  if (exceeds_mtu(frame) && cut_to_mtu(slot, frame, tag_size)) return;
  if (frame.size() > longest_) return begin_cut(false);
  slot.packet.grow_front(tag_size);
  slot.packet.set_size(frame.size());
  if ((slot.head.flags & OffloadHeader::kNeedsChecksum) != 0) finish(slot, frame, tag_size);
  ready_ = std::move(slot.packet);
}

// Completes the checksum that the sender has left to its network card. For the checksum of an inner
// header in a tunnel, and for SCTP's CRC, the position is taken from the offload header.
void SocketReceiver::finish(Slot& slot, MutableBytes frame, std::size_t tag) {
  const std::size_t start = slot.head.checksum_start + tag;
  if (finish_checksum(frame, start)) {
    slot.packet.set_checked();
  } else if (!finish_checksum_at(frame, start, slot.head.checksum_offset)) {
    return;
  }
  ++counters_.checksums_finished;
}

void SocketReceiver::open_large(const Slot& slot, ConstBytes frame, std::size_t tag) {
  const auto protocol = protocol_of(slot.head);
  if (!protocol) return begin_cut(false);
  cutting_ = wire::Segmenter::of(frame, *protocol, slot.head.segment_size);
  // The offload header does not say whether the frame belongs to a tunnel. But checksum_start is
  // the offset of the transport header of the segments. If this is not the outer transport header,
  // there is a tunnel.
  const std::size_t start = slot.head.checksum_start + tag;
  const bool is_left = (slot.head.flags & OffloadHeader::kNeedsChecksum) != 0;
  if (is_left && !(cutting_ && cutting_->transport_at() == start)) {
    const auto tunnel = wire::Tunnel::around(frame, start);
    cutting_ = tunnel ? wire::Segmenter::of(frame, *tunnel, *protocol, slot.head.segment_size)
                      : std::nullopt;
  }
  if (cutting_ && protocol == wire::SegmentedProtocol::kTcp && cutting_->longest_packet() > mtu_ &&
      cut_to_mtu(slot, frame, tag)) {
    return;
  }
  begin_cut(cutting_ && cutting_->longest() <= longest_);
}

// longest_ allows for two VLAN tags. If a frame without tags had 8 bytes more payload instead, the
// other port could not send the frame.
bool SocketReceiver::exceeds_mtu(ConstBytes frame) const {
  if (frame.size() <= mtu_ + wire::kEthernetHeaderSize) return false;
  if (frame.size() > longest_) return true;
  const auto ethernet = wire::parse_ethernet(frame);
  if (!ethernet || frame.size() <= mtu_ + ethernet->size()) return false;
  const auto ip = wire::parse_ip(frame.subspan(ethernet->size()));
  return ip && std::size_t{ip->header_size} + ip->payload_size > mtu_;
}

// Begins to cut a TCP frame that exceeds the MTU. Such a frame comes from a host with a larger MTU,
// or from a device that has merged segments and does not report their size. TCP is a byte stream,
// which may be divided into any segments (RFC 9293 section 3.7). Frames of other protocols are not
// cut: the pieces would not be packets that their sender made. Returns false if the frame cannot be
// cut.
bool SocketReceiver::cut_to_mtu(const Slot& slot, ConstBytes frame, std::size_t tag) {
  auto whole = wire::Segmenter::of(frame, wire::SegmentedProtocol::kTcp, frame.size());
  const bool is_left = (slot.head.flags & OffloadHeader::kNeedsChecksum) != 0;
  const bool is_sound = whole && whole->fit(mtu_) &&
                        (is_left ? slot.head.checksum_start + tag == whole->transport_at()
                                 : whole->checksum_is_right());
  if (!is_sound) return false;
  cutting_ = whole;
  begin_cut(true);
  ++counters_.oversized;
  return true;
}

void SocketReceiver::begin_cut(bool is_sound) {
  if (!is_sound) {
    cutting_.reset();
    ++counters_.uncut;
    return;
  }
  large_came_ = true;
  ++counters_.large;
}

void SocketReceiver::deliver(Burst& burst, Packet packet) {
  ++counters_.frames;
  counters_.bytes += packet.size();
  packet.set_received();
  burst.push(std::move(packet));
}

// Adds segments of the frame in cutting_ to the burst. Returns false if the pool is empty.
bool SocketReceiver::cut(Burst& burst) {
  while (!burst.full() && !cutting_->done()) {
    Packet packet = pool_.allocate();
    if (!packet) {
      ++counters_.no_buffer;
      return false;
    }
    packet.set_size(cutting_->next_size());
    cutting_->write_next(packet.mutable_bytes());
    // Do not mark a packet of a tunnel as checked: the tunnel itself may have no checksum.
    if (!cutting_->is_in_tunnel()) packet.set_checked();
    deliver(burst, std::move(packet));
  }
  if (cutting_->done()) cutting_.reset();
  return true;
}

std::size_t SocketReceiver::drain(Burst& burst) {
  const std::size_t before = burst.size();
  while (!burst.full()) {
    if (cutting_ && !cut(burst)) break;
    if (burst.full()) break;
    if (next_ == fetched_) break;
    const std::size_t i = next_++;
    open(slots_[i], messages_[i], large_.data() + i * stride_ + kTag);
    if (ready_) deliver(burst, std::move(ready_));
  }
  return burst.size() - before;
}

std::size_t SocketReceiver::receive(Burst& burst) {
  std::size_t count = drain(burst);
  // If the burst is not full, the caller may conclude that no frame waits. So continue until the
  // burst is full or no frame waits. No frame waits if a system call returns fewer frames than
  // requested.
  bool more = true;
  for (unsigned i = 0; i < kMostFetches && more && !burst.full() && !cutting_ && next_ == fetched_;
       ++i) {
    more = fetch();
    count += drain(burst);
  }
  return count;
}

}  // namespace satrelay::dpdk
