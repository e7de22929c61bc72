#include "pep/stp/packets/stream_writer.h"

#include <algorithm>

namespace satrelay::stp {
namespace {

// Minimum number of bytes of a stream in a DATA frame, unless the stream has fewer. A smaller piece
// at the end of a packet is not worth a frame.
constexpr std::size_t kMinFragment = 64;
// If a source writes nothing although this number of bytes is free, it has nothing to write.
constexpr std::uint64_t kAmpleRoom = 128 * 1024;
// Maximum number of streams that are asked for bytes for one packet.
constexpr std::size_t kStreamsAsked = 64;

void write_open_frame(PacketBuilder& packet, const Stream& stream) {
  write_open(packet.frames(), {stream.id, stream.metadata()});
  packet.add_item(ItemKind::kOpen, stream);
}

void write_fin(PacketBuilder& packet, Stream& stream) {
  const std::uint64_t end = stream.send.sent();
  ByteWriter& frames = packet.frames();
  frames.u8(static_cast<std::uint8_t>(FrameType::kData) | kDataFin | kDataHasLength);
  write_varint(frames, stream.id);
  write_varint(frames, end);
  frames.u16(0);
  stream.send.take(end, {});
  packet.add_item(SentItem::make(ItemKind::kDataAndFin, stream.index, stream.generation, end));
}

void plan_copies(const StreamWriter::Job& job, const Stream& stream, std::uint64_t offset,
                 std::size_t size, unsigned times_lost) {
  const unsigned count = CopyQueue::copies(times_lost);
  if (count == 0) return;
  job.streams.sending().copies().push({.offset = offset,
                                       .stream = stream.index,
                                       .generation = stream.generation,
                                       .length = static_cast<std::uint16_t>(size),
                                       .more = count - 1,
                                       .due = job.now + CopyQueue::kSpread});
}

}  // namespace

StreamWriter::Wrote StreamWriter::write(const Job& job) {
  packet_begin_ = sent_.size();
  prompt_.reset();
  if (job.only_new) return write_new(job, turn_.first);
  if (!write_opens(job)) return Wrote::kAnything;
  write_copies(job);
  write_fins(job);
  if (!turn_.streams) return Wrote::kAnything;
  if (write_class(job, turn_.first) == Wrote::kMoreOfTheSame) return Wrote::kMoreOfTheSame;
  // The other classes get the rest of the packet.
  for (schedule::ClassSet others =
           job.streams.sending().has_bytes(turn_.open) & ~schedule::class_bit(turn_.first);
       others != 0 && job.packet.remaining() >= kMinFragment; others &= others - 1) {
    write_class(job, schedule::lowest_class(others));
  }
  return Wrote::kAnything;
}

bool StreamWriter::only_new_follows(const Streams& streams, Instant now) const {
  const SendingSide& sending = streams.sending();
  const schedule::ClassSet fresh = sending.schedule().has_new();
  return turn_.streams && sending.schedule().has_lost() == 0 &&
         fresh == schedule::class_bit(turn_.first) && (turn_.open & fresh) != 0 &&
         sending.credit().any() && streams.due().opens().empty() && streams.due().fins().empty() &&
         sending.copies().first_due() > now;
}

// Returns false if an OPEN must wait for the next packet. Then this packet gets no data.
bool StreamWriter::write_opens(const Job& job) {
  OpenList& opens = job.streams.due().opens();
  while (!opens.empty()) {
    Stream& stream = *opens.front();
    if (!job.packet.fits(open_frame_size(stream.id, stream.metadata_size))) return false;
    job.streams.due().on_open_left(stream);
    write_open_frame(job.packet, stream);
    // The first bytes of the stream, if any, follow in this packet.
    job.streams.sending().schedule().promote(stream);
  }
  return true;
}

// Copies are sent when they are due, or when nothing else waits.
void StreamWriter::write_copies(const Job& job) {
  CopyQueue& copies = job.streams.sending().copies();
  for (std::size_t i = 0; i < CopyQueue::kRoom && !copies.empty(); ++i) {
    CopyQueue::Copy copy = copies.front();
    if (copy.due > job.now && !job.streams.sending().idle_but_for_copies(turn_.open)) return;
    Stream* const stream = job.streams.present(copy.stream, copy.generation);
    const bool wanted = stream != nullptr && stream->phase != Stream::Phase::kResetting &&
                        stream->send.wants_copy(copy.offset, copy.length);
    if (wanted) {
      const std::size_t size =
          write_data(job, *stream, copy.offset, copy.length, LostRanges::kMaxLosses);
      if (size == 0) return;
      // The copy may have contained all lost bytes of the stream.
      job.streams.sending().schedule().update_lost(*stream);
      totals_.retransmitted_bytes += size;
      ++totals_.copies;
    }
    copies.pop();
    if (!wanted || copy.more == 0) continue;
    --copy.more;
    copy.due = job.now + CopyQueue::kSpread;
    copies.push(copy);
  }
}

// Writes an empty DATA frame with FIN for each stream that has ended and has no data left to send.
void StreamWriter::write_fins(const Job& job) {
  FinList& fins = job.streams.due().fins();
  for (std::size_t i = 0; i < kStreamsAsked && !fins.empty(); ++i) {
    Stream& stream = *fins.front();
    work_.add();
    if (stream.send.fin_due()) {
      if (!job.packet.fits(data_header_size(stream.id, stream.send.sent()) + kDataLengthSize)) {
        return;
      }
      write_fin(job.packet, stream);
    }
    fins.remove(stream);
  }
}

StreamWriter::Wrote StreamWriter::write_class(const Job& job, schedule::ClassId stream_class) {
  if ((job.streams.sending().has_bytes(turn_.open) & schedule::class_bit(stream_class)) == 0)
    return Wrote::kAnything;
  write_lost(job, stream_class, RepairCap::kShare);
  const Wrote wrote = write_new(job, stream_class);
  write_lost(job, stream_class, RepairCap::kNone);
  return wrote;
}

// Writes lost bytes. With kShare, and while new bytes of other streams wait, lost bytes get only
// their share. Otherwise they get all the rest of the packet.
void StreamWriter::write_lost(const Job& job, schedule::ClassId stream_class, RepairCap cap) {
  StreamSchedule& schedule = job.streams.sending().schedule();
  while (Stream* const lost = schedule.next_lost(stream_class)) {
    Stream& stream = *lost;
    if (!may_join(stream)) return;
    const bool capped = cap == RepairCap::kShare && job.streams.sending().credit().any() &&
                        schedule.whole_ones_wait(stream);
    if (capped && !schedule.repair_has_turn(stream_class)) return;
    const std::size_t size = write_first_lost(job, stream);
    if (size == 0) return;
    if (capped) schedule.on_repaired(stream, size, job.loss.ratio());
    schedule.update_lost(stream);
    if (job.packet.remaining() == 0 && stream.send.has_lost()) schedule.rotate_lost(stream);
  }
}

std::size_t StreamWriter::write_first_lost(const Job& job, Stream& stream) {
  const auto [range, times_lost] = stream.send.first_lost();
  const std::size_t size = write_data(job, stream, range.begin, range.size(), times_lost);
  if (size == 0) return 0;
  totals_.retransmitted_bytes += size;
  plan_copies(job, stream, range.begin, size, times_lost);
  return size;
}

StreamWriter::Wrote StreamWriter::write_new(const Job& job, schedule::ClassId stream_class) {
  SendingSide& sending = job.streams.sending();
  // A stream that is woken may belong to another class, and may change which stream is next.
  if (sending.has_lane_waiters()) filler_ = nullptr;
  sending.wake_lane_waiters();
  // Limit the number of streams, as very many of them may turn out to have nothing to send.
  for (std::size_t i = 0; i < kStreamsAsked && sending.credit().any(); ++i) {
    Stream* const next = sending.schedule().next_new(stream_class);
    if (next == nullptr) break;
    Stream& stream = *next;
    if (!may_join(stream)) break;
    work_.add();
    // New bytes of the stream would wait at the receiver for its lost bytes. So the lost bytes are
    // sent first.
    if (stream.send.has_lost()) {
      filler_ = nullptr;
      const std::size_t size = write_first_lost(job, stream);
      if (size == 0) break;
      sending.schedule().on_new_sent(stream, size, job.loss.ratio());
      sending.schedule().update_lost(stream);
      if (job.packet.remaining() == 0) break;
      continue;
    }
    if (&stream == filler_ && write_more(job, stream)) return Wrote::kMoreOfTheSame;
    filler_ = nullptr;
    const std::uint64_t of_lane = sending.credit().of_lane(stream);
    if (of_lane == 0) {
      sending.update_active(stream);
      continue;
    }
    if (stream.send.unsent() == 0) {
      if (source_.is_spent()) break;
      ask_source(job, stream);
      continue;
    }
    const std::uint64_t credit = sending.credit().own(stream);
    if (credit == 0) {  // START_CREDIT has lowered the credit, and this stream is not updated yet
      sending.update_active(stream);
      continue;
    }
    const std::uint64_t available = std::min({stream.send.unsent(), credit, of_lane});
    const std::size_t size = write_data(job, stream, stream.send.sent(), available, 0);
    if (size == 0) break;
    sending.on_sent(size);
    totals_.new_bytes += size;
    sending.schedule().on_new_sent(stream, size, job.loss.ratio());
    sending.update_active(stream);
    if (job.packet.remaining() == 0) {
      filler_ = &stream;
      sure_ = 0;
      break;
    }
  }
  return Wrote::kAnything;
}

// Fills the rest of the packet if the stream has more bytes than that. Then the credit of the
// stream and its place in the lists need no check.
bool StreamWriter::write_more(const Job& job, Stream& stream) {
  PacketBuilder& packet = job.packet;
  if (sure_ == 0) sure_ = job.streams.sending().sure_bytes(stream);
  const std::uint64_t offset = stream.send.sent();
  const std::size_t header = data_header_size(stream.id, offset);
  if (packet.remaining() < header + kMinFragment || sure_ <= packet.remaining() ||
      !packet.can_add_item()) {
    return false;
  }
  const std::size_t size = packet.remaining() - header;
  sure_ -= size;
  const MutableBytes frame = packet.frames().reserve(header + size);
  store_u8(frame.data(), static_cast<std::uint8_t>(FrameType::kData));
  store_varint(store_varint(frame.data() + 1, stream.id), offset);
  stream.send.take(offset, frame.subspan(header));
  packet.carries(control::Purpose::kNewData);
  packet.add_item(SentItem::make(ItemKind::kData, stream.index, stream.generation, offset,
                                 static_cast<std::uint16_t>(size)));
  count_class(stream, size);
  job.streams.sending().on_sent(size);
  totals_.new_bytes += size;
  StreamSchedule& schedule = job.streams.sending().schedule();
  schedule.on_new_sent(stream, size, schedule.has_lost() == 0 ? 0 : job.loss.ratio());
  return true;
}

// Asks the source for bytes, since the stream is marked as ready, and has no unsent bytes.
void StreamWriter::ask_source(const Job& job, Stream& stream) {
  SendingSide& sending = job.streams.sending();
  if (!sending.has_room(stream)) {
    sending.mark_blocked(stream, job.now);
    sending.update_active(stream);
    return;
  }
  const std::uint16_t generation = stream.generation;
  source_.produce(StreamId{stream.id}, stream.context, job.now);
  // The source may have changed the stream in any way, and even ended it.
  const bool same = stream.generation == generation && stream.phase == Stream::Phase::kOpen;
  if (!same || stream.send.unsent() > 0 || stream.send.finished()) return;
  // The source wrote nothing, so it is not called again until the relay marks the stream as ready.
  // Perhaps there was too little space for a whole block. Then the relay gets kWritable when there
  // is more free space.
  stream.ready = false;
  if (sending.room(stream) < kAmpleRoom) sending.mark_blocked(stream, job.now);
  sending.update_active(stream);
}

// Writes up to `available` bytes from `offset` on in one DATA frame. Returns how many were written;
// 0 if the rest of the packet is too small.
std::size_t StreamWriter::write_data(const Job& job, Stream& stream, std::uint64_t offset,
                                     std::uint64_t available, unsigned times_lost) {
  PacketBuilder& packet = job.packet;
  const std::size_t header = data_header_size(stream.id, offset);
  const std::size_t room = packet.remaining();
  if (room <= header + kDataLengthSize || !packet.can_add_item()) return 0;
  // A frame up to the end of the packet needs no length field.
  const bool fills = available >= room - header;
  const std::size_t size = fills ? room - header
                                 : static_cast<std::size_t>(std::min<std::uint64_t>(
                                       available, room - header - kDataLengthSize));
  if (size < available && size < kMinFragment) return 0;
  const bool again = offset < stream.send.sent();
  packet.carries(again ? control::Purpose::kRetransmission : control::Purpose::kNewData);
  ByteWriter& frames = packet.frames();
  const MutableBytes type = frames.reserve(1);
  write_varint(frames, stream.id);
  write_varint(frames, offset);
  if (!fills) frames.u16(static_cast<std::uint16_t>(size));
  const bool fin = stream.send.take(offset, frames.reserve(size));
  store_u8(type.data(),
           static_cast<std::uint8_t>(static_cast<unsigned>(FrameType::kData) |
                                     (fin ? kDataFin : 0U) | (fills ? 0U : kDataHasLength)));
  packet.add_item(SentItem::make(fin ? ItemKind::kDataAndFin : ItemKind::kData, stream.index,
                                 stream.generation, offset, static_cast<std::uint16_t>(size),
                                 times_lost));
  count_class(stream, size);
  return size;
}

void StreamWriter::count_class(const Stream& stream, std::size_t bytes) {
  prompt_ = stream.prompt;
  const schedule::ClassId id = stream.stream_class;
  const std::size_t booked = bytes * StreamSchedule::factor(stream);
  auto found = sent_.begin() + static_cast<std::ptrdiff_t>(packet_begin_);
  while (found != sent_.end() && found->stream_class != id) ++found;
  if (found != sent_.end()) {
    found->bytes += bytes;
    found->booked += booked;
  } else {
    sent_.push_back({.stream_class = id, .bytes = bytes, .booked = booked});
  }
}

}  // namespace satrelay::stp
