// Sends frames through a packet socket. Consecutive segments of a connection are joined into one
// large frame. If the receiver is on the same machine, it gets the large frame as a whole.
// Otherwise the kernel or a network card cuts it into the same segments.
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

  // `descriptor` must outlive this object.
  SocketSender(int descriptor, LargeFrames large, SystemCall call = ::sendmmsg)
      : descriptor_(descriptor), large_(large), call_(call) {}

  // Sends from the front of `burst`; returns the number of frames that were sent or dropped. If the
  // kernel has no room, the frames stay in the burst. If it has no room at the next call either, a
  // large frame is sent as single frames, and a single frame is dropped. `changes`: see
  // PacketSocket::changes().
  std::size_t send(Burst& burst, unsigned changes);

  struct Counters {
    std::uint64_t frames = 0, bytes = 0;
    std::uint64_t large = 0;   // large frames into which some of these frames were joined
    std::uint64_t errors = 0;  // frames dropped, since the kernel or the device refused them
    std::uint64_t down = 0;    // frames dropped, since the interface was down
    // Number of errors that the kernel reported to the sender because the receiver of the same
    // socket had lost a frame.
    std::uint64_t errors_of_receiver = 0;
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Message {
    OffloadHeader head;
    std::array<std::byte, wire::Coalescer::kMaxHeader> header{};
    std::size_t frames = 0;
    std::size_t bytes = 0;  // total size of these frames as single frames
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
  bool stuck_ = false;        // whether the last send() has left its first frame in the burst
  bool was_invalid_ = false;  // whether the last system call has ended with EINVAL
  // Number of frames at the front of the burst that must be sent singly, since they were refused as
  // one large frame.
  std::size_t singly_ = 0;
  wire::Coalescer coalescer_;
  std::array<Message, Burst::kCapacity> messages_;
  std::array<mmsghdr, Burst::kCapacity> headers_{};
  // Each message has an offload header and a header of ours, and each frame has a payload. So there
  // are at most three parts for each frame.
  std::array<iovec, 3 * Burst::kCapacity> parts_{};
  std::size_t parts_used_ = 0;
  Counters counters_;
};

}  // namespace satrelay::dpdk
