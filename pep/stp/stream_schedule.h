// Which stream sends next: lost bytes before new ones, within a share that follows the loss; of the
// new ones the first 64 KB of each stream before the rest; and on each of these two levels deficit
// round robin (Shreedhar and Varghese, SIGCOMM '95) with the weights of the streams.
//
// Only the order is decided here: what a stream has to send, and whether credit lets it, is told by
// the session.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/stp/capped_share.h"
#include "pep/stp/stream.h"

namespace satrelay::stp {

class StreamSchedule {
 public:
  // A stream is young until it has sent so many new bytes.
  static constexpr std::uint64_t kYoungBytes = 64 * 1024;
  // Of the new bytes, while young and older streams wait: short flows without end leave the long
  // ones an eighth.
  static constexpr CappedShare::Permille kYoungShare = 875;

  // Of all bytes, while new ones of other streams wait: half as much again as lost bytes need in
  // steady state, so that a backlog shrinks, and 5% for a path whose loss is not known yet. What an
  // outage has eaten comes back over more time, but new streams are served meanwhile.
  static CappedShare::Permille repair_share(double loss_ratio) {
    return std::clamp<CappedShare::Permille>(50 + static_cast<int>(loss_ratio * 1500), 50, 800);
  }

  // `quantum`: bytes a turn at weight 1, at least those of the largest packet.
  explicit StreamSchedule(std::uint32_t quantum)
      : quantum_(quantum), young_share_(quantum), repair_share_(quantum) {}

  // Out of everything.
  void remove(Stream& stream) {
    set_new(stream, false);
    list_of(lost_, stream.lost_level).remove(stream);
  }

  // --- new bytes
  // Whether the stream has new bytes that it may send, or may be asked for some.
  void set_new(Stream& stream, bool has_new) {
    if (!has_new) {
      list_of(new_, stream.new_level).remove(stream);
      // What it did not use is not saved; what it overdrew is remembered.
      stream.deficit = std::min<std::int64_t>(stream.deficit, 0);
    } else if (!NewList::contains(stream)) {
      stream.new_level = level_of(stream.send.sent());
      list_of(new_, stream.new_level).push_back(stream);
    }
  }
  bool has_new() const { return !new_.young.empty() || !new_.older.empty(); }
  // The stream with new bytes if there is just one.
  const Stream* only_new() const {
    if (new_.young.empty() == new_.older.empty()) return nullptr;
    const NewList& list = new_.young.empty() ? new_.older : new_.young;
    return list.front() == list.back() ? list.front() : nullptr;
  }
  // Who may send new bytes now; nullptr if nobody has any.
  Stream* next_new() {
    Stream* stream = first_new();
    if (stream != nullptr && stream->deficit <= 0) {
      stream->deficit += std::int64_t{quantum_} * stream->weight;
    }
    return stream;
  }
  // The front stream has sent so many new bytes: its turn ends when they are used up.
  void on_new_sent(Stream& stream, std::size_t bytes, double loss_ratio) {
    if (has_lost()) repair_share_.on_other(bytes, repair_share(loss_ratio));
    if (!new_.young.empty() && !new_.older.empty()) {
      if (stream.new_level == Stream::Level::kYoung) {
        young_share_.on_preferred(bytes, kYoungShare);
      } else {
        young_share_.on_other(bytes, kYoungShare);
      }
    }
    stream.deficit -= static_cast<std::int64_t>(bytes);
    const Stream::Level level = level_of(stream.send.sent());
    if (stream.deficit > 0 && level == stream.new_level) return;
    list_of(new_, stream.new_level).remove(stream);
    stream.new_level = level;
    list_of(new_, level).push_back(stream);
  }
  // The OPEN of the stream is in the packet: its first bytes shall follow there.
  void promote(Stream& stream) {
    if (NewList::contains(stream)) list_of(new_, stream.new_level).move_to_front(stream);
  }

  // --- lost bytes
  // After anything that adds to or takes from what the stream has lost.
  void update_lost(Stream& stream) {
    if (!stream.send.has_lost()) {
      list_of(lost_, stream.lost_level).remove(stream);
      return;
    }
    const Stream::Level level = level_of(stream.send.first_lost().range.begin);
    if (LostList::contains(stream)) {
      if (level == stream.lost_level) return;
      list_of(lost_, stream.lost_level).remove(stream);
    }
    stream.lost_level = level;
    list_of(lost_, level).push_back(stream);
  }
  bool has_lost() const { return !lost_.young.empty() || !lost_.older.empty(); }
  Stream* next_lost() const {
    return lost_.young.empty() ? lost_.older.front() : lost_.young.front();
  }
  // Whose bytes the next packet begins with, as far as can be told; nullptr if nothing waits.
  const Stream* next() const { return has_lost() ? next_lost() : first_new(); }
  // Whether new bytes of another stream than `stream` wait. Its own do not count: they would wait
  // at the far side for those that were lost.
  bool others_wait(const Stream& stream) const {
    return has_other(new_.young, stream) || has_other(new_.older, stream);
  }
  // While others wait: whether lost bytes have the turn; to be told which were sent meanwhile.
  bool repair_has_turn() const { return repair_share_.preferred(); }
  void on_repaired(std::size_t bytes, double loss_ratio) {
    repair_share_.on_preferred(bytes, repair_share(loss_ratio));
  }
  // The next packet is another stream's.
  void rotate_lost(Stream& stream) { list_of(lost_, stream.lost_level).move_to_back(stream); }

 private:
  template <typename List>
  struct Levels {
    List young, older;
  };
  Stream* first_new() const {
    const bool young = !new_.young.empty() && (new_.older.empty() || young_share_.preferred());
    return young ? new_.young.front() : new_.older.front();
  }
  template <typename List>
  static List& list_of(Levels<List>& levels, Stream::Level level) {
    return level == Stream::Level::kYoung ? levels.young : levels.older;
  }
  static Stream::Level level_of(std::uint64_t offset) {
    return offset < kYoungBytes ? Stream::Level::kYoung : Stream::Level::kOlder;
  }
  static bool has_other(const NewList& list, const Stream& stream) {
    return !list.empty() && (list.front() != &stream || list.back() != &stream);
  }

  std::uint32_t quantum_;
  Levels<NewList> new_;
  Levels<LostList> lost_;
  CappedShare young_share_;
  CappedShare repair_share_;
};

}  // namespace satrelay::stp
