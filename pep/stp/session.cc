#include "pep/stp/session.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "pep/stp/session_impl.h"

namespace satrelay::stp {

namespace {

constexpr int kClosePackets = 3;

Handshake::Config handshake_config(const Config& config) {
  return {config.boot_epoch,          config.opens_even_streams,
          config.lane_count,          config.datagram_size,
          config.hello_interval,      config.fec == FecMode::kAuto ? kCapabilityRepair : 0,
          config.security.has_value()};
}

const Config& checked(const Config& config) {
  if (config.boot_epoch == 0) throw std::invalid_argument("stp: boot_epoch must not be 0");
  if (config.datagram_size < kMinDatagram) {
    throw std::invalid_argument("stp: datagram_size must be at least 512");
  }
  if (config.feedback_minimum > config.feedback_maximum) {
    throw std::invalid_argument("stp: feedback_minimum exceeds feedback_maximum");
  }
  if (config.security && config.security->entropy == nullptr) {
    throw std::invalid_argument("stp: security needs a source of entropy");
  }
  return config;
}

}  // namespace

Session::Impl::Impl(const Config& settings, Arena& blocks, control::Pacer& carrier,
                    control::RateController& rate_controller, StreamSource& stream_source,
                    Instant start)
    : config(checked(settings)),
      arena(blocks),
      gate(carrier, rate_controller, settings.datagram_overhead),
      source(stream_source),
      now(start),
      handshake(handshake_config(settings), start),
      protection(settings.security, settings.lane, settings.opens_even_streams,
                 settings.datagram_size),
      newcomer(settings.security, settings.lane, settings.opens_even_streams,
               settings.datagram_size),
      streams(new_table()),
      schedule(new_schedule()) {
  if (config.fec == FecMode::kAuto) fec = std::make_unique<Fec>(config.datagram_size);
  if (config.security) {
    key_exchange.emplace(*config.security, config.lane, config.opens_even_streams,
                         config.boot_epoch);
    config.security.reset();  // a secret is kept once, and forgotten when another follows
  }
  renew_promise();
  drop_connection();
}

// Forgets everything that was agreed with the peer; our own stream ids go on, so that the relay
// never sees one twice.
void Session::Impl::drop_connection() {
  leave_streams();
  gate.clear();
  if (fec != nullptr) fec->clear();
  const bool had_capacity = connection && !connection->peer_capacity.capacity().is_zero();
  SentLedger unused = connection ? std::move(connection->ledger).renewed()
                                 : SentLedger(config.max_packets_in_flight);
  connection.emplace(config, arena, std::move(unused), hello_lane_credit, now);
  if (had_capacity) peer_events.push(Event::Kind::kCapacity);
}

// What HELLO promises from now on.
void Session::Impl::renew_promise() {
  const std::uint64_t promised = hello_lane_credit;
  hello_lane_credit = std::min(config.lane_receive_limit, free_memory());
  // What has been sealed in an offer cannot be taken back.
  if (key_exchange && hello_lane_credit != promised) key_exchange->withdraw_offer();
}

// The newcomer has proved to be the peer: what there was with another is over.
void Session::Impl::take_over() {
  const bool restarted = connected();
  drop_connection();
  std::swap(protection, newcomer);
  newcomer.clear();
  if (restarted) {
    ++counters.peer_restarts;
    peer_events.push(Event::Kind::kPeerRestarted);
  }
}

void Session::Impl::establish() {
  state = PeerState::kAlive;
  schedule.pause(false);
  connection->lane_send.limit = handshake.peer().lane_credit;
  lane_shares.start(connection->lane_send.limit);
  connection->peer_start_credit.start(handshake.peer().stream_credit);
  own_capacity.on_new_session();
  connection->path.start(static_cast<std::uint16_t>(
      std::max<std::size_t>(handshake.peer().datagram_size, kMinDatagram)));
  connection->probes.start(now);
  if (connection->lane_receive.granted() < config.lane_receive_limit) {
    connection->memory_check =
        now + config.feedback_minimum;  // memory was short when the HELLO was made
  }
  peer_events.push(Event::Kind::kPeerAlive);
}

void Session::Impl::heard() {
  if (connection->probes.is_return(now)) {
    note_outage();
    connection->probes.on_return(now);
  }
  connection->probes.on_heard(now);
  key_doubt.on_heard();
  const bool was_doubted = std::exchange(connection->doubts_peer, false);
  if (state == PeerState::kSuspect) {
    state = PeerState::kAlive;
    schedule.pause(false);
    peer_events.push(Event::Kind::kPeerAlive);
  } else if (was_doubted) {
    peer_events.push(Event::Kind::kPeerAlive);
  }
}

void Session::Impl::close_by_peer() {
  if (!connected()) return;
  drop_connection();
  protection.clear();
  handshake.stop();
  if (handshake.newcomer() == 0) renew_promise();
  state = PeerState::kClosed;
  peer_events.push(Event::Kind::kPeerClosed);
}

void Session::Impl::run_timers() {
  if (!connected()) return;
  run_loss_timer();
  run_fec();
  if (connection->probes.probe_due(now)) {
    ++counters.tail_probes;
    connection->ping_due = true;
    if (connection->probes.on_probe(now)) arm_tail_probe();
  } else if (connection->probes.ping_due(now)) {
    connection->ping_due = true;
  }
  if (state == PeerState::kAlive && connection->probes.silent(now)) {
    state = PeerState::kSuspect;
    schedule.pause(true);
    peer_events.push(Event::Kind::kPeerSuspect);
  }
  if (now >= connection->memory_check) check_memory();
  if (!linger.empty() && now >= linger.front()->linger_deadline) run_linger();
  connection->path.handle_timeout(now);
  protection.expire(now);
}

std::optional<Event> Session::Impl::poll_stream_event() {
  while (!events.empty()) {
    Stream& stream = *events.front();
    work.add();
    Event event;
    event.stream = StreamId{stream.id};
    event.context = stream.context;
    Stream::Pending& pending = stream.pending;
    const auto take = [](bool& flag) {
      const bool was = flag;
      flag = false;
      return was;
    };
    if (take(pending.opened)) {
      event.kind = Event::Kind::kOpened;
    } else if (take(pending.readable)) {
      event.kind = Event::Kind::kReadable;
    } else if (take(pending.writable)) {
      event.kind = Event::Kind::kWritable;
    } else if (take(pending.confirmed)) {
      event.kind = Event::Kind::kConfirmed;
    } else if (take(pending.delivered)) {
      event.kind = Event::Kind::kDelivered;
    } else if (take(pending.reset)) {
      event.kind = Event::Kind::kReset;
      event.reason = stream.event_reason;
      events.remove(stream);
      free_if_over(stream);
      return event;
    } else {
      events.remove(stream);
      continue;
    }
    if (!pending.any()) events.remove(stream);
    return event;
  }
  return std::nullopt;
}

Instant Session::Impl::next_timeout() const {
  if (work_waits()) return now;
  if (state == PeerState::kClosed && closed_here) {
    return close_packets > 0 ? now : Instant::never();
  }
  Instant at = handshake.next_hello();
  if (!connected()) return at;
  if (protection.is_worn_out(connection->ledger.next())) {
    return state == PeerState::kAlive ? earlier(at, connection->probes.suspect_at()) : at;
  }
  if (control_waits()) return now;
  if (!confirms.empty()) at = earlier(at, connection->next_confirm);
  if (connection->received.next() > 0) at = earlier(at, connection->feedback.due());
  at = earlier(at, connection->probes.next_probe());
  if (state == PeerState::kAlive) at = earlier(at, connection->probes.suspect_at());
  at = earlier(at, connection->losses.deadline());
  at = earlier(at, connection->memory_check);
  if (!linger.empty()) at = earlier(at, linger.front()->linger_deadline);
  at = earlier(at, connection->path.next_timeout());
  if (data_waits() || mtu_probe_waits()) at = earlier(at, gate.opens_at());
  at = earlier(at, fec_timeout());
  at = earlier(at, protection.next_timeout());
  return at;
}

// --- Session -----------------------------------------------------------------------------------

Session::Session(const Config& config, Arena& arena, control::Pacer& carrier,
                 control::RateController& controller, StreamSource& source, Instant now)
    : impl_(std::make_unique<Impl>(config, arena, carrier, controller, source, now)) {}

Session::~Session() = default;

void Session::handle_packet(ConstBytes datagram, Instant now) {
  impl_->begin_call(now);
  impl_->handle_packet(datagram);
  impl_->go_on();
}

void Session::handle_timeout(Instant now) {
  impl_->begin_call(now);
  impl_->go_on();
  impl_->run_timers();
}

std::optional<StreamId> Session::open_stream(ConstBytes metadata, std::uint32_t context,
                                             Instant now) {
  Impl& s = *impl_;
  s.now = now;
  if (!s.connected() || metadata.size() > kMaxMetadata || !s.has_place()) return std::nullopt;
  const std::uint64_t id = s.next_local_index * 2 + (s.config.opens_even_streams ? 0 : 1);
  Stream* stream = s.create_stream(id, Stream::Phase::kOpen, s.config.own_blocks);
  if (stream == nullptr) return std::nullopt;
  ++s.next_local_index;
  stream->context = context;
  stream->metadata_size = static_cast<std::uint16_t>(metadata.size());
  std::copy(metadata.begin(), metadata.end(), stream->metadata.begin());
  stream->open_due = true;
  s.opens.push_back(*stream);
  ++s.counters.streams_opened;
  return StreamId{id};
}

void Session::set_context(StreamId stream, std::uint32_t context) {
  if (Stream* s = impl_->visible(stream)) s->context = context;
}

void Session::set_group(StreamId stream, ClassId stream_class, std::uint64_t host) {
  if (Stream* s = impl_->visible(stream)) impl_->schedule.join(*s, stream_class, host);
}

void Session::set_ready(StreamId stream, bool ready) {
  Stream* s = impl_->visible(stream);
  if (s == nullptr) return;
  s->ready = ready;
  if (ready && s->blocked && impl_->has_room(*s)) s->blocked = false;
  impl_->update_active(*s);
}

std::size_t Session::write(StreamId stream, ConstBytes bytes, Instant now) {
  impl_->now = now;
  Stream* s = impl_->visible(stream);
  if (s == nullptr) return 0;
  const std::size_t stored =
      s->send.write(bytes, impl_->config.stream_send_limit, impl_->kept_for_receiving());
  impl_->on_written(*s);
  return stored;
}

void Session::finish(StreamId stream) {
  Stream* s = impl_->visible(stream);
  if (s == nullptr || s->send.finished()) return;
  s->send.finish();
  s->ready = false;
  s->blocked = false;
  impl_->memory_waiters.remove(*s);
  impl_->update_active(*s);
}

void Session::confirm(StreamId stream, const Confirmation& confirmation, Instant now) {
  impl_->now = now;
  Stream* s = impl_->visible(stream);
  if (s == nullptr) return;
  const Confirmation before = s->confirmations.ours();
  if (!s->confirmations.say(confirmation)) return;
  // What a host waits for does not wait for the clock.
  if (confirmation.answered != before.answered || confirmation.ended != before.ended) {
    impl_->connection->next_confirm = now;
  }
  impl_->confirms.push_back(*s);
}

void Session::reset(StreamId stream, ResetReason reason, Instant now) {
  impl_->now = now;
  Stream* s = impl_->visible(stream);
  if (s == nullptr) return;
  ++impl_->counters.streams_reset_out;
  impl_->events.remove(*s);
  s->pending = {};
  impl_->begin_reset(*s, reason);
}

void Session::consume(StreamId stream, std::uint64_t count, Instant now) {
  impl_->now = now;
  Stream* s = impl_->visible(stream);
  if (s == nullptr) return;
  impl_->consume(*s, std::min(count, s->receive.bytes().readable()));
}

void Session::set_reader_needs(StreamId stream, std::uint64_t bytes, Instant now) {
  impl_->now = now;
  if (Stream* s = impl_->visible(stream)) impl_->set_reader_needs(*s, bytes);
}

void Session::release(StreamId stream, Instant now) {
  impl_->now = now;
  Stream* s = impl_->visible(stream);
  if (s == nullptr) return;
  s->released = true;
  s->ready = false;
  s->pending = {};
  impl_->events.remove(*s);
  if (s->receive.bytes().readable() > 0) impl_->consume(*s, s->receive.bytes().readable());
  s->linger_deadline = now + impl_->config.stream_linger;
  impl_->linger.push_back(*s);
  impl_->update_active(*s);
  impl_->free_if_over(*s);
}

void Session::set_observer(PacketObserver* observer) {
  impl_->protection.set_observer(observer);
  impl_->newcomer.set_observer(observer);
}

void Session::set_secrets(const crypto::Psk& psk, const std::optional<crypto::Psk>& other) {
  if (impl_->key_exchange) impl_->key_exchange->set_secrets(psk, other);
}

void Session::announce_capacity(BitRate capacity) { impl_->own_capacity.announce(capacity); }

void Session::close(Instant now) {
  Impl& s = *impl_;
  s.now = now;
  if (s.closed_here) return;
  const bool tell = s.connected();
  // Packet numbers go on: the peer must not take the CLOSE for an old packet.
  s.closing_number = s.connection->ledger.next();
  s.drop_connection();
  s.handshake.end();
  s.state = PeerState::kClosed;
  s.closed_here = true;
  s.close_packets = tell ? kClosePackets : 0;
}

std::size_t Session::poll_packet(MutableBytes out, Instant now, const Turn& turn) {
  impl_->now = now;
  impl_->turn = turn;
  impl_->sent_of_classes.clear();
  return impl_->poll_packet(out);
}

std::span<const Session::ClassBytes> Session::last_classes() const {
  return impl_->sent_of_classes;
}

ClassSet Session::waiting() const {
  const ClassSet waiting = impl_->has_bytes(kEveryClass);
  // Asked of each of many sessions before every packet: most have nothing.
  if (waiting == 0 || !impl_->data_allowed()) return 0;
  return impl_->protection.is_worn_out(impl_->connection->ledger.next()) ? 0 : waiting;
}

bool Session::may_send(Instant now) const { return impl_->gate.open(now); }

std::size_t Session::waiting_hosts(ClassId stream_class) const {
  return std::max<std::size_t>(impl_->schedule.hosts(stream_class), 1);
}

std::optional<Event> Session::poll_event() {
  if (std::optional<Event> event = impl_->peer_events.pop()) return event;
  return impl_->poll_stream_event();
}

Instant Session::next_timeout() const { return impl_->next_timeout(); }

PeerState Session::peer_state() const { return impl_->state; }

std::uint64_t Session::peer_epoch() const { return impl_->handshake.peer().epoch; }

Duration Session::smoothed_rtt() const { return impl_->connection->rtt.smoothed(); }

std::optional<Duration> Session::measured_rtt() const {
  if (!impl_->connection->rtt.measured()) return std::nullopt;
  return impl_->connection->rtt.smoothed();
}

double Session::loss_ratio() const { return impl_->loss_ratio(); }

bool Session::knows_loss() const { return impl_->connection->recent_packets > 0; }

bool Session::doubts_peer() const {
  return impl_->connection->doubts_peer && impl_->state == PeerState::kAlive;
}

bool Session::doubts_key(Instant now) const {
  return impl_->state != PeerState::kAlive && impl_->key_doubt.holds(now);
}

std::size_t Session::datagram_limit() const { return impl_->datagram_limit(); }

BitRate Session::peer_capacity() const { return impl_->connection->peer_capacity.capacity(); }

BitRate Session::send_rate() const { return impl_->gate.rate(); }

control::Priority Session::last_priority() const { return impl_->gate.last_priority(); }

std::uint64_t Session::packets_in_flight() const { return impl_->connection->probes.in_flight(); }

std::uint64_t Session::bytes_stored() const {
  return impl_->connection->lane_receive.outstanding();
}

std::size_t Session::stream_count() const { return impl_->open_count; }

ConstBytes Session::metadata(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s == nullptr ? ConstBytes() : ConstBytes(s->metadata).first(s->metadata_size);
}

const Reassembler* Session::received(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s == nullptr ? nullptr : &s->receive.bytes();
}

bool Session::received_end(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s != nullptr && s->receive.complete();
}

Confirmation Session::confirmation(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s == nullptr ? Confirmation() : s->confirmations.theirs();
}

bool Session::confirmed(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s == nullptr || (s->confirmations.all_acknowledged() && !ConfirmList::contains(*s));
}

std::uint64_t Session::send_room(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s == nullptr ? 0 : impl_->room(*s);
}

std::uint64_t Session::unsent(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s == nullptr ? 0 : s->send.unsent();
}

std::uint64_t Session::unacknowledged(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s == nullptr ? 0 : s->send.unacknowledged();
}

std::uint64_t Session::credit(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s == nullptr ? 0
                      : std::min(s->send.credit(impl_->connection->peer_start_credit.limit()),
                                 impl_->lane_available(*s));
}

bool Session::has_lane_share() const { return impl_->has_lane_share(); }

bool Session::has_events() const { return !impl_->peer_events.empty() || !impl_->events.empty(); }

std::optional<std::uint32_t> Session::context(StreamId stream) const {
  const Stream* s = impl_->visible(stream);
  return s == nullptr ? std::nullopt : std::optional(s->context);
}

bool Session::work_waits() const { return impl_->work_waits(); }

std::uint64_t Session::visited() const { return impl_->work.total(); }

Counters Session::counters() const {
  Counters counters = impl_->counters;
  // Either has counted what it counted while it was the session's.
  counters.keys_in = impl_->protection.keys_in() + impl_->newcomer.keys_in();
  counters.keys_out = impl_->protection.keys_out() + impl_->newcomer.keys_out();
  return counters;
}

}  // namespace satrelay::stp
