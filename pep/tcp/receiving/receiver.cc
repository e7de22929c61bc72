#include "pep/tcp/receiving/receiver.h"

#include <algorithm>

namespace satrelay::tcp {

Receiver::Receiver(const Config& config, Arena& arena)
    : stream_(arena, kBytesAPiece), window_(config.receive_limit) {
  window_.set_segment_size(config.mss);
}

void Receiver::handle_data(std::int64_t position, ConstBytes payload, Environment& around,
                           Instant now) {
  const std::uint64_t expected = stream_.in_order_end();
  bool repeats = false;
  if (position < static_cast<std::int64_t>(expected)) {
    const std::uint64_t old = expected - static_cast<std::uint64_t>(position);
    note_duplicate(position, position + static_cast<std::int64_t>(std::min(old, payload.size())),
                   around.counters());
    acks_.owe_now();
    if (old >= payload.size()) return;
    payload = payload.subspan(old);
    position = static_cast<std::int64_t>(expected);
    repeats = true;
  }
  // Data beyond the promised edge or the peer's FIN is dropped.
  const auto offset = static_cast<std::uint64_t>(position);
  const std::uint64_t end = std::min(window_.edge(), fin_);
  if (offset >= end) {
    acks_.owe_now();
    return;
  }
  if (payload.size() > end - offset) {
    payload = payload.first(end - offset);
    acks_.owe_now();
  }
  if (stream_.out_of_order().empty() && offset == expected) [[likely]] {
    store_in_order(offset, payload, around, now);
  } else {
    store_around_gaps(offset, payload, repeats, around);
  }
}

bool Receiver::store_in_order(std::uint64_t offset, ConstBytes payload, Environment& around,
                              Instant now) {
  const std::uint64_t told = acknowledged();
  const std::size_t stored = stream_.insert(offset, payload, limit());
  around.counters().bytes_in += stored;
  if (stored < payload.size()) {
    around.counters().unstored_bytes_in += payload.size() - stored;
    acks_.owe_now();
    return false;
  }
  // If acknowledgments are held back, the ACK is sent after hold_acknowledgments() lets it advance.
  // Another ACK with the same number would be a duplicate ACK, which the peer takes for a sign of
  // loss.
  if (acknowledged() > told) {
    acks_.on_in_order(static_cast<std::uint32_t>(stored),
                      {around.mss, around.profile().delayed_ack}, around.timers, now);
  }
  return true;
}

// RFC 5681 section 4.2: data beyond a gap, or data that fills a gap wholly or in part, is
// acknowledged at once.
void Receiver::store_around_gaps(std::uint64_t offset, ConstBytes payload, bool repeats,
                                 const Environment& around) {
  acks_.owe_now();
  const std::uint64_t end = offset + payload.size();
  const bool beyond_gap = offset > stream_.in_order_end();
  if (beyond_gap) ++around.counters().out_of_order_segments_in;
  const RangeSet::Overlap held = stream_.out_of_order().overlap(offset, end);
  around.counters().duplicate_bytes_in += held.total;
  // RFC 2883 section 4: if several pieces arrived again, report the first. If this piece lies
  // beyond the ACK, the next SACK block is the range that contains it.
  if (held.total > 0 && !repeats) report_.on_duplicate(held.first);
  const std::size_t fresh = payload.size() - held.total;
  std::size_t stored = 0;
  if (!stream_.has_place(offset, end, limit())) {
    around.counters().scattered_bytes_in += fresh;
  } else if (beyond_gap && end > stream_.own_end() &&
             around.arena().free_blocks() <= around.reserve_blocks) {
    around.counters().unstored_bytes_in += fresh;
  } else {
    stored = stream_.insert(offset, payload, limit());
    around.counters().bytes_in += stored;
    around.counters().unstored_bytes_in += fresh - stored;
  }
  if (beyond_gap && (stored > 0 || held.total > 0)) {
    report_.on_stored(held.total > 0 ? held.first.begin : offset);
  }
}

void Receiver::hold_acknowledgments(std::uint64_t from) {
  const std::uint64_t before = acknowledged();
  hold_from_ = hold_from_ == kNoHold ? from : std::max(hold_from_, from);
  if (acknowledged() > before) acks_.owe_now();
}

void Receiver::release_fin() {
  if (!fin_held_) return;
  fin_held_ = false;
  if (fin_taken_) acks_.owe_now();
}

void Receiver::note_duplicate(std::int64_t begin, std::int64_t end, Counters& counters) {
  if (begin < 0 || end <= begin) return;
  counters.duplicate_bytes_in += static_cast<std::uint64_t>(end - begin);
  report_.on_duplicate({static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)});
}

void Receiver::handle_fin(std::int64_t position) {
  acks_.owe_now();
  if (position < 0 || fin_ != kNoFin) return;
  const auto at = static_cast<std::uint64_t>(position);
  if (at < stream_.highest() || at > window_.edge()) return;
  fin_ = at;
}

bool Receiver::take_fin() {
  if (fin_taken_ || fin_ != stream_.in_order_end()) return false;
  fin_taken_ = true;
  if (!fin_held_) acks_.owe_now();
  return true;
}

void Receiver::consume(std::uint64_t count) {
  stream_.consume(count);
  window_check_ = true;
}

void Receiver::set_limit(std::uint64_t bytes) {
  window_.set_limit(bytes);
  window_check_ = true;
}

bool Receiver::owes_window_update() {
  if (window_check_) window_check_ = !fin_taken_ && window_.update_due(memory());
  return window_check_;
}

bool Receiver::take_window_update() {
  const bool owed = owes_window_update();
  window_check_ = false;
  return owed;
}

}  // namespace satrelay::tcp
