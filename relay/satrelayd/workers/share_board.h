// The slots through which the workers' threads publish their demands on the links, and get their
// shares. Each worker has a slot. For the demands, the worker's thread writes and the dividing
// thread reads; for the shares, the roles are reversed. No thread waits: if a read overlaps with a
// write, the read fails, and the reader continues to use its earlier values.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "relay/gateway/shares/link_share.h"

namespace satrelay::satrelayd {

// A sequence lock (Boehm, MSPC '12) that protects a fixed number of values of one type. The words
// are atomic, so a read during a write is not a data race, and the reader discards the result of
// such a read.
template <typename T>
class SharedValues {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit SharedValues(std::size_t count) : count_(count), words_(count * kWords) {}

  // Only one thread may call this.
  void write(std::span<const T> values) {
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < count_; ++i) {
      std::array<std::uint64_t, kWords> words{};
      std::memcpy(words.data(), &values[i], sizeof(T));
      for (std::size_t k = 0; k < kWords; ++k) {
        // Release order: a reader that sees a new word also sees the odd version, and then
        // discards what it has read.
        words_[i * kWords + k].store(words[k], std::memory_order_release);
      }
    }
    version_.store(version + 2, std::memory_order_release);
  }
  // Returns false if a write was under way. Then `values` are invalid.
  bool read(std::span<T> values) const {
    const std::uint64_t version = version_.load(std::memory_order_acquire);
    if (version % 2 != 0) return false;
    for (std::size_t i = 0; i < count_; ++i) {
      std::array<std::uint64_t, kWords> words{};
      for (std::size_t k = 0; k < kWords; ++k) {
        words[k] = words_[i * kWords + k].load(std::memory_order_acquire);
      }
      std::memcpy(static_cast<void*>(&values[i]), words.data(), sizeof(T));
    }
    return version_.load(std::memory_order_relaxed) == version;
  }

 private:
  static constexpr std::size_t kWords = (sizeof(T) + 7) / 8;

  std::size_t count_;
  std::atomic<std::uint64_t> version_{0};
  std::vector<std::atomic<std::uint64_t>> words_;
};

// The slot of one worker. Readers must read into a buffer, since a failed read may leave it
// incomplete.
class ShareSlot {
 public:
  ShareSlot(std::size_t links, std::size_t lanes)
      : terms_(links),
        demand_links_(links),
        demand_lanes_(lanes),
        share_links_(links),
        share_lanes_(lanes) {}

  // For the worker's thread.
  void write(const gateway::Demands& demands) {
    terms_.write(demands.terms);
    demand_links_.write(demands.links);
    demand_lanes_.write(demands.lanes);
  }
  bool read(gateway::Shares& shares) const {
    return share_links_.read(shares.links) && share_lanes_.read(shares.lanes);
  }
  // For the thread that divides the links.
  void write(const gateway::Shares& shares) {
    share_links_.write(shares.links);
    share_lanes_.write(shares.lanes);
  }
  bool read(gateway::Demands& demands) const {
    return terms_.read(demands.terms) && demand_links_.read(demands.links) &&
           demand_lanes_.read(demands.lanes);
  }

 private:
  SharedValues<gateway::LinkTerms> terms_;
  SharedValues<gateway::LinkDemand> demand_links_;
  SharedValues<gateway::LaneDemand> demand_lanes_;
  SharedValues<gateway::LinkShare> share_links_;
  SharedValues<BitRate> share_lanes_;
};

}  // namespace satrelay::satrelayd
