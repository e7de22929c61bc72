// Wrappers of an mbuf: Packet owns the mbuf, PacketView only reads it.
#pragma once

#include <rte_mbuf.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"
#include "pep/wire/ip.h"

namespace satrelay::dpdk {

// A read-only view of a packet that another object owns.
class PacketView {
 public:
  explicit PacketView(const rte_mbuf* mbuf) : mbuf_(mbuf) {}
  ConstBytes bytes() const {
    return {rte_pktmbuf_mtod(mbuf_, const std::byte*), rte_pktmbuf_data_len(mbuf_)};
  }
  // True if this program made the packet: no port has received it.
  bool is_own() const { return mbuf_->port == RTE_MBUF_PORT_INVALID; }
  bool is_shared() const { return rte_mbuf_refcnt_read(mbuf_) > 1; }
  // The offset of the TCP header if the port must complete the TCP checksum
  // (Packet::leave_checksum()), otherwise 0.
  std::size_t checksum_from() const {
    if ((mbuf_->ol_flags & RTE_MBUF_F_TX_L4_MASK) != RTE_MBUF_F_TX_TCP_CKSUM) return 0;
    return std::size_t{mbuf_->l2_len} + mbuf_->l3_len;
  }
  // True if the TCP or UDP checksum is known to be good.
  bool is_checked() const { return (mbuf_->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_GOOD) != 0; }

 private:
  const rte_mbuf* mbuf_;
};

class Packet {
 public:
  Packet() = default;
  // Takes over one reference to the mbuf.
  explicit Packet(rte_mbuf* mbuf) : mbuf_(mbuf) {}
  Packet(Packet&& other) noexcept : mbuf_(std::exchange(other.mbuf_, nullptr)) {}
  Packet& operator=(Packet&& other) noexcept {
    if (this != &other) {
      rte_pktmbuf_free(mbuf_);
      mbuf_ = std::exchange(other.mbuf_, nullptr);
    }
    return *this;
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;
  ~Packet() { rte_pktmbuf_free(mbuf_); }

  explicit operator bool() const { return mbuf_ != nullptr; }

  // The Ethernet frame without the FCS. Ports never deliver a frame in several buffers.
  ConstBytes bytes() const {
    return {rte_pktmbuf_mtod(mbuf_, const std::byte*), rte_pktmbuf_data_len(mbuf_)};
  }
  // Loads the headers into the cache for a later reader.
  void prefetch_headers() const {
    constexpr std::size_t kLine = 64;
    const auto* const front = rte_pktmbuf_mtod(mbuf_, const std::byte*);
    __builtin_prefetch(front);
    __builtin_prefetch(front + kLine);
  }
  // The frame, for writing. Allowed only while the packet is not shared.
  MutableBytes mutable_bytes() {
    return {rte_pktmbuf_mtod(mbuf_, std::byte*), rte_pktmbuf_data_len(mbuf_)};
  }
  std::size_t size() const { return rte_pktmbuf_data_len(mbuf_); }
  bool is_shared() const { return rte_mbuf_refcnt_read(mbuf_) > 1; }

  // The whole buffer behind the headroom. Write a frame there, then call set_size().
  MutableBytes room() {
    return {rte_pktmbuf_mtod(mbuf_, std::byte*),
            static_cast<std::size_t>(mbuf_->buf_len - mbuf_->data_off)};
  }
  void set_size(std::size_t size) {
    mbuf_->data_len = static_cast<std::uint16_t>(size);
    mbuf_->pkt_len = static_cast<std::uint32_t>(size);
  }

  // A device may store a frame in several buffers. join_pieces() copies the whole frame into the
  // first buffer, and returns false if that buffer is too small.
  bool is_in_pieces() const { return mbuf_->nb_segs > 1; }
  bool join_pieces() { return rte_pktmbuf_linearize(mbuf_) == 0; }

  // True if the device has found the TCP or UDP checksum correct.
  bool checksum_is_verified() const {
    return (mbuf_->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD;
  }
  // True if the device has recognized TCP or UDP in the packet, without a tunnel around it.
  bool is_plain_transport() const {
    const std::uint32_t transport = mbuf_->packet_type & RTE_PTYPE_L4_MASK;
    return (transport == RTE_PTYPE_L4_TCP || transport == RTE_PTYPE_L4_UDP) &&
           (mbuf_->packet_type & RTE_PTYPE_TUNNEL_MASK) == 0;
  }
  // True if the packet comes from a sender on this machine that has left the checksum to the
  // device. The checksum field is not valid then. But the packet was on no wire, so its bytes are
  // correct.
  bool checksum_is_unfinished() const {
    return (mbuf_->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_NONE;
  }

  // Leaves the TCP checksum to the port that sends the packet. `from`: the offset of the TCP
  // header, which must directly follow an IP header without options. The checksum field must hold
  // the sum of the pseudo-header.
  void leave_checksum(std::size_t from) {
    constexpr std::size_t kV4 = wire::kIpv4HeaderSize, kV6 = wire::kIpv6HeaderSize;
    static_assert(wire::kMaxEthernetHeaderSize + kV4 < wire::kEthernetHeaderSize + kV6);
    // Even behind two VLAN tags, an IPv4 header ends before an IPv6 header without tags would. So
    // `from` shows the IP version.
    const bool is_v4 = from < wire::kEthernetHeaderSize + kV6;
    const std::size_t ip = is_v4 ? kV4 : kV6;
    mbuf_->tx_offload = rte_mbuf_tx_offload(from - ip, ip, 0, 0, 0, 0, 0);
    mbuf_->ol_flags |= RTE_MBUF_F_TX_TCP_CKSUM | (is_v4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6);
  }

  void keep_checksum() {
    mbuf_->ol_flags &= ~(RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6);
  }
  std::size_t checksum_from() const { return PacketView(mbuf_).checksum_from(); }

  // Moves the beginning of the frame forward by `count` bytes, into the headroom. Call set_size()
  // afterwards.
  void grow_front(std::size_t count) {
    mbuf_->data_off = static_cast<std::uint16_t>(mbuf_->data_off - count);
  }

  // The next three functions set the properties that PacketView::is_own() and is_checked() return.
  void set_received() { mbuf_->port = 0; }
  void set_checked() {
    set_unchecked();
    mbuf_->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_GOOD;
  }
  void set_unchecked() { mbuf_->ol_flags &= ~std::uint64_t{RTE_MBUF_F_RX_L4_CKSUM_MASK}; }

  // Returns a second owner of the same bytes. Neither owner may write them from now on.
  Packet share() {
    rte_mbuf_refcnt_update(mbuf_, 1);
    return Packet(mbuf_);
  }

  // Returns an integer that an engine can store in place of the packet. adopt() returns the packet
  // for this integer, and must be called exactly once.
  std::uint64_t to_handle() && {
    return static_cast<std::uint64_t>(
        reinterpret_cast<std::uintptr_t>(std::exchange(mbuf_, nullptr)));
  }
  static Packet adopt(std::uint64_t handle) {
    return Packet(reinterpret_cast<rte_mbuf*>(static_cast<std::uintptr_t>(handle)));
  }

  rte_mbuf* release() { return std::exchange(mbuf_, nullptr); }

 private:
  rte_mbuf* mbuf_ = nullptr;
};

}  // namespace satrelay::dpdk
