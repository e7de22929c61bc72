#include "pep/stp/packets/item_fates.h"

#include <algorithm>
#include <utility>

namespace satrelay::stp {

namespace {

// Moving this number of ranges in memory takes as long as the work for one packet.
constexpr std::uint64_t kRangesPerObject = 64;

}  // namespace

void ItemFates::count_moved(std::uint64_t& counted, std::uint64_t now) {
  const std::uint64_t objects = (now - counted) / kRangesPerObject;
  job_.work.add(objects);
  counted += objects * kRangesPerObject;
}

void ItemFates::on_acknowledged(const SentPacket& packet) {
  job_.ledger.for_each_item(packet, [&](const SentItem& item) {
    // If a frame with credit or a rate is acknowledged, nothing changes here.
    if (item.kind() == ItemKind::kLaneCredit || item.kind() == ItemKind::kStreamCredit ||
        item.kind() == ItemKind::kRate || item.kind() == ItemKind::kStartCredit) {
      return;
    }
    if (goes_on_run(item)) return;
    end_run();
    Stream* stream = job_.streams.present(item.stream, item.generation());
    if (stream == nullptr) return;
    job_.work.add();
    acknowledge(*stream, item);
  });
}

void ItemFates::on_lost(const SentPacket& packet) {
  job_.ledger.for_each_item(packet, [&](const SentItem& item) {
    send_again(item, std::min(item.losses() + 1, LostRanges::kMaxLosses));
  });
}

void ItemFates::repeat(const SentPacket& packet) {
  job_.ledger.for_each_item(
      packet, [&](const SentItem& item) { send_again(item, std::max(item.losses(), 1U)); });
}

void ItemFates::end_run() {
  if (run_.stream == nullptr) return;
  Stream& stream = *std::exchange(run_.stream, nullptr);
  settle_bytes(stream, run_.begin, run_.end - run_.begin, false);
}

bool ItemFates::goes_on_run(const SentItem& item) {
  const Stream* stream = run_.stream;
  if (stream == nullptr || item.kind() != ItemKind::kData || item.stream != stream->index ||
      item.generation() != (stream->generation & SentItem::kGenerationMask) ||
      item.offset != run_.end) {
    return false;
  }
  job_.work.add();
  run_.end += item.length;
  return true;
}

void ItemFates::settle_bytes(Stream& stream, std::uint64_t offset, std::uint64_t length, bool fin) {
  std::uint64_t shifted = stream.send.moved();
  stream.send.on_acknowledged(offset, length, fin);
  count_moved(shifted, stream.send.moved());
  job_.streams.on_acknowledged(stream, job_.now);
}

void ItemFates::acknowledge(Stream& stream, const SentItem& item) {
  Streams& streams = job_.streams;
  const bool resetting = stream.phase == Stream::Phase::kResetting;
  switch (item.kind()) {
    case ItemKind::kReset:
      stream.reset_acknowledged = true;
      streams.due().on_reset_left(stream);
      streams.life().free_if_over(stream);
      return;
    case ItemKind::kConfirm:
      stream.confirmations.on_acknowledged(item.offset);
      if (streams.visible(StreamId{stream.id}) != nullptr &&
          stream.confirmations.all_acknowledged()) {
        streams.events().notify(stream, &Stream::Pending::confirmed);
      }
      return;
    case ItemKind::kOpen:
      streams.due().on_open_left(stream);
      stream.open_acknowledged = true;
      stream.forget_metadata();
      return;
    default:
      if (resetting) return;
      if (item.kind() == ItemKind::kDataAndFin) {
        settle_bytes(stream, item.offset, item.length, true);
      } else {
        run_ = {&stream, item.offset, item.offset + item.length};
      }
  }
}

// `times_lost` says how often the content of the item was lost; at least 1.
void ItemFates::send_again(const SentItem& item, unsigned times_lost) {
  if (item.kind() == ItemKind::kLaneCredit) {
    job_.streams.receiving().credit().lane().announce_again();
    return;
  }
  if (item.kind() == ItemKind::kStartCredit) {
    job_.streams.receiving().credit().start().on_lost(item.offset);
    return;
  }
  if (item.kind() == ItemKind::kRate) {
    job_.own_capacity.on_lost(item.offset);
    return;
  }
  Stream* stream = job_.streams.present(item.stream, item.generation());
  if (stream == nullptr) return;
  job_.work.add();
  send_again(*stream, item, times_lost);
}

void ItemFates::send_again(Stream& stream, const SentItem& item, unsigned times_lost) {
  Streams& streams = job_.streams;
  const bool resetting = stream.phase == Stream::Phase::kResetting;
  switch (item.kind()) {
    case ItemKind::kReset:
      if (resetting && !stream.reset_acknowledged) streams.due().owe_reset(stream);
      return;
    case ItemKind::kOpen:
      if (!resetting && !stream.open_acknowledged) streams.due().owe_open(stream);
      return;
    case ItemKind::kConfirm:
      if (!resetting && stream.confirmations.is_newest(item.offset)) {
        streams.due().owe_confirmation(stream, DueFrames::News::kState);
      }
      return;
    case ItemKind::kStreamCredit:
      if (!resetting && !stream.receive.final_known()) streams.due().owe_credit(stream);
      return;
    default:
      if (resetting) return;
      std::uint64_t shifted = stream.send.moved();
      stream.send.on_lost(item.offset, item.length, item.kind() == ItemKind::kDataAndFin,
                          times_lost);
      count_moved(shifted, stream.send.moved());
      streams.sending().schedule().update_lost(stream);
      if (stream.send.fin_due()) streams.due().fins().push_back(stream);
  }
}

}  // namespace satrelay::stp
