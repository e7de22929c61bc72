// Tells the streams that the content of a packet has arrived, or must be retransmitted.
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
  // Requests the retransmission of the packet's items. end_run() must have been called before.
  void on_lost(const SentPacket& packet);
  // Requests the retransmission of the packet's items, although the packet is not known to be lost.
  // Used for the last packet sent, as no later packet would show its loss.
  void repeat(const SentPacket& packet);
  // Counts the cost of changes of a set as work. `now` is the moved() of the set. `counted` is the
  // part of it that is counted already, and is updated.
  void count_moved(std::uint64_t& counted, std::uint64_t now);
  // Settles the bytes that were collected so far. Afterwards the streams are up to date.
  void end_run();

 private:
  // Consecutive packets usually carry bytes of one stream in order. These bytes are collected and
  // settled in one call: when other bytes follow, when something was lost, or when this object is
  // destroyed.
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
