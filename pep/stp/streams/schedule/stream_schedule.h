// Decides which stream of a class sends next.
//
// Lost bytes go before new ones, within a share that follows the loss. The first 64 KB of each
// stream go before other new bytes. On each of these two levels there is deficit round robin
// (Shreedhar and Varghese, SIGCOMM '95) over hosts, and over the streams of a host. A stream or
// host that comes back after a round of the others has the next turn, as sparse flows have in
// FQ-CoDel (RFC 8290). So a key stroke does not wait for all streams that send without end. No
// stream gets more than a turn a round in this way. The caller decides which class has the turn.
//
// Only the order is decided here. Streams says what a stream has to send, and whether credit allows
// it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pep/base/incremental_scan.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/base/work_count.h"
#include "pep/schedule/capped_share.h"
#include "pep/stp/streams/schedule/stream_group.h"
#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

class StreamSchedule {
 public:
  // A stream is young until it has sent so many new bytes.
  static constexpr std::uint64_t kYoungBytes = 64 * 1024;
  // The share of young streams in the new bytes, while young and older streams wait. So endless
  // short flows leave an eighth to the long ones.
  static constexpr schedule::CappedShare::Permille kYoungShare = 875;

  // The share of lost bytes in all bytes of a class, while new bytes wait of streams that have lost
  // nothing. It is half as much again as lost bytes need in steady state, so that a backlog
  // shrinks, and 5% for a path with a loss that is not known yet. So new streams are served while
  // the losses of an outage are sent again. A stream that has lost bytes also sends them again in
  // its own turns.
  static schedule::CappedShare::Permille repair_share(double loss_ratio) {
    return std::clamp<schedule::CappedShare::Permille>(50 + static_cast<int>(loss_ratio * 1500), 50,
                                                       800);
  }

  // `least_turn`: bytes a turn, at least the size of the largest packet. It holds unless set_rate()
  // makes turns longer. `shares`: counts the queues in which the same hosts may wait; nullptr:
  // there are no others.
  explicit StreamSchedule(std::uint32_t least_turn, schedule::HostShares* shares = nullptr);
  StreamSchedule(StreamSchedule&&) = default;
  StreamSchedule& operator=(StreamSchedule&&) = default;

  // A turn is what `rate` sends in kTurnTime, between the least and the longest turn. A block that
  // leaves in one piece makes one or two segments for its far host, and one visit at either end. In
  // pieces it would make many. Turns stay so short that they are not felt as delay. Zero: the rate
  // is unknown, and the least turn holds.
  static constexpr Duration kTurnTime = Duration::microseconds(125);
  static constexpr std::uint32_t kLongestTurn = 64 * 1024;
  void set_rate(BitRate rate) {
    if (rate != rate_) change_rate(rate);
  }

  // The stream belongs to this class and host from now on. This is called before anything else is
  // done with a stream. The stream counts for its host from when it first has something to send
  // until it leaves.
  void join(Stream& stream, schedule::ClassId stream_class, std::uint64_t host);
  // The stream is over, or will have nothing to send for long. If it was the last stream of its
  // host, what the host has overdrawn of its turn is forgiven.
  void leave(Stream& stream);
  // Takes the stream out of all lists. It keeps its class and host.
  void remove(Stream& stream);

  // Nothing is sent for a while, so its hosts do not count as waiting here. If there are very many
  // hosts, that takes several calls of go_on(), while go_on_waits().
  void pause(bool paused);
  bool go_on_waits() const { return recount_.active(); }
  void go_on(WorkCount& work);

  // --- new bytes
  // Whether the stream has new bytes that it may send, or may be asked for some.
  void set_new(Stream& stream, bool has_new);
  schedule::ClassSet has_new() const { return has_new_; }
  // The stream with new bytes, if it is the only one.
  const Stream* only_new() const;
  // The class is shared among about so many equal streams while all of them wait.
  std::uint64_t sharers(const Stream& stream) const;
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  // The bytes that the stream, which has the turn, may still send in it. No limit if no other
  // stream waits in its class.
  std::uint64_t turn_left(const Stream& stream) const;
  // The stream of the class that may send new bytes now; nullptr if no stream has any.
  Stream* next_new(schedule::ClassId stream_class);
  // The stream of next_new() has sent so many bytes. Its turn ends when they are used up.
  void on_new_sent(Stream& stream, std::size_t bytes, double loss_ratio);
  // The OPEN of the stream is in the packet. Its first bytes shall follow in the same packet.
  void promote(Stream& stream);
  // How often new bytes of the stream are booked.
  static std::uint32_t factor(const Stream& stream) {
    const StreamGroup* group = stream.hot().places.group;
    return group == nullptr ? 1 : group->factor();
  }
  // The hosts of the class that have new bytes.
  std::size_t hosts(schedule::ClassId stream_class) const {
    return classes_[stream_class].hosts - classes_[stream_class].twice;
  }
  std::size_t hosts() const {  // in all classes
    std::size_t sum = 0;
    for (schedule::ClassSet left = has_new_; left != 0; left &= left - 1) {
      sum += hosts(schedule::lowest_class(left));
    }
    return sum;
  }

  // --- lost bytes
  // Called after anything that changes what the stream has lost.
  void update_lost(Stream& stream);
  schedule::ClassSet has_lost() const { return has_lost_; }
  Stream* next_lost(schedule::ClassId stream_class) const;
  // The stream that comes first in the next packet of the class, as far as is known; nullptr if no
  // stream waits. `has_credit`: new bytes may be sent.
  const Stream* next(schedule::ClassId stream_class, bool has_credit) const;
  // Whether lost bytes must wait for new bytes of other streams.
  bool lost_waits(const Stream& lost, bool has_credit) const {
    return has_credit && whole_ones_wait(lost) && !repair_has_turn(lost.stream_class);
  }
  // Whether another stream of its class has new bytes that wait.
  bool others_wait(const Stream& stream) const;
  // Whether new bytes wait of streams of its class that have lost nothing. New bytes of other
  // streams do not count: they would wait at the far side for what was lost. After an outage all
  // streams may be such.
  bool whole_ones_wait(const Stream& lost) const { return classes_[lost.stream_class].whole > 0; }
  // Whether lost bytes have the turn while others wait. on_repaired() and on_new_sent() keep the
  // account.
  bool repair_has_turn(schedule::ClassId stream_class) const {
    return classes_[stream_class].repair_share.preferred();
  }
  void on_repaired(const Stream& stream, std::size_t bytes, double loss_ratio);
  // The next packet begins with another stream.
  void rotate_lost(Stream& stream) { lost_list(stream).move_to_back(stream); }

 private:
  struct Class {
    explicit Class(std::uint32_t burst) : young_share(burst), repair_share(burst) {}
    using Hosts = Round<HostTurn, HostList>;
    Hosts young, older;
    std::size_t hosts = 0;  // in these rounds; counted twice if in both
    std::size_t twice = 0;  // hosts that are in both
    std::size_t whole = 0;  // streams with new bytes that have lost nothing
    LostList lost_young, lost_older;
    schedule::CappedShare young_share, repair_share;

    Hosts& round(Stream::Level level) { return level == Stream::Level::kYoung ? young : older; }
    HostTurn* first() const {
      const bool is_young = !young.empty() && (older.empty() || young_share.preferred());
      return is_young ? young.front() : older.front();
    }
  };
  using GroupKey = std::pair<schedule::ClassId, std::uint64_t>;
  struct GroupHash {
    // The ids of hosts are keyed hashes, which need no more mixing.
    std::size_t operator()(const GroupKey& key) const { return key.second + key.first; }
  };

  // The most hosts that one call of next_new() may pass over.
  static constexpr int kMostPassed = 64;

  static Stream::Level level_of(std::uint64_t offset) {
    return offset < kYoungBytes ? Stream::Level::kYoung : Stream::Level::kOlder;
  }
  Class& class_of(const Stream& stream) { return classes_[stream.stream_class]; }
  LostList& lost_list(Stream& stream) {
    Class& c = class_of(stream);
    return stream.hot().places.lost_level == Stream::Level::kYoung ? c.lost_young : c.lost_older;
  }
  StreamGroup& group_of(Stream& stream) {
    StreamGroup* const group = stream.hot().places.group;
    return group != nullptr ? *group : enter_group(stream);
  }
  void change_rate(BitRate rate);
  StreamGroup& enter_group(Stream& stream);
  void recount(StreamGroup& group) const;
  void list_new(Stream& stream);
  void unlist_new(Stream& stream);
  void unlist_lost(Stream& stream);

  std::uint32_t least_turn_;
  std::uint32_t turn_;  // the quantum of deficit round robin, bytes
  BitRate rate_;
  schedule::HostShares* shares_;
  bool is_paused_ = false;
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet has_new_ = 0;
  schedule::ClassSet has_lost_ = 0;
  // The groups in several parts, each of which grows by itself: to move all at once takes long.
  using Groups = std::unordered_map<GroupKey, std::unique_ptr<StreamGroup>, GroupHash>;
  static constexpr unsigned kPartBits = 7;
  Groups& groups_with(std::uint64_t host) { return groups_[host >> (64 - kPartBits)]; }
  std::vector<Groups> groups_;  // empty until the first group
  IncrementalScan recount_;     // over the parts
};

}  // namespace satrelay::stp
