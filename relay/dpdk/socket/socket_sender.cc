#include "relay/dpdk/socket/socket_sender.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "pep/wire/tcp.h"
#include "pep/wire/udp.h"
#include "relay/dpdk/socket/frame_origin.h"

namespace satrelay::dpdk {
namespace {

iovec part(const void* data, std::size_t size) {
  return {.iov_base = const_cast<void*>(data), .iov_len = size};
}

std::uint8_t offload_of(const wire::Coalescer& whole) {
  if (whole.protocol() == wire::SegmentedProtocol::kUdp) return OffloadHeader::kUdp;
  return whole.is_v4() ? OffloadHeader::kTcpV4 : OffloadHeader::kTcpV6;
}

LargeSendKinds::Kind kind_of(const wire::Coalescer& whole) {
  return {.is_tcp = whole.protocol() == wire::SegmentedProtocol::kTcp,
          .is_v4 = whole.is_v4(),
          .tags = whole.tag_count()};
}

}  // namespace

// Returns how many frames, beginning with `first`, form the next message. If there are several,
// coalescer_ describes their large frame.
std::size_t SocketSender::gather(const Burst& burst, std::size_t first) {
  if (large_ == LargeFrames::kNever || first < singly_ || first + 1 == burst.size()) return 1;
  const PacketView packet = burst.peek(first);
  if (!coalescer_.begin(packet.bytes(), origin_of(packet))) return 1;
  const LargeSendKinds::Kind kind = kind_of(coalescer_);
  const std::size_t most = kinds_.most(kind);
  if (most == 1) {
    kinds_.on_sent(kind, 1);
    return 1;
  }
  for (std::size_t i = first + 1; i < burst.size() && i - first < most; ++i) {
    const PacketView next = burst.peek(i);
    if (!coalescer_.add(next.bytes(), origin_of(next))) break;
  }
  return coalescer_.count();
}

void SocketSender::write_single(Message& message, const PacketView& packet) {
  const ConstBytes frame = packet.bytes();
  message.head = {};
  if (const std::size_t from = packet.checksum_from(); from != 0) {
    message.head.flags = OffloadHeader::kNeedsChecksum;
    message.head.checksum_start = static_cast<std::uint16_t>(from);
    message.head.checksum_offset = wire::kTcpChecksumOffset;
  }
  message.bytes = frame.size();
  parts_[parts_used_++] = part(frame.data(), frame.size());
}

void SocketSender::write_large(Message& message, const Burst& burst, std::size_t first) {
  const std::size_t header = coalescer_.header_size();
  coalescer_.write_header(message.header);
  message.kind = kind_of(coalescer_);
  message.head = {};
  message.head.flags = OffloadHeader::kNeedsChecksum;
  message.head.kind = offload_of(coalescer_);
  message.head.header_size = static_cast<std::uint16_t>(header);
  message.head.segment_size = static_cast<std::uint16_t>(coalescer_.segment_size());
  message.head.checksum_start = static_cast<std::uint16_t>(coalescer_.transport_at());
  message.head.checksum_offset = static_cast<std::uint16_t>(
      message.kind.is_tcp ? wire::kTcpChecksumOffset : wire::kUdpChecksumOffset);
  message.bytes = 0;
  parts_[parts_used_++] = part(message.header.data(), header);
  for (std::size_t i = first; i < first + message.frames; ++i) {
    const ConstBytes frame = burst.peek(i).bytes();
    message.bytes += frame.size();
    parts_[parts_used_++] = part(frame.data() + header, frame.size() - header);
  }
}

// Groups the frames of a burst into messages_; returns the number of messages.
std::size_t SocketSender::compose(const Burst& burst) {
  parts_used_ = 0;
  std::size_t count = 0;
  for (std::size_t first = 0; first < burst.size(); first += messages_[count++].frames) {
    Message& message = messages_[count];
    message.frames = gather(burst, first);
    const std::size_t begin = parts_used_;
    parts_[parts_used_++] = part(&message.head, sizeof message.head);
    if (message.is_large()) {
      write_large(message, burst, first);
    } else {
      write_single(message, burst.peek(first));
    }
    headers_[count].msg_hdr = {.msg_name = nullptr,
                               .msg_namelen = 0,
                               .msg_iov = &parts_[begin],
                               .msg_iovlen = parts_used_ - begin,
                               .msg_control = nullptr,
                               .msg_controllen = 0,
                               .msg_flags = 0};
  }
  return count;
}

// Counts the first `messages` messages, which the kernel has accepted, and drops their frames.
void SocketSender::account(std::size_t messages, Burst& burst) {
  for (std::size_t i = 0; i < messages; ++i) {
    const Message& message = messages_[i];
    counters_.frames += message.frames;
    counters_.bytes += message.bytes;
    if (message.is_large()) {
      ++counters_.large;
      kinds_.on_sent(message.kind, message.frames);
    }
    done_with(message, burst);
  }
}

void SocketSender::done_with(const Message& message, Burst& burst) {
  burst.drop(message.frames);
  singly_ -= std::min(singly_, message.frames);
}

// Decides what to do about the first message, which the kernel has refused.
SocketSender::Then SocketSender::on_refusal(int error, const Message& message, Burst& burst) {
  // The kernel may report an error of the receiver when the sender makes its next call. If the last
  // call failed with EINVAL, and this call for the same frames fails with another error, these
  // frames are valid. The EINVAL was then an error of the receiver.
  if (error != EINVAL && std::exchange(was_invalid_, false)) ++counters_.errors_of_receiver;
  switch (error) {
    case EAGAIN:
    case EINTR:
      return Then::kLater;
    case ENOBUFS:
      if (!stuck_) return Then::kLater;
      // The device is busy, or cannot cut so many frames at once. Send these frames singly, and
      // join fewer frames from now on.
      if (message.is_large()) {
        kinds_.on_refused(message.kind, message.frames);
        singly_ = message.frames;
        return Then::kAgain;
      }
      break;
    case EINVAL:
      // This may be an error of the receiver: if recvmmsg() has returned some frames and then
      // reached a frame that the kernel cannot describe, the error stays on the socket. The failed
      // call has cleared the error, so try once more.
      if (!std::exchange(was_invalid_, true)) return Then::kAgain;
      was_invalid_ = false;
      if (!message.is_large()) break;
      kinds_.on_unknown(message.kind);
      return Then::kAgain;
    case ENETDOWN:
    case ENXIO:
    case ENODEV:
      // An interface that goes down leaves an error on its socket. The interface may be up again by
      // now, so the first failure drops nothing.
      if (!stuck_) return Then::kLater;
      counters_.down += burst.clear();
      singly_ = 0;
      return Then::kAgain;
    default:
      break;
  }
  counters_.errors += message.frames;
  done_with(message, burst);
  return Then::kAgain;
}

std::size_t SocketSender::send(Burst& burst, unsigned changes) {
  const std::size_t offered = burst.size();
  if (changes != changes_) {
    changes_ = changes;
    kinds_.forget();
    stuck_ = was_invalid_ = false;
    singly_ = 0;
  }
  while (!burst.empty()) {
    const std::size_t count = compose(burst);
    const int sent =
        call_(descriptor_, headers_.data(), static_cast<unsigned>(count), MSG_DONTWAIT);
    if (sent > 0) {
      account(static_cast<std::size_t>(sent), burst);
      stuck_ = false;
      if (std::exchange(was_invalid_, false)) ++counters_.errors_of_receiver;
      continue;
    }
    if (on_refusal(errno, messages_[0], burst) == Then::kLater) {
      stuck_ = true;
      break;
    }
    stuck_ = false;
  }
  return offered - burst.size();
}

}  // namespace satrelay::dpdk
