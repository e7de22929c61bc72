#include "relay/dpdk/device/device_sender.h"

#include <rte_ethdev.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pep/wire/ethernet.h"
#include "relay/dpdk/socket/finish_checksum.h"
#include "relay/dpdk/socket/frame_origin.h"

namespace satrelay::dpdk {
namespace {

// These functions of DPDK are inline. DeviceSender calls them by pointers, so that tests can
// replace them.
std::uint16_t prepare(std::uint16_t port, std::uint16_t queue, rte_mbuf** packets,
                      std::uint16_t count) {
  return rte_eth_tx_prepare(port, queue, packets, count);
}
std::uint16_t transmit(std::uint16_t port, std::uint16_t queue, rte_mbuf** packets,
                       std::uint16_t count) {
  return rte_eth_tx_burst(port, queue, packets, count);
}

std::byte* data_of(rte_mbuf* packet) { return rte_pktmbuf_mtod(packet, std::byte*); }

}  // namespace

DeviceSender::DeviceSender(std::uint16_t port, std::uint16_t queue, Abilities abilities)
    : DeviceSender(port, queue, abilities, prepare, transmit) {}

DeviceSender::DeviceSender(std::uint16_t port, std::uint16_t queue, Abilities abilities,
                           Call prepare, Call transmit)
    : port_(port), queue_(queue), abilities_(abilities), prepare_(prepare), transmit_(transmit) {}

// Returns how many frames, beginning with `first`, form the next message. If there are several,
// coalescer_ describes their large frame.
std::size_t DeviceSender::gather(const Burst& burst, std::size_t first) {
  if (abilities_.pieces == 1 || first < singly_ || first + 1 == burst.size()) return 1;
  const PacketView packet = burst.peek(first);
  if (packet.is_shared() || !coalescer_.begin(packet.bytes(), origin_of(packet))) return 1;
  // The devices are configured for segmentation of TCP only.
  if (coalescer_.protocol() != wire::SegmentedProtocol::kTcp) return 1;
  for (std::size_t i = first + 1; i < burst.size() && i - first < abilities_.pieces; ++i) {
    const PacketView next = burst.peek(i);
    if (next.is_shared() || !coalescer_.add(next.bytes(), origin_of(next))) break;
  }
  return coalescer_.count();
}

void DeviceSender::chain(Message& message, rte_mbuf* const* frames) {
  rte_mbuf* const first = frames[0];
  message.header_size = coalescer_.header_size();
  message.flags = first->ol_flags;
  message.lengths = first->tx_offload;
  std::memcpy(message.header.data(), data_of(first), message.header_size);
  coalescer_.write_header({data_of(first), message.header_size});
  const std::size_t ip_at = wire::kEthernetHeaderSize + 4 * coalescer_.tag_count();
  const std::size_t transport_at = coalescer_.transport_at();
  first->tx_offload =
      rte_mbuf_tx_offload(ip_at, transport_at - ip_at, message.header_size - transport_at,
                          coalescer_.segment_size(), 0, 0, 0);
  first->ol_flags &= ~(RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6);
  first->ol_flags |= RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM |
                     (coalescer_.is_v4() ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6);
  if (coalescer_.is_v4() && abilities_.sums_ip) first->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM;
  rte_mbuf* last = first;
  for (std::size_t i = 1; i < message.frames; ++i) {
    rte_pktmbuf_adj(frames[i], static_cast<std::uint16_t>(message.header_size));
    first->pkt_len += frames[i]->data_len;
    last->next = frames[i];
    last = frames[i];
  }
  first->nb_segs = static_cast<std::uint16_t>(message.frames);
}

// Restores the frames that chain() has joined. chain() has only moved the beginning of the later
// frames behind their headers, so the headers are still in the buffers.
void DeviceSender::unchain(const Message& message, rte_mbuf* first) {
  if (message.frames == 1) return;
  std::memcpy(data_of(first), message.header.data(), message.header_size);
  first->ol_flags = message.flags;
  first->tx_offload = message.lengths;
  for (rte_mbuf* packet = first; packet != nullptr;) {
    rte_mbuf* const next = packet->next;
    packet->next = nullptr;
    packet->nb_segs = 1;
    packet->pkt_len = packet->data_len;
    if (packet != first) {
      rte_pktmbuf_prepend(packet, static_cast<std::uint16_t>(message.header_size));
    }
    packet = next;
  }
}

// Groups the frames of a burst into messages_; returns the number of messages.
std::size_t DeviceSender::compose(const Burst& burst) {
  any_left_ = false;
  rte_mbuf* const* frame = burst.packets_.data() + burst.begin_;
  std::size_t count = 0;
  for (std::size_t first = 0; first < burst.size(); first += messages_[count++].frames) {
    Message& message = messages_[count];
    message.frames = gather(burst, first);
    message.bytes = 0;
    for (std::size_t i = 0; i < message.frames; ++i) message.bytes += frame[first + i]->pkt_len;
    any_left_ = any_left_ || message.frames > 1 || burst.peek(first).checksum_from() != 0;
    packets_[count] = frame[first];
    if (message.frames > 1) chain(message, frame + first);
  }
  return count;
}

// Call this if the driver has refused the message because the device lacks an offload. If the
// message has several frames, they will be sent singly. If it is a single frame, its checksum is
// completed here. If there is no checksum to complete, the frame is dropped.
void DeviceSender::on_refusal(const Message& message, Burst& burst) {
  if (message.frames > 1) {
    singly_ = message.frames;
    return;
  }
  Packet first = burst.pop();
  if (finish_left_checksum(first)) {
    burst.put_back(std::move(first));
  } else {
    ++counters_.refused;
  }
}

std::size_t DeviceSender::send(Burst& burst) {
  const std::size_t offered = burst.size();
  while (!burst.empty()) {
    const std::size_t count = compose(burst);
    const auto all = static_cast<std::uint16_t>(count);
    const std::size_t ready =
        any_left_ ? prepare_(port_, queue_, packets_.data(), all) : std::size_t{all};
    const std::size_t sent =
        ready == 0 ? 0
                   : transmit_(port_, queue_, packets_.data(), static_cast<std::uint16_t>(ready));
    for (std::size_t i = sent; i < count; ++i) unchain(messages_[i], packets_[i]);
    std::size_t frames = 0;
    for (std::size_t i = 0; i < sent; ++i) {
      frames += messages_[i].frames;
      counters_.bytes += messages_[i].bytes;
      if (messages_[i].frames > 1) ++counters_.large;
    }
    counters_.frames += frames;
    singly_ -= std::min(singly_, frames);
    burst.forget(frames);
    if (sent < ready) break;
    if (ready < count) on_refusal(messages_[ready], burst);
  }
  return offered - burst.size();
}

}  // namespace satrelay::dpdk
