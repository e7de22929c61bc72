#include "pep/stp/streams/schedule/stream_schedule.h"

#include <utility>

#include "pep/base/check.h"

namespace satrelay::stp {
namespace {

template <typename T, std::size_t... Index>
std::array<T, sizeof...(Index)> all_with(std::uint32_t argument,
                                         std::index_sequence<Index...> /*count*/) {
  return {((void)Index, T(argument))...};
}

bool has_other(const Round<HostTurn, HostList>& hosts, const Stream& stream) {
  if (hosts.empty()) return false;
  if (hosts.front() != hosts.back()) return true;
  const auto& streams = hosts.front()->streams;
  return streams.front() != &stream || streams.back() != &stream;
}

}  // namespace

StreamSchedule::StreamSchedule(std::uint32_t least_turn, schedule::HostShares* shares)
    : least_turn_(least_turn),
      turn_(least_turn),
      shares_(shares),
      classes_(all_with<Class>(least_turn, std::make_index_sequence<schedule::kClasses>())) {}

void StreamSchedule::change_rate(BitRate rate) {
  rate_ = rate;
  const std::uint64_t bytes = rate.bytes_in(kTurnTime).value();
  turn_ = std::max(least_turn_,
                   static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kLongestTurn)));
}

void StreamSchedule::join(Stream& stream, schedule::ClassId stream_class, std::uint64_t host) {
  SATRELAY_DCHECK(stream_class < schedule::kClasses);
  const bool has_new = NewList::contains(stream);
  remove(stream);
  leave(stream);
  stream.stream_class = stream_class;
  stream.host = host;
  if (has_new) set_new(stream, true);
  update_lost(stream);
}

StreamGroup& StreamSchedule::enter_group(Stream& stream) {
  StreamHot& hot = stream.heat();
  if (groups_.empty()) groups_.resize(std::size_t{1} << kPartBits);
  std::unique_ptr<StreamGroup>& group =
      groups_with(stream.host)[{stream.stream_class, stream.host}];
  if (group == nullptr) {
    group = std::make_unique<StreamGroup>();
    group->host = stream.host;
    group->stream_class = stream.stream_class;
    if (shares_ != nullptr) group->share = shares_->join(stream.stream_class, stream.host);
  }
  ++group->streams;
  hot.places.group = group.get();
  hot.places.round = {};
  return *group;
}

void StreamSchedule::leave(Stream& stream) {
  if (stream.hot().places.group == nullptr) return;
  StreamGroup& group = *std::exchange(stream.heat().places.group, nullptr);
  if (--group.streams > 0) return;
  if (group.is_counted) --group.share->places;
  if (shares_ != nullptr) shares_->leave(group.share);
  const GroupKey key{group.stream_class, group.host};
  groups_with(key.second).erase(key);
}

void StreamSchedule::remove(Stream& stream) {
  set_new(stream, false);
  unlist_lost(stream);
}

void StreamSchedule::recount(StreamGroup& group) const {
  const bool counts = group.share != nullptr && group.waits() && !is_paused_;
  if (counts == group.is_counted) return;
  group.is_counted = counts;
  group.share->places += counts ? 1U : -1U;
}

void StreamSchedule::pause(bool paused) {
  if (paused == is_paused_) return;
  is_paused_ = paused;
  if (shares_ != nullptr) recount_.begin(groups_.size());
}

void StreamSchedule::go_on(WorkCount& work) {
  constexpr std::size_t kEnough = 256;
  std::size_t visited = 0;
  while (recount_.active() && visited < kEnough) {
    recount_.step(groups_.size(), 1, [&](std::size_t part) {
      visited += groups_[part].size();
      for (const auto& [key, group] : groups_[part]) recount(*group);
    });
  }
  work.add(visited);
}

// --- new bytes -----------------------------------------------------------------------------------

void StreamSchedule::list_new(Stream& stream) {
  StreamGroup& group = group_of(stream);
  const Stream::Level level = stream.heat().places.new_level = level_of(stream.send.sent());
  HostTurn& turn = group.turn(level);
  turn.streams.add(stream, std::uint64_t{turn.count} * turn_);
  ++turn.count;
  Class& c = class_of(stream);
  if (!LostList::contains(stream)) ++c.whole;
  if (HostList::contains(turn)) return;
  c.round(level).add(turn, c.hosts * turn_);
  recount(group);
  ++c.hosts;
  if (group.waits_on_both()) ++c.twice;
  has_new_ |= schedule::class_bit(stream.stream_class);
}

void StreamSchedule::unlist_new(Stream& stream) {
  StreamGroup& group = *stream.hot().places.group;
  const Stream::Level level = stream.hot().places.new_level;
  HostTurn& turn = group.turn(level);
  turn.streams.remove(stream);
  --turn.count;
  Class& c = class_of(stream);
  if (!LostList::contains(stream)) --c.whole;
  if (!turn.streams.empty()) return;
  if (group.waits_on_both()) --c.twice;
  c.round(level).remove(turn);
  turn.is_promoted = false;
  recount(group);
  // A positive deficit (unused bytes of the turn) is not kept. A negative deficit is kept.
  turn.deficit = std::min<std::int64_t>(turn.deficit, 0);
  if (--c.hosts == 0) has_new_ &= ~schedule::class_bit(stream.stream_class);
}

void StreamSchedule::set_new(Stream& stream, bool has_new) {
  if (!has_new) {
    if (NewList::contains(stream)) unlist_new(stream);
    if (stream.hot().places.deficit > 0) stream.heat().places.deficit = 0;
  } else if (!NewList::contains(stream)) {
    list_new(stream);
  }
}

const Stream* StreamSchedule::only_new() const {
  if (has_new_ == 0) return nullptr;
  const Class& c = classes_[schedule::lowest_class(has_new_)];
  if (has_new_ != schedule::class_bit(schedule::lowest_class(has_new_)) || c.hosts != 1)
    return nullptr;
  const auto& streams = c.first()->streams;
  return streams.front() == streams.back() ? streams.front() : nullptr;
}

std::uint64_t StreamSchedule::sharers(const Stream& stream) const {
  const StreamGroup* group = stream.hot().places.group;
  const std::uint64_t waiting = std::max<std::uint64_t>(hosts(stream.stream_class), 1);
  const std::uint64_t of_host = group == nullptr ? 0 : group->young.count + group->older.count;
  return waiting * std::max<std::uint64_t>(of_host, 1);
}

std::uint64_t StreamSchedule::turn_left(const Stream& stream) const {
  if (!NewList::contains(stream) || !others_wait(stream)) return kNoLimit;
  const Class& c = classes_[stream.stream_class];
  const StreamHot& hot = stream.hot();
  const HostTurn& turn = hot.places.group->turn(hot.places.new_level);
  const auto& hosts = hot.places.new_level == Stream::Level::kYoung ? c.young : c.older;
  std::int64_t left = turn_;  // if only streams of the other level wait
  if (hosts.front() != hosts.back()) left = turn.deficit / hot.places.group->factor();
  if (turn.streams.front() != turn.streams.back()) left = std::min(left, hot.places.deficit);
  return left > 0 ? static_cast<std::uint64_t>(left) : turn_;
}

Stream* StreamSchedule::next_new(schedule::ClassId stream_class) {
  Class& c = classes_[stream_class];
  HostTurn* turn = c.first();
  if (turn == nullptr) return nullptr;
  const auto begin = [&](HostTurn& its) {
    if (its.deficit <= 0) its.deficit += its.is_promoted ? least_turn_ : turn_;
    return its.deficit > 0 || its.is_promoted;
  };
  // If a host waits in several queues, one packet may cost more than a turn, so its deficit becomes
  // negative. Hosts with a negative deficit are skipped, and their deficit grows by a turn each
  // time. After kMostPassed such hosts, the next host gets the turn anyway, and keeps its deficit.
  for (int passed = 0; !begin(*turn) && passed < kMostPassed; ++passed) {
    auto& hosts = c.round(turn->streams.front()->hot().places.new_level);
    hosts.move_to_back(*turn);
    turn = hosts.front();
  }
  Stream* stream = turn->streams.front();
  StreamHot& hot = stream->heat();
  if (hot.places.deficit <= 0) hot.places.deficit += turn_;
  return stream;
}

void StreamSchedule::on_new_sent(Stream& stream, std::size_t bytes, double loss_ratio) {
  Class& c = class_of(stream);
  StreamGroup& group = group_of(stream);
  StreamHot& hot = stream.heat();
  const auto sent = static_cast<std::int64_t>(bytes);
  if (has_lost_ & schedule::class_bit(stream.stream_class)) {
    c.repair_share.on_other(bytes, repair_share(loss_ratio));
  }
  if (!c.young.empty() && !c.older.empty()) {
    if (hot.places.new_level == Stream::Level::kYoung) {
      c.young_share.on_preferred(bytes, kYoungShare);
    } else {
      c.young_share.on_other(bytes, kYoungShare);
    }
  }
  HostTurn& turn = group.turn(hot.places.new_level);
  c.round(hot.places.new_level).on_served(turn, bytes);
  turn.streams.on_served(stream, bytes);
  const std::int64_t factor = group.factor();
  // Limit the negative deficit. Otherwise, a host that is promoted again and again could never make
  // up for it.
  turn.deficit = std::max(turn.deficit - sent * factor, -std::int64_t{turn_} * factor);
  turn.is_promoted = false;
  hot.places.deficit -= sent;
  if (turn.deficit <= 0) c.round(hot.places.new_level).move_to_back(turn);
  if (level_of(stream.send.sent()) != hot.places.new_level) {
    unlist_new(stream);
    hot.places.round = {};  // the old value refers to the round of the other level
    list_new(stream);
  } else if (hot.places.deficit <= 0) {
    turn.streams.move_to_back(stream);
  }
}

void StreamSchedule::promote(Stream& stream) {
  if (!NewList::contains(stream)) return;
  HostTurn& turn = stream.hot().places.group->turn(stream.hot().places.new_level);
  turn.is_promoted = true;
  turn.streams.move_to_front(stream);
  class_of(stream).round(stream.hot().places.new_level).move_to_front(turn);
}

// --- lost bytes ----------------------------------------------------------------------------------

void StreamSchedule::unlist_lost(Stream& stream) {
  if (!LostList::contains(stream)) return;
  lost_list(stream).remove(stream);
  Class& c = class_of(stream);
  if (NewList::contains(stream)) ++c.whole;
  if (c.lost_young.empty() && c.lost_older.empty()) {
    has_lost_ &= ~schedule::class_bit(stream.stream_class);
  }
}

void StreamSchedule::update_lost(Stream& stream) {
  if (!stream.send.has_lost()) {
    unlist_lost(stream);
    return;
  }
  const Stream::Level level = level_of(stream.send.first_lost().range.begin);
  if (LostList::contains(stream)) {
    if (level == stream.hot().places.lost_level) return;
    unlist_lost(stream);
  }
  group_of(stream);
  stream.heat().places.lost_level = level;
  lost_list(stream).push_back(stream);
  if (NewList::contains(stream)) --class_of(stream).whole;
  has_lost_ |= schedule::class_bit(stream.stream_class);
}

Stream* StreamSchedule::next_lost(schedule::ClassId stream_class) const {
  const Class& c = classes_[stream_class];
  return c.lost_young.empty() ? c.lost_older.front() : c.lost_young.front();
}

const Stream* StreamSchedule::next(schedule::ClassId stream_class, bool has_credit) const {
  const Stream* lost = next_lost(stream_class);
  if (lost != nullptr && !lost_waits(*lost, has_credit)) return lost;
  const HostTurn* turn = classes_[stream_class].first();
  return turn == nullptr ? nullptr : turn->streams.front();
}

bool StreamSchedule::others_wait(const Stream& stream) const {
  const Class& c = classes_[stream.stream_class];
  return has_other(c.young, stream) || has_other(c.older, stream);
}

void StreamSchedule::on_repaired(const Stream& stream, std::size_t bytes, double loss_ratio) {
  class_of(stream).repair_share.on_preferred(bytes, repair_share(loss_ratio));
}

}  // namespace satrelay::stp
