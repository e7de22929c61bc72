// Which stream of a class sends next: lost bytes before new ones, within a share that follows the
// loss; of the new ones the first 64 KB of each stream before the rest; and on each of these two
// levels deficit round robin (Shreedhar and Varghese, SIGCOMM '95) over hosts, and over the streams
// of a host. Who comes back after a round of the others has the next turn, as sparse flows have in
// FQ-CoDel (RFC 8290): a key stroke does not wait for all those who send without end, and nobody
// has more than a turn a round by it. Which class has the turn is the caller's affair.
//
// Only the order is decided here: what a stream has to send, and whether credit lets it, is told by
// Streams.
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
#include "pep/stp/streams/stream.h"
#include "pep/stp/streams/stream_group.h"

namespace satrelay::stp {

class StreamSchedule {
 public:
  // A stream is young until it has sent so many new bytes.
  static constexpr std::uint64_t kYoungBytes = 64 * 1024;
  // Of the new bytes, while young and older streams wait: short flows without end leave the long
  // ones an eighth.
  static constexpr schedule::CappedShare::Permille kYoungShare = 875;

  // The part of all bytes of a class that lost ones have while new ones wait of streams that have
  // lost none: half as much again as they need in steady state, so that a backlog shrinks, and 5%
  // for a path whose loss is not known yet. New streams are so served while what an outage has
  // eaten comes back. A stream that has lost some repairs in its own turns, too.
  static schedule::CappedShare::Permille repair_share(double loss_ratio) {
    return std::clamp<schedule::CappedShare::Permille>(50 + static_cast<int>(loss_ratio * 1500), 50,
                                                       800);
  }

  // `least_turn`: bytes a turn, at least those of the largest packet, while nobody says more.
  // `shares`: with the queues in which the same hosts may wait too; nullptr: there are none.
  explicit StreamSchedule(std::uint32_t least_turn, schedule::HostShares* shares = nullptr);
  StreamSchedule(StreamSchedule&&) = default;
  StreamSchedule& operator=(StreamSchedule&&) = default;

  // So much of `rate` is a turn, between the least and the longest: a block of a stream that leaves
  // in one piece is a segment or two for its far host, and one visit at either end, where in pieces
  // it is many. Where turns would be felt as delay they stay short. Zero: unknown, the least turn.
  static constexpr Duration kTurnTime = Duration::microseconds(125);
  static constexpr std::uint32_t kLongestTurn = 64 * 1024;
  void set_rate(BitRate rate) {
    if (rate != rate_) change_rate(rate);
  }

  // The stream belongs to this class and host from now on. To be called before anything else is
  // done with a stream. It counts among those of the host from when it first has something to send
  // on, until it leaves.
  void join(Stream& stream, schedule::ClassId stream_class, std::uint64_t host);
  // The stream is no more, or has nothing to send and will not have for long: what its host has
  // overdrawn of its turn is forgiven if it was the last.
  void leave(Stream& stream);
  // Out of everything, but for its class and host.
  void remove(Stream& stream);

  // Nothing is sent for a while: meanwhile its hosts do not count as waiting here. Very many are
  // told apart in as many steps as go_on_waits() asks for.
  void pause(bool paused);
  bool go_on_waits() const { return recount_.active(); }
  void go_on(WorkCount& work);

  // --- new bytes
  // Whether the stream has new bytes that it may send, or may be asked for some.
  void set_new(Stream& stream, bool has_new);
  schedule::ClassSet has_new() const { return has_new_; }
  // The stream with new bytes if there is just one.
  const Stream* only_new() const;
  // Among so many equal streams the class is shared while all of them wait, about.
  std::uint64_t sharers(const Stream& stream) const;
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  // What the stream, whose turn it is, may send before it is another's; no limit if nobody else
  // waits in its class.
  std::uint64_t turn_left(const Stream& stream) const;
  // Who of the class may send new bytes now; nullptr if nobody has any.
  Stream* next_new(schedule::ClassId stream_class);
  // The stream of next_new() has sent so many: its turn ends when they are used up.
  void on_new_sent(Stream& stream, std::size_t bytes, double loss_ratio);
  // The OPEN of the stream is in the packet: its first bytes shall follow there.
  void promote(Stream& stream);
  // How often new bytes of the stream are booked.
  static std::uint32_t factor(const Stream& stream) {
    const StreamGroup* group = stream.hot().group;
    return group == nullptr ? 1 : group->factor();
  }
  // Of the class, with new bytes.
  std::size_t hosts(schedule::ClassId stream_class) const {
    return classes_[stream_class].hosts - classes_[stream_class].twice;
  }
  std::size_t hosts() const {  // of all classes
    std::size_t sum = 0;
    for (schedule::ClassSet left = has_new_; left != 0; left &= left - 1) {
      sum += hosts(schedule::lowest_class(left));
    }
    return sum;
  }

  // --- lost bytes
  // After anything that adds to or takes from what the stream has lost.
  void update_lost(Stream& stream);
  schedule::ClassSet has_lost() const { return has_lost_; }
  Stream* next_lost(schedule::ClassId stream_class) const;
  // Whose bytes a packet of the class begins with, as far as can be told; nullptr if nothing waits.
  // `has_credit`: new bytes may be sent.
  const Stream* next(schedule::ClassId stream_class, bool has_credit) const;
  // Whether lost bytes must let new ones of others go first.
  bool lost_waits(const Stream& lost, bool has_credit) const {
    return has_credit && whole_ones_wait(lost) && !repair_has_turn(lost.stream_class);
  }
  // Whether new bytes of another stream of its class than `stream` wait.
  bool others_wait(const Stream& stream) const;
  // Whether new bytes wait of streams of its class that have lost nothing. Those of others do not
  // count: they would wait at the far side for what was lost. After an outage that may be all.
  bool whole_ones_wait(const Stream& lost) const { return classes_[lost.stream_class].whole > 0; }
  // While others wait: whether lost bytes have the turn; to be told which were sent meanwhile.
  bool repair_has_turn(schedule::ClassId stream_class) const {
    return classes_[stream_class].repair_share.preferred();
  }
  void on_repaired(const Stream& stream, std::size_t bytes, double loss_ratio);
  // The next packet is another stream's.
  void rotate_lost(Stream& stream) { lost_list(stream).move_to_back(stream); }

 private:
  struct Class {
    explicit Class(std::uint32_t burst) : young_share(burst), repair_share(burst) {}
    using Hosts = Round<HostTurn, HostList>;
    Hosts young, older;
    std::size_t hosts = 0;  // in these, twice if in both
    std::size_t twice = 0;  // of them, those in both
    std::size_t whole = 0;  // streams with new bytes that have lost none
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
    // Hosts come as keyed hashes, which need no more mixing.
    std::size_t operator()(const GroupKey& key) const { return key.second + key.first; }
  };

  // Hosts that one call of next_new() may pass over.
  static constexpr int kMostPassed = 64;

  static Stream::Level level_of(std::uint64_t offset) {
    return offset < kYoungBytes ? Stream::Level::kYoung : Stream::Level::kOlder;
  }
  Class& class_of(const Stream& stream) { return classes_[stream.stream_class]; }
  LostList& lost_list(Stream& stream) {
    Class& c = class_of(stream);
    return stream.hot().lost_level == Stream::Level::kYoung ? c.lost_young : c.lost_older;
  }
  StreamGroup& group_of(Stream& stream) {
    StreamGroup* const group = stream.hot().group;
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
  // In parts, each of which grows by itself: it takes long to move all at once.
  using Groups = std::unordered_map<GroupKey, std::unique_ptr<StreamGroup>, GroupHash>;
  static constexpr unsigned kPartBits = 7;
  Groups& groups_with(std::uint64_t host) { return groups_[host >> (64 - kPartBits)]; }
  std::vector<Groups> groups_;  // none before the first
  IncrementalScan recount_;     // of the parts
};

}  // namespace satrelay::stp
