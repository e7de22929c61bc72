// Captures frames for a client. The worker copies matching frames into a ring, and a thread of its
// own sends them over a socket to the one client that has asked. Neither waits for the other: if
// the ring is full, or the client does not read, frames are lost and counted.
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

// A ring for one writer and one reader.
class CaptureRing {
 public:
  explicit CaptureRing(std::size_t size);
  // False if there is no room for all of the record.
  bool push(const ops::CaptureRecord& record, ConstBytes bytes);
  // Bytes that were written and not taken, as far as they are in one piece. take() frees them.
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
  // --- the workers' side: any of their threads -------------------------------------------------
  bool sees(ops::CapturePlace place) const {
    return state_.load(std::memory_order_acquire) == State::kOn &&
           place_.load(std::memory_order_relaxed) == place;
  }
  // Captures the frame, if sees() still holds and the filter matches.
  void see(ops::CapturePlace place, ops::CaptureWay way, ConstBytes frame, Instant now);
  // One of the workers calls this once a round: start() and stop() then take effect.
  void settle();

  // --- the reader's side -----------------------------------------------------------------------
  struct What {
    ops::CapturePlace place{};
    std::size_t longest = 0;
    std::vector<bpf_insn> filter;  // valid, or empty for everything
    std::uint64_t epoch = 0;       // UTC nanoseconds at the worker's instant 0
  };
  // Only while the tap is off.
  void start(What what);
  // No frame is added from here on. is_off() becomes true once the worker has noticed.
  void stop();
  bool is_off() const { return state_.load(std::memory_order_acquire) == State::kOff; }
  CaptureRing* ring() { return ring_.get(); }
  void free_ring() { ring_.reset(); }  // only while the tap is off
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  enum class State : std::uint8_t { kOff, kStarting, kOn, kStopping };
  std::atomic<State> state_ = State::kOff;
  std::mutex writers_;  // one at a time, while the tap is on
  // Written by the reader while the tap is off, read by the workers while it is on.
  std::atomic<ops::CapturePlace> place_{};
  What what_;
  std::unique_ptr<CaptureRing> ring_;
  std::atomic<std::uint64_t> lost_ = 0;
};

}  // namespace satrelay::satrelayd
