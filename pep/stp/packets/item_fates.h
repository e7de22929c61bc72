// Applies the fate of packets to the streams: what a packet carried has arrived, or must be sent
// again.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/work_count.h"
#include "pep/stp/connection/capacity_announcement.h"
#include "pep/stp/numbers/sent_ledger.h"
#include "pep/stp/streams/streams.h"

namespace satrelay::stp {

class ItemFates {
 public:
  struct Job {
    const SentLedger& ledger;
    Streams& streams;
    CapacityAnnouncement& own_capacity;
    WorkCount& work;
    Instant now;
  };
  explicit ItemFates(const Job& job) : job_(job) {}
  ~ItemFates() { end_run(); }
  ItemFates(const ItemFates&) = delete;
  ItemFates& operator=(const ItemFates&) = delete;

  void on_acknowledged(const SentPacket& packet);
  // Its items are sent again. Requires that end_run() was called.
  void on_lost(const SentPacket& packet);
  // The same although no loss is known: the packet may be the end of what was sent.
  void repeat(const SentPacket& packet);
  // Adds the searches and shifts that edits of a set have cost since `counted` to the work.
  void count_moved(std::uint64_t& counted, std::uint64_t now);
  // Settles the bytes that were put off, so that the streams know of all packets so far.
  void end_run();

 private:
  // Consecutive packets mostly carry bytes of one stream, in order. All these bytes are settled in
  // one call: when other bytes follow, when something was lost, or when this object is destroyed.
  struct Run {
    Stream* stream = nullptr;
    std::uint64_t begin = 0, end = 0;
  };

  bool goes_on_run(const SentItem& item);
  void settle_bytes(Stream& stream, std::uint64_t offset, std::uint64_t length, bool fin);
  void acknowledge(Stream& stream, const SentItem& item);
  void send_again(const SentItem& item, unsigned times_lost);
  void send_again(Stream& stream, const SentItem& item, unsigned times_lost);

  Job job_;
  Run run_ = {};
};

}  // namespace satrelay::stp
