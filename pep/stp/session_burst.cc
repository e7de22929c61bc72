// Bursts: packets that leave one after the other at one instant. begin_burst() makes the general
// checks once, before the first packet. The burst goes on while the answers still hold for the next
// packet. All packets are written by the same function.
#include <algorithm>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

std::size_t Session::Impl::poll_packets(std::span<const MutableBytes> rooms, std::size_t before,
                                        std::span<PolledPacket> packets) {
  const Changes::Poll poll(changes);
  const auto room = [&](std::size_t i) { return rooms[i].subspan(before); };
  const auto describe = [&](std::size_t i, std::size_t size) {
    const auto classes = writer.packet_classes();
    for (schedule::ClassBytes& each : classes) {
      each.hosts = streams->sending().schedule().hosts(each.stream_class);
    }
    packets[i] = {.size = static_cast<std::uint16_t>(size),
                  .classes = static_cast<std::uint8_t>(classes.size()),
                  .priority = path().gate.last_priority()};
  };
  Burst burst;
  if (const std::size_t size = begin_burst(burst, room(0)); size > 0) {
    describe(0, size);
    return 1;
  }
  if (!burst.may_send) return 0;
  PacketBuilder packet(room(0), connection.protection().trailer_size());
  std::size_t count = 0;
  do {
    const std::size_t size = write_packet(burst, packet, room(count));
    if (size == 0) break;
    describe(count++, size);
  } while (count < rooms.size() && room(count).size() >= kMinDatagram && goes_on(burst));
  return count;
}

// Makes the checks that hold for all packets of a burst. If a packet is due that leaves alone
// (CLOSE, HELLO, a probe of the path MTU, a repair), writes it into `room`, and returns its size.
std::size_t Session::Impl::begin_burst(Burst& burst, MutableBytes room) {
  burst.limit = next_limit();
  const MutableBytes out = room.first(std::min<std::size_t>(room.size(), burst.limit));
  if (out.size() < kMinDatagram) return 0;
  burst.only_data = changes.only_data(now);
  changes.forget_only_data();
  if (connection.has_closed())
    return connection.close_leaves(path().gate, now) ? send_close(out) : 0;
  if (!burst.only_data) run_timers();
  const std::uint64_t next = association->ledger.next();
  if (connection.connected()) connection.greet_again(next, now);
  if (connection.hello_leaves(path().gate, now)) return send_hello(out);
  if (!connection.connected() || connection.protection().is_worn_out(next)) return 0;
  path().gate.update(path().rtt.smoothed(), datagram_limit(), now);
  // If several sessions share the link, the part of each is not known here.
  streams->sending().schedule().set_rate(writer.turn().alone ? path().gate.steady_rate()
                                                             : BitRate());
  burst.is_open = path().gate.open(now);
  burst.may_send = burst.is_open || path().gate.control_open(now);
  if (!burst.is_open || burst.only_data) return 0;
  if (mtu_probe_waits()) {
    if (const std::size_t size = send_mtu_probe(room); size > 0) return size;
  }
  // A repair is as long as the longest of its packets, which may have left before large packets
  // were in doubt. A shorter limit would drop the repairs of the whole window.
  return send_repair(room.first(std::min<std::size_t>(room.size(), path().mtu.limit())));
}

// A packet of the burst has left. Whether the next one need not be looked at anew: it carries
// nothing but new bytes of the class that has the turn, and the relay has no event to handle
// before.
bool Session::Impl::goes_on(Burst& burst) {
  if (!changes.only_data(now) || (!burst.room && !keep_answers(burst))) return false;
  if (association->ledger.next() >= burst.end || !path().gate.has_room(*burst.room)) return false;
  if (burst.wrote == StreamWriter::Wrote::kMoreOfTheSame) return true;
  return writer.only_new_follows(*streams, now) && peer_events.empty() && streams->events().empty();
}

// Keeps the answers of begin_burst() that no further packet can change. False if one of them holds
// for a single packet only.
bool Session::Impl::keep_answers(Burst& burst) {
  const std::uint64_t next = association->ledger.next();
  if (!connection.is_alive() || path().probes.frozen()) return false;
  if (path().mtu.doubt() != PathMtu::Doubt::kNone) return false;
  if (connection.next_hello(path().gate) <= now || connection.needs_keys(next, now)) return false;
  burst.only_data = true;
  burst.limit = datagram_limit();
  burst.end = std::min(path().losses.oldest_unresolved() + most_in_flight(),
                       connection.protection().same_key_until(next));
  path().gate.update(path().rtt.smoothed(), burst.limit, now);
  burst.room = path().gate.room(now);
  return burst.room.has_value();
}

// A packet with nothing but data has left. True if everything else waits for time or for input, and
// not for more data to leave. Then nothing can become due before the next packet at this instant.
bool Session::Impl::only_data_follows() const {
  const bool repairs = may_repair() && !(fec->sender.rests() && now < fec->prompt.due());
  return !repairs && !credits_wait() && path().mtu.probe_due() == 0 &&
         path().probes.next_probe() > now;
}

// Writes the next packet of the burst: control, unless only data can be due, and bytes of streams.
// Returns its size; 0: there is nothing to send.
std::size_t Session::Impl::write_packet(Burst& burst, PacketBuilder& packet, MutableBytes room) {
  const MutableBytes out = room.first(std::min<std::size_t>(room.size(), burst.limit));
  const bool has_data = burst.room || (burst.is_open && data_waits());
  // The stream that comes first in the packet decides how the whole packet is covered.
  const std::optional<FecCode> code =
      has_data && may_repair() ? repair_planner().code() : std::nullopt;
  packet.renew(code ? out.first(out.size() - kRepairOverhead) : out);
  const Coverage coverage = code ? repair_planner().protect(packet, *code) : Coverage();
  const bool is_ping = path().requests.due();
  if (!burst.only_data) write_control(packet);
  const bool only_data = packet.empty();
  const std::uint64_t epoch = changes.epoch();
  burst.wrote = StreamWriter::Wrote::kAnything;
  if (only_data ? has_data : burst.is_open && data_waits()) {
    const std::size_t items = packet.items().size();
    burst.wrote = writer.write({packet, *streams, path().loss_rate, now});
    if (packet.items().size() > items) path().probes.on_data_sent();
  }
  if (packet.empty()) return 0;
  if (is_ping && path().probes.frozen() && path().mtu.is_raised() && path().gate.open(now)) {
    // Small and large PINGs take turns: an outage drops both, a black hole drops only the large
    // ones.
    path().large_ping = !path().large_ping;
    if (path().large_ping) packet.pad();
  }
  const std::uint64_t settled = path().losses.oldest_unresolved();
  const std::size_t size = finish_packet(packet, coverage, code ? std::nullopt : burst.room);
  // If the ledger was full, a packet was given up, and its content may have to be sent again first.
  const bool is_same = path().losses.oldest_unresolved() == settled;
  if (only_data && !code && is_same && (burst.only_data || only_data_follows())) {
    changes.note_only_data(now, epoch);
  } else {
    changes.forget_only_data();
  }
  return size;
}

}  // namespace satrelay::stp
