// Gives frames to a packet socket: consecutive segments of a connection as one large frame, which
// whoever receives it takes whole, or the kernel or a network card cuts into the same frames.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "pep/wire/coalescer.h"
#include "relay/dpdk/device/burst.h"
#include "relay/dpdk/socket/large_send_kinds.h"
#include "relay/dpdk/socket/offload_header.h"

namespace satrelay::dpdk {

class SocketSender {
 public:
  enum class LargeFrames : std::uint8_t { kWhereTaken, kNever };

  using SystemCall = int (*)(int, mmsghdr*, unsigned, int);

  // `descriptor` must outlive it.
  SocketSender(int descriptor, LargeFrames large, SystemCall call = ::sendmmsg)
      : descriptor_(descriptor), large_(large), call_(call) {}

  // Sends from the front of `burst`; the number of frames that are done with. What the kernel has
  // no room for stays. If the device has none at the next call either, a large frame is sent in
  // single ones and a single one is dropped. `changes`: as PacketSocket counts them.
  std::size_t send(Burst& burst, unsigned changes);

  struct Counters {
    std::uint64_t frames = 0, bytes = 0;
    std::uint64_t large = 0;   // put together of some of these
    std::uint64_t errors = 0;  // dropped: the kernel or the device has refused them
    std::uint64_t down = 0;    // dropped: the interface is off
    // Frames that the receiver of the same socket has lost, of which the kernel told here.
    std::uint64_t errors_of_receiver = 0;
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Message {
    OffloadHeader head;
    std::array<std::byte, wire::Coalescer::kMaxHeader> header{};
    std::size_t frames = 0;
    std::size_t bytes = 0;  // of these, as they would go singly
    LargeSendKinds::Kind kind;
    bool is_large() const { return frames > 1; }
  };

  std::size_t compose(const Burst& burst);
  std::size_t gather(const Burst& burst, std::size_t first);
  void write_single(Message& message, const PacketView& packet);
  void write_large(Message& message, const Burst& burst, std::size_t first);
  void account(std::size_t messages, Burst& burst);
  void done_with(const Message& message, Burst& burst);
  enum class Then : std::uint8_t { kAgain, kLater };
  Then on_refusal(int error, const Message& message, Burst& burst);

  int descriptor_;
  LargeFrames large_;
  SystemCall call_;
  LargeSendKinds kinds_;
  unsigned changes_ = 0;
  bool stuck_ = false;        // the last call left its first frame behind
  bool was_invalid_ = false;  // the last system call has ended with EINVAL
  std::size_t singly_ = 0;    // of the burst's first frames: they were refused as one
  wire::Coalescer coalescer_;
  std::array<Message, Burst::kCapacity> messages_;
  std::array<mmsghdr, Burst::kCapacity> headers_{};
  // A header of the kernel's and one of ours a message, a payload a frame.
  std::array<iovec, 3 * Burst::kCapacity> parts_{};
  std::size_t parts_used_ = 0;
  Counters counters_;
};

}  // namespace satrelay::dpdk
