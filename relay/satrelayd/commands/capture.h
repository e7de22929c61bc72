// Captures frames for a client. The workers copy matching frames into a ring, and another thread
// sends them over a socket to the client. Neither side waits for the other: if the ring is full
// because the client does not read, frames are lost and counted.
#pragma once

#include <pcap/pcap.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/ops/stats/capture_format.h"

namespace satrelay::satrelayd {

// A ring of bytes for one writer and one reader.
class CaptureRing {
 public:
  explicit CaptureRing(std::size_t size);
  // Writes the whole record. If it does not fit, writes nothing and returns false.
  bool push(const ops::CaptureRecord& record, ConstBytes bytes);
  // Returns bytes that were written and not taken yet, up to the end of the memory. take() frees
  // the first `size` of these bytes.
  ConstBytes readable() const;
  void take(std::size_t size);

 private:
  void copy_in(std::uint64_t at, ConstBytes bytes);
  std::vector<std::byte> memory_;
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<std::uint64_t> taken_ = 0;
};

class CaptureTap {
 public:
  // --- for the workers, on any of their threads ------------------------------------------------
  bool sees(ops::CapturePlace place) const {
    return state_.load(std::memory_order_acquire) == State::kOn &&
           place_.load(std::memory_order_relaxed) == place;
  }
  // Captures the frame if sees() is still true and the filter matches.
  void see(ops::CapturePlace place, ops::CaptureWay way, ConstBytes frame, Instant now);
  // One of the workers calls this in each round. start() and stop() take effect only then.
  void settle();

  // --- the reader's side -----------------------------------------------------------------------
  struct What {
    ops::CapturePlace place{};
    std::size_t longest = 0;
    std::vector<bpf_insn> filter;  // a valid BPF program; if it is empty, all frames are captured
    std::uint64_t epoch = 0;       // the UTC time (ns) at which the workers' clock was 0
  };
  // Call this only while the tap is off.
  void start(What what);
  // Ends the capture. When this returns, a worker may still be adding a frame. The next settle()
  // waits until that frame is added, and then is_off() becomes true.
  void stop();
  bool is_off() const { return state_.load(std::memory_order_acquire) == State::kOff; }
  CaptureRing* ring() { return ring_.get(); }
  void free_ring() { ring_.reset(); }  // call this only while the tap is off
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  enum class State : std::uint8_t { kOff, kStarting, kOn, kStopping };
  std::atomic<State> state_ = State::kOff;
  std::mutex writers_;  // held by the worker that adds a frame
  // start(), free_ring() and settle() set the following members while the state is kOff or
  // kStarting. The workers use the members while the state is kOn. The reader of the capture takes
  // the bytes from the ring.
  std::atomic<ops::CapturePlace> place_{};
  What what_;
  std::unique_ptr<CaptureRing> ring_;
  std::atomic<std::uint64_t> lost_ = 0;
};

}  // namespace satrelay::satrelayd
