// Where the threads of the workers leave what they say of the links, and find what they may send: a
// slot for each, written by one thread and read by another. Nobody waits for anybody: who reads
// while the writer writes gets nothing, and goes on with what it has.
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

// A sequence lock (Boehm, MSPC '12) around values of one type, so many that it is made for. Its
// words are atomic, so that a read beside a write is no race; such a read is thrown away.
template <typename T>
class SharedValues {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit SharedValues(std::size_t count) : count_(count), words_(count * kWords) {}

  // By one thread only.
  void write(std::span<const T> values) {
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < count_; ++i) {
      std::array<std::uint64_t, kWords> words{};
      std::memcpy(words.data(), &values[i], sizeof(T));
      for (std::size_t k = 0; k < kWords; ++k) {
        // No word is seen before the odd version is.
        words_[i * kWords + k].store(words[k], std::memory_order_release);
      }
    }
    version_.store(version + 2, std::memory_order_release);
  }
  // False if a write was under way; `values` are worth nothing then.
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

// One worker's. Read into what is kept aside, so that a read that fails changes nothing.
class ShareSlot {
 public:
  ShareSlot(std::size_t links, std::size_t lanes)
      : terms_(links),
        demand_links_(links),
        demand_lanes_(lanes),
        share_links_(links),
        share_lanes_(lanes) {}

  // By the worker's thread.
  void write(const gateway::Demands& demands) {
    terms_.write(demands.terms);
    demand_links_.write(demands.links);
    demand_lanes_.write(demands.lanes);
  }
  bool read(gateway::Shares& shares) const {
    return share_links_.read(shares.links) && share_lanes_.read(shares.lanes);
  }
  // By the thread that divides.
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
