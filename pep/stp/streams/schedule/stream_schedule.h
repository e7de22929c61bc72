// Decides which stream of a class sends next.
//
// Lost bytes have precedence over new bytes, within a share that depends on the loss. New bytes
// have two levels: the first 64 KB of each stream (young) have precedence over later bytes (older).
// On each level there is deficit round robin (Shreedhar and Varghese, SIGCOMM '95) over hosts, and
// over the streams of each host. A stream or host that was away for a whole round gets the next
// turn, as sparse flows do in FQ-CoDel (RFC 8290). So a keystroke does not wait for all streams
// that send continuously. No stream gets more than one turn per round in this way. The caller
// decides which class has the turn.
//
// This class decides only the order. Streams knows what a stream has to send, and whether credit
// allows it.
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
  // A stream is young until it has sent this number of new bytes.
  static constexpr std::uint64_t kYoungBytes = 64 * 1024;
  // The share of young streams in the new bytes, while both young and older streams wait. So an
  // endless series of short flows leaves an eighth to the long flows.
  static constexpr schedule::CappedShare::Permille kYoungShare = 875;

  // The share of lost bytes in all bytes of a class, while streams without losses have new bytes.
  // In steady state, lost bytes need the share `loss_ratio`. The result is one and a half times
  // this share, so that a backlog shrinks, plus 5% for losses that are not measured yet. With this
  // limit, new streams can send even while the losses of an outage are retransmitted. Besides, a
  // stream retransmits its lost bytes in its own turns.
  static schedule::CappedShare::Permille repair_share(double loss_ratio) {
    return std::clamp<schedule::CappedShare::Permille>(50 + static_cast<int>(loss_ratio * 1500), 50,
                                                       800);
  }

  // `least_turn` is the length of a turn in bytes, at least the size of the largest packet.
  // set_rate() may make turns longer. `shares` counts the queues in which the same host may wait;
  // nullptr if there are no other queues.
  explicit StreamSchedule(std::uint32_t least_turn, schedule::HostShares* shares = nullptr);
  StreamSchedule(StreamSchedule&&) = default;
  StreamSchedule& operator=(StreamSchedule&&) = default;

  // Sets the length of a turn to the number of bytes that are sent at `rate` in kTurnTime, from
  // least_turn to kLongestTurn. A long turn saves work, because a whole block is sent at once, and
  // the far host gets it in one or two segments. But turns stay so short that users notice no
  // delay. If `rate` is zero, the rate is unknown, and turns have the length least_turn.
  static constexpr Duration kTurnTime = Duration::microseconds(125);
  static constexpr std::uint32_t kLongestTurn = 64 * 1024;
  void set_rate(BitRate rate) {
    if (rate != rate_) change_rate(rate);
  }

  // Assigns the stream to a class and a host. To be called before any other call for the stream.
  // The stream counts as a stream of its host after it has had something to send, until leave().
  void join(Stream& stream, schedule::ClassId stream_class, std::uint64_t host);
  // The stream has ended, or has had nothing to send for a long time. If the host has no other
  // streams, its deficit is forgotten.
  void leave(Stream& stream);
  // Removes the stream from all lists. The stream keeps its class and host.
  void remove(Stream& stream);

  // Pauses the session, or ends the pause. A paused session sends nothing, and its hosts do not
  // count as waiting (host_share.h). There may be very many hosts, so pause() does not update the
  // counts of waiting hosts itself. To update them, call go_on() as long as go_on_waits() is true.
  void pause(bool paused);
  bool go_on_waits() const { return recount_.active(); }
  void go_on(WorkCount& work);

  // --- new bytes
  // Sets whether the stream has new bytes that it may send, or its writer may be asked for bytes.
  void set_new(Stream& stream, bool has_new);
  schedule::ClassSet has_new() const { return has_new_; }
  // The only stream with new bytes; nullptr if there are several or none.
  const Stream* only_new() const;
  // Returns the number of waiting hosts of the class, times the number of waiting streams of this
  // host. If the same streams continue to wait, this stream gets about 1/sharers() of the rate of
  // its class.
  std::uint64_t sharers(const Stream& stream) const;
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  // Returns how many bytes the stream may still send in its current turn. Returns kNoLimit if no
  // other stream of its class waits. The turn must belong to this stream.
  std::uint64_t turn_left(const Stream& stream) const;
  // The stream of the class that may send new bytes now; nullptr if no stream has new bytes.
  Stream* next_new(schedule::ClassId stream_class);
  // The stream that next_new() returned has sent `bytes` new bytes. Its turn ends when the turn's
  // bytes are used up.
  void on_new_sent(Stream& stream, std::size_t bytes, double loss_ratio);
  // Gives the stream the next turn. Used when the OPEN of the stream is in the packet, so that its
  // first bytes follow in the same packet.
  void promote(Stream& stream);
  // The number of bytes that the host is charged for each new byte of the stream (host_share.h).
  static std::uint32_t factor(const Stream& stream) {
    const StreamGroup* group = stream.hot().places.group;
    return group == nullptr ? 1 : group->factor();
  }
  // The number of hosts in the class that have new bytes.
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
  // To be called after any change of the stream's lost bytes.
  void update_lost(Stream& stream);
  schedule::ClassSet has_lost() const { return has_lost_; }
  Stream* next_lost(schedule::ClassId stream_class) const;
  // Predicts which stream has the first bytes in the next packet of the class; nullptr if no stream
  // waits. `has_credit` says whether new bytes may be sent.
  const Stream* next(schedule::ClassId stream_class, bool has_credit) const;
  // Whether lost bytes of `lost` must wait for new bytes of other streams.
  bool lost_waits(const Stream& lost, bool has_credit) const {
    return has_credit && whole_ones_wait(lost) && !repair_has_turn(lost.stream_class);
  }
  // Whether another stream of the class has new bytes.
  bool others_wait(const Stream& stream) const;
  // Whether any stream of the same class has new bytes and no losses. Streams with losses do not
  // count, as their new bytes would wait at the receiver for the lost bytes. After an outage all
  // streams may have losses.
  bool whole_ones_wait(const Stream& lost) const { return classes_[lost.stream_class].whole > 0; }
  // Whether lost bytes are sent before new bytes of other streams, if both wait. on_repaired() and
  // on_new_sent() update the shares.
  bool repair_has_turn(schedule::ClassId stream_class) const {
    return classes_[stream_class].repair_share.preferred();
  }
  void on_repaired(const Stream& stream, std::size_t bytes, double loss_ratio);
  // Lets the next packet begin with the lost bytes of another stream.
  void rotate_lost(Stream& stream) { lost_list(stream).move_to_back(stream); }

 private:
  struct Class {
    explicit Class(std::uint32_t burst) : young_share(burst), repair_share(burst) {}
    using Hosts = Round<HostTurn, HostList>;
    Hosts young, older;
    std::size_t hosts = 0;  // number of hosts in `young`, plus number of hosts in `older`
    std::size_t twice = 0;  // number of hosts that are in both rounds
    std::size_t whole = 0;  // streams that have new bytes and no losses
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
    // The ids of hosts are keyed hashes, so they need no further mixing.
    std::size_t operator()(const GroupKey& key) const { return key.second + key.first; }
  };

  // Maximum number of hosts that one call of next_new() skips.
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
  std::uint32_t turn_;  // the quantum of deficit round robin, in bytes
  BitRate rate_;
  schedule::HostShares* shares_;
  bool is_paused_ = false;
  std::array<Class, schedule::kClasses> classes_;
  schedule::ClassSet has_new_ = 0;
  schedule::ClassSet has_lost_ = 0;
  // The groups are divided among several maps. When a map grows, only its own groups are moved,
  // which takes less time.
  using Groups = std::unordered_map<GroupKey, std::unique_ptr<StreamGroup>, GroupHash>;
  static constexpr unsigned kPartBits = 7;
  Groups& groups_with(std::uint64_t host) { return groups_[host >> (64 - kPartBits)]; }
  std::vector<Groups> groups_;  // empty until the first group
  IncrementalScan recount_;     // visits the maps one after the other after pause()
};

}  // namespace satrelay::stp
