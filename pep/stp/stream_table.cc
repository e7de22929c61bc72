#include "pep/stp/stream_table.h"

namespace satrelay::stp {

namespace {
constexpr std::size_t kInitialEntries = 64;
}

StreamTable::StreamTable(Arena& arena, std::size_t max_slots)
    : arena_(arena), max_slots_(max_slots) {
  rehash(kInitialEntries);
}

Stream* StreamTable::find(std::uint64_t id) const {
  for (std::size_t i = home(id);; i = (i + 1) & mask_) {
    if (entries_[i].index == kEmpty) return nullptr;
    if (entries_[i].id == id) return slots_[entries_[i].index].get();
  }
}

Stream* StreamTable::insert(std::uint64_t id) {
  if (full()) return nullptr;
  if (free_.empty()) {
    slots_.push_back(std::make_unique<Stream>(arena_));
    slots_.back()->index = static_cast<std::uint32_t>(slots_.size() - 1);
    free_.reserve(slots_.capacity());
    free_.push_back(slots_.back()->index);
  }
  if ((used_ + 1) * 2 > entries_.size()) rehash(entries_.size() * 2);
  Stream& stream = *slots_[free_.back()];
  free_.pop_back();
  ++used_;
  stream.id = id;
  place({id, stream.index});
  return &stream;
}

void StreamTable::place(Entry entry) {
  std::size_t i = home(entry.id);
  while (entries_[i].index != kEmpty) i = (i + 1) & mask_;
  entries_[i] = entry;
}

void StreamTable::erase(Stream& stream) {
  std::size_t hole = home(stream.id);
  while (entries_[hole].index != stream.index) hole = (hole + 1) & mask_;
  // Backward shift: no tombstones, so lookups stay short however many streams come and go.
  for (std::size_t i = (hole + 1) & mask_; entries_[i].index != kEmpty; i = (i + 1) & mask_) {
    const std::size_t distance = (i - home(entries_[i].id)) & mask_;
    if (((i - hole) & mask_) <= distance) {
      entries_[hole] = entries_[i];
      hole = i;
    }
  }
  entries_[hole].index = kEmpty;
  free_.push_back(stream.index);
  --used_;
}

void StreamTable::rehash(std::size_t capacity) {
  std::vector<Entry> old(capacity, Entry{0, kEmpty});
  old.swap(entries_);
  mask_ = capacity - 1;
  for (const Entry& entry : old) {
    if (entry.index != kEmpty) place(entry);
  }
}

bool PeerIds::mark_used(std::uint64_t index) {
  if (index < next_) {
    unopened_.erase(index, index + 1);
    return true;
  }
  if (index > next_) {
    if (unopened_.range_count() >= kMaxRuns) return false;
    unopened_.insert(next_, index);
  }
  next_ = index + 1;
  return true;
}

}  // namespace satrelay::stp
