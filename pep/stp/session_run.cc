// Runs of packets that follow each other at one instant and carry nothing but new bytes of one
// class. The checks that poll_packet() makes before each packet are made once, as far as these
// packets cannot change the result. If they can, the run ends, and poll_packet() writes the next
// packet.
#include <algorithm>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

// The number of the first packet that may not be in the run. The run begins with `ledger.next()`.
std::uint64_t Session::Impl::run_ends_before() const {
  const std::uint64_t next = association->ledger.next();
  // goes_on_at: the packet before carried nothing but data, and there is nothing else to send
  // since.
  if (goes_on_at != now || state != PeerState::kAlive || path().probes.frozen()) return next;
  if (path().mtu.doubt() != PathMtu::Doubt::kNone) return next;
  if (next_hello() <= now || needs_keys()) return next;
  return std::min(path().losses.oldest_unresolved() + most_in_flight(),
                  protection.same_key_until(next));
}

std::size_t Session::Impl::poll_run(std::span<const MutableBytes> rooms, std::size_t before,
                                    std::span<RunPacket> packets) {
  const std::uint64_t end = run_ends_before();
  if (rooms.empty() || association->ledger.next() >= end) return 0;
  const std::size_t limit = datagram_limit();
  const auto room = [&](std::size_t i) {
    const MutableBytes all = rooms[i].subspan(before);
    return all.first(std::min(all.size(), limit));
  };
  path().gate.update(path().rtt.smoothed(), limit, now);
  const auto run = path().gate.begin_run(now);
  if (!run || room(0).size() < kMinDatagram) return 0;
  const bool may_cover = may_repair() && !fec->policy.is_clean();
  const auto is_told = [&] {
    return goes_on_at != now || !peer_events.empty() || !streams->events().empty();
  };
  PacketBuilder packet(room(0), protection.trailer_size());
  const StreamWriter::Job job = {packet, *streams, path().loss_rate, now};
  schedule::ClassBytes before_it = {};  // in the earlier packets of the run, all of one class
  std::size_t count = 0;
  bool is_same = false;  // nothing has changed since the writer was last asked
  while (path().gate.goes_on(*run) && (is_same || writer.only_new(*streams, now)) &&
         !(may_cover && covering_code().has_value())) {
    is_same = writer.write_only_new(job) == StreamWriter::Wrote::kMoreOfTheSame;
    if (!is_same && packet.empty()) {
      goes_on_at = Instant::never();
      break;
    }
    const schedule::ClassBytes& all = writer.sent().front();
    RunPacket& done = packets[count++];
    done.bytes = static_cast<std::uint16_t>(all.bytes - before_it.bytes);
    done.booked = static_cast<std::uint32_t>(all.booked - before_it.booked);
    done.hosts = static_cast<std::uint32_t>(streams->sending().schedule().hosts(all.stream_class));
    before_it = all;
    finish_in_run(packet, done);
    if (!is_same && is_told()) break;
    if (count == rooms.size() || association->ledger.next() >= end) break;
    if (room(count).size() < kMinDatagram) break;
    packet.renew(room(count));
  }
  if (count > 0) path().requests.on_asked();
  return count;
}

void Session::Impl::finish_in_run(PacketBuilder& packet, RunPacket& done) {
  SentLedger& ledger = association->ledger;
  const std::size_t size = packet.close({.lane = config.lane}, ledger.next(), protection).size();
  done.size = static_cast<std::uint16_t>(size);
  done.priority = path().gate.on_sent_in_run(size, now);
  ledger.append(now, size, true, packet.items(), path().losses.oldest_unresolved()).low_priority =
      control::is_low(done.priority);
  path().probes.on_sent(now);
  ++counters.packets_out;
  counters.bytes_out += size;
}

}  // namespace satrelay::stp
