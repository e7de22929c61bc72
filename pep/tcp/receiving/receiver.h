// The receiving half of an endpoint. It stores arriving data, and decides what to acknowledge, when
// to acknowledge it, and which window to offer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "pep/base/arena.h"
#include "pep/base/containers/reassembler.h"
#include "pep/base/image/image.h"
#include "pep/tcp/environment.h"
#include "pep/tcp/receiving/ack_policy.h"
#include "pep/tcp/receiving/receive_window.h"
#include "pep/tcp/receiving/sack_report.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

class Receiver {
 public:
  Receiver(const Config& config, Arena& arena);

  // Handles the payload of a segment that overlaps the window. `position` may be negative, or lie
  // in data that was received before.
  void handle_data(std::int64_t position, ConstBytes payload, Environment& around, Instant now);
  // Whether neither a gap nor a FIN is known, so that the next bytes only have to be stored.
  bool is_in_order() const { return stream_.out_of_order().empty() && fin_ == kNoFin; }
  // Whether the window has space for the next `bytes` bytes, if is_in_order().
  bool admits(std::size_t bytes) const { return stream_.in_order_end() + bytes <= window_.edge(); }
  // Stores the next bytes in order. Returns false if it could store only some of them or none:
  // memory ran out, or set_frugal() allows only the reserve.
  [[nodiscard]] bool handle_next(ConstBytes payload, Environment& around, Instant now) {
    return store_in_order(stream_.in_order_end(), payload, around, now);
  }
  // Notes that the peer's FIN follows the last byte before `position`. The FIN is ignored if stored
  // data lies beyond it, or if it lies beyond the window.
  void handle_fin(std::int64_t position);
  // Returns true once, when every byte before the FIN has arrived.
  bool take_fin();
  // For each 64 KiB of the limit, the receiver keeps one more separate piece of data beyond a gap
  // (Reassembler::has_place()). A LAN that loses every fortieth segment of a large window leaves a
  // gap in each 64 KiB.
  static constexpr std::uint32_t kBytesAPiece = 65'536;
  // Counts and reports data that had already arrived before.
  void note_duplicate(std::int64_t begin, std::int64_t end, Counters& counters);

  void consume(std::uint64_t count);
  void set_limit(std::uint64_t bytes);
  void drop() {
    stream_.reset();
    stream_.disown();
  }
  // Frees memory that is needed only while bytes are stored.
  void trim() {
    stream_.trim();
    report_.trim();
  }
  [[nodiscard]] bool own() { return stream_.own(); }
  void disown() { stream_.disown(); }
  // While set, bytes are stored only in the reserve. All other bytes are dropped, as if the LAN had
  // lost them.
  void set_frugal(bool frugal) { frugal_ = frugal; }

  // Holds back acknowledgments of stored data: bytes from offset `from` on are not acknowledged.
  // `from` only increases. After hold_fin(), the FIN is not acknowledged before release_fin().
  static constexpr std::uint64_t kNoHold = ~std::uint64_t{0};
  void hold_acknowledgments(std::uint64_t from);
  void hold_fin() { fin_held_ = true; }
  void release_fin();
  bool holds_fin() const { return fin_taken_ && acknowledged() < next(); }

  // --- for the header of an outgoing segment ---
  std::uint64_t next() const { return stream_.in_order_end() + (fin_taken_ ? 1 : 0); }  // RCV.NXT
  // SEG.ACK: RCV.NXT less the bytes and the FIN that are held back.
  std::uint64_t acknowledged() const {
    const std::uint64_t end = stream_.in_order_end();
    if (hold_from_ < end) return hold_from_;
    return end + (fin_taken_ && !fin_held_ ? 1 : 0);
  }
  std::uint16_t advertise() { return window_.advertise(memory()); }
  std::uint16_t advertise_unscaled() { return window_.advertise_unscaled(memory()); }
  std::size_t write_sack(std::span<Range> out) {
    return report_.write(stream_.out_of_order(), out);
  }
  bool has_gap() const { return !stream_.out_of_order().empty(); }
  bool has_sack() const { return has_gap() || report_.has_duplicate(); }
  // Maximum number of blocks that write_sack() would write now.
  std::size_t sack_count() const {
    return stream_.out_of_order().range_count() + (report_.has_duplicate() ? 1 : 0);
  }
  // Whether a window update should be sent because consume() or set_limit() has changed the window.
  // Returns true only once.
  bool take_window_update();
  bool owes_window_update();  // the result that take_window_update() would return

  std::uint64_t edge() const { return window_.edge(); }
  ReceiveWindow& window() { return window_; }
  const ReceiveWindow& window() const { return window_; }
  AckPolicy& acks() { return acks_; }
  const AckPolicy& acks() const { return acks_; }
  void on_ack_sent(Timers& timers) { acks_.on_sent(timers); }
  const Reassembler& stream() const { return stream_; }
  bool fin_taken() const { return fin_taken_; }

  void image(Image& image) {
    image(report_, fin_, hold_from_, stream_, acks_, window_, fin_held_, fin_taken_, window_check_,
          frugal_);
  }

 private:
  ReceiveWindow::Memory memory() const {
    return {next(), stream_.consumed(), stream_.room(stream_.arena().free_blocks()),
            next() - acknowledged()};
  }
  // Bytes that the reserve can still store after the in-order data.
  std::uint64_t own_room() const {
    const std::uint64_t in_order = stream_.in_order_end();
    return stream_.own_end() > in_order ? stream_.own_end() - in_order : 0;
  }
  // Maximum number of bytes that may be stored from the first unconsumed byte on.
  std::uint64_t limit() const {
    const std::uint64_t edge =
        frugal_ ? std::min(window_.edge(), stream_.in_order_end() + own_room()) : window_.edge();
    return edge - stream_.consumed();
  }
  // Returns whether all of `payload` was stored.
  bool store_in_order(std::uint64_t offset, ConstBytes payload, Environment& around, Instant now);
  // `repeats` is true if a part of the segment overlapped the in-order bytes and was reported as a
  // duplicate.
  void store_around_gaps(std::uint64_t offset, ConstBytes payload, bool repeats,
                         const Environment& around);

  static constexpr std::uint64_t kNoFin = ~std::uint64_t{0};

  SackReport report_;
  std::uint64_t fin_ = kNoFin;
  std::uint64_t hold_from_ = kNoHold;
  // The attribute lets each following member use the tail padding of the member before it.
  [[no_unique_address]] Reassembler stream_;
  [[no_unique_address]] AckPolicy acks_;
  [[no_unique_address]] ReceiveWindow window_;
  bool fin_held_ = false;
  bool fin_taken_ = false;
  bool window_check_ = false;
  bool frugal_ = false;
};

}  // namespace satrelay::tcp
