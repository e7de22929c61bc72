#include "relay/satpanel/alarms/alarm_book.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "relay/client/reply.h"
#include "relay/metrics/reply_fields.h"
#include "relay/ops/events/event.h"

namespace satrelay::panel {
namespace {

using ctl::Json;
using ops::EventKind;

constexpr const char* kHeard = "heard";      // whether packets from a peer arrive
constexpr const char* kLink = "link";        // whether a port has a link
constexpr const char* kAnswers = "answers";  // whether the gateway answers
constexpr const char* kGateway = "gateway";

enum class Turn { kWorse, kOver };

struct Change {
  EventKind kind;
  const char* about;
  Turn turn;
};
// The events that raise or end alarms. `about` is the matter of the alarm (alarm_book.h).
constexpr Change kChanges[] = {
    {EventKind::kPeerUnheard, kHeard, Turn::kWorse},
    {EventKind::kPeerSilent, kHeard, Turn::kWorse},
    {EventKind::kPeerLost, kHeard, Turn::kWorse},
    {EventKind::kPeerRestarted, kHeard, Turn::kWorse},
    {EventKind::kPeerClosed, kHeard, Turn::kWorse},
    {EventKind::kPeerWrongKey, kHeard, Turn::kWorse},
    {EventKind::kPeerOtherVersion, kHeard, Turn::kWorse},
    {EventKind::kPeerUnlikeSecurity, kHeard, Turn::kWorse},
    {EventKind::kPeerUnlikeWorkers, kHeard, Turn::kWorse},
    {EventKind::kPeerAlive, kHeard, Turn::kOver},
    {EventKind::kPeerReturned, kHeard, Turn::kOver},
    {EventKind::kRateCut, "rate", Turn::kWorse},
    {EventKind::kRateRestored, "rate", Turn::kOver},
    {EventKind::kPortDown, kLink, Turn::kWorse},
    {EventKind::kPortGone, kLink, Turn::kWorse},
    {EventKind::kPortUnfit, kLink, Turn::kWorse},
    {EventKind::kPortUp, kLink, Turn::kOver},
    {EventKind::kPortReturned, kLink, Turn::kOver},
    {EventKind::kMemoryLow, "memory", Turn::kWorse},
    {EventKind::kMemoryNormal, "memory", Turn::kOver},
    {EventKind::kSynFlood, "flood", Turn::kWorse},
    {EventKind::kSynFloodOver, "flood", Turn::kOver},
    {EventKind::kWorkerOverloaded, "load", Turn::kWorse},
    {EventKind::kWorkerKeepsUp, "load", Turn::kOver},
    {EventKind::kWorkerStuck, "worker", Turn::kWorse},
    {EventKind::kWorkerReturned, "worker", Turn::kOver},
    {EventKind::kRecordsFailing, "records", Turn::kWorse},
    {EventKind::kRecordsResumed, "records", Turn::kOver},
    {EventKind::kReloadRefused, "reload", Turn::kWorse},
    {EventKind::kReloadDone, "reload", Turn::kOver},
};

// Faults of a peer that is not alive. They say more than the events about it, and are the same
// matter.
constexpr std::string_view kFaultsOfSilence[] = {"peer_misdirected", "peer_one_way",
                                                 "peer_other_address"};

bool is_of_silence(std::string_view check) {
  return std::ranges::find(kFaultsOfSilence, check) != std::end(kFaultsOfSilence);
}

const Change* change_of(std::string_view name) {
  const auto found = std::ranges::find(
      kChanges, name, [](const Change& change) { return ops::describe(change.kind).name; });
  return found == std::end(kChanges) ? nullptr : found;
}

// Whether an event or a reading can end an alarm about the matter `about`. If not, the alarm ends
// when the gateway has not repeated it for kForgottenAfterMs.
bool has_end(std::string_view about) {
  return about == kAnswers ||
         std::ranges::any_of(kChanges, [&](const Change& each) { return each.about == about; });
}

std::string string_of(const Json& event, const char* key) {
  return std::string(metrics::word(event, key).value_or(""));
}

// Returns the alarm for trouble that the readings show. The alarm has the same texts as the event
// of type `kind`, which reports the same trouble.
Alarm alarm_of(EventKind kind, const std::string& subject, std::uint64_t now_ms) {
  const ops::EventDescription& event = ops::describe(kind);
  return {.name = std::string(event.name),
          .severity = std::string(ops::to_string(event.severity)),
          .subject = subject,
          .text = std::string(event.text),
          .advice = std::string(event.advice),
          .since_ms = now_ms,
          .told_ms = now_ms};
}

// Returns the event that reports a state of a peer. There are three events for the state `refused`,
// which all have the same remedy.
EventKind kind_of_state(std::string_view state) {
  if (state == "connecting") return EventKind::kPeerUnheard;
  if (state == "suspect") return EventKind::kPeerSilent;
  if (state == "closed") return EventKind::kPeerClosed;
  if (state == "wrong_key") return EventKind::kPeerWrongKey;
  if (state == "refused") return EventKind::kPeerOtherVersion;
  return EventKind::kPeerAlive;
}

bool is_fault(const Alarm& alarm) { return alarm.name == ops::describe(EventKind::kFault).name; }

EventKind kind_of_link(std::string_view link) {
  if (link == "down") return EventKind::kPortDown;
  return link == "gone" ? EventKind::kPortGone : EventKind::kPortUp;
}

}  // namespace

Alarm alarm_of(const Json& event) {
  const std::uint64_t time = ctl::number(event, "time_ms").value_or(0);
  return {.name = string_of(event, "name"),
          .severity = string_of(event, "severity"),
          .subject = string_of(event, "subject"),
          .text = string_of(event, "text"),
          .detail = string_of(event, "detail"),
          .advice = string_of(event, "advice"),
          .number = ctl::number(event, "number").value_or(0),
          .since_ms = time,
          .told_ms = time};
}

void AlarmBook::raise(const Key& key, Alarm alarm, Notices& notices) {
  Alarm& kept = alarms_[key];
  alarm.index = kept.index != 0 ? kept.index : ++last_index_;
  alarm.matter = key.second;
  if (kept.index != 0 && kept.name == alarm.name) alarm.since_ms = kept.since_ms;
  kept = std::move(alarm);
  notices.push_back({.is_over = false, .alarm = kept});
}

void AlarmBook::end(const Key& key, Alarm by, Notices& notices) {
  const auto found = alarms_.find(key);
  if (found == alarms_.end()) return;
  by.index = found->second.index;
  alarms_.erase(found);
  notices.push_back({.is_over = true, .alarm = std::move(by)});
}

std::vector<AlarmNotice> AlarmBook::handle_event(const Json& event) {
  Notices notices;
  Alarm told = alarm_of(event);
  const std::string epoch = ctl::identifier(event, "boot_epoch");
  if (epoch != boot_epoch_) {
    // A restarted gateway reports all trouble again, so end the alarms of the earlier run.
    boot_epoch_ = epoch;
    while (!alarms_.empty()) {
      Alarm over = alarms_.begin()->second;
      over.text = "the gateway restarted";
      over.detail = over.advice = "";
      end(alarms_.begin()->first, std::move(over), notices);
    }
    differs_since_ms_.clear();
  }
  const std::string check = string_of(event, "check");
  if (told.name == ops::describe(EventKind::kFault).name) {
    const Key fault{told.subject, is_of_silence(check) ? kHeard : check};
    raise(fault, std::move(told), notices);
    return notices;
  }
  if (told.name == ops::describe(EventKind::kFaultOver).name) {
    handle_end_of_fault(check, std::move(told), notices);
    return notices;
  }
  const Change* change = change_of(told.name);
  const Key key{told.subject, change != nullptr ? change->about : told.name};
  if (change != nullptr && change->turn == Turn::kOver) {
    end(key, std::move(told), notices);
  } else if (change != nullptr ||
             (told.severity != ops::to_string(ops::Severity::kInfo) && !told.name.empty())) {
    raise(key, std::move(told), notices);
  }
  return notices;
}

// The end of one cause does not make a silent peer alive.
void AlarmBook::handle_end_of_fault(const std::string& check, Alarm told, Notices& notices) {
  const Key key{told.subject, is_of_silence(check) ? kHeard : check};
  if (!is_of_silence(check)) {
    end(key, std::move(told), notices);
    return;
  }
  const auto found = alarms_.find(key);
  if (found == alarms_.end() || !is_fault(found->second)) return;
  raise(key, alarm_of(EventKind::kPeerUnheard, told.subject, told.told_ms), notices);
}

void AlarmBook::compare(const Key& key, Alarm found, bool is_wrong, std::uint64_t now_ms,
                        Notices& notices) {
  if (is_wrong == alarms_.contains(key)) {
    differs_since_ms_.erase(key);
    return;
  }
  const std::uint64_t since = differs_since_ms_.try_emplace(key, now_ms).first->second;
  if (now_ms < since + kPatienceMs) return;
  differs_since_ms_.erase(key);
  if (is_wrong) {
    raise(key, std::move(found), notices);
  } else {
    end(key, std::move(found), notices);
  }
}

void AlarmBook::look_at_gateway(const metrics::Readings& readings, std::uint64_t now_ms,
                                Notices& notices) {
  has_looked_ |= readings.up || !readings.error.empty();
  if (!has_looked_) return;
  Alarm found{.name = readings.up ? "gateway_answers" : "gateway_silent",
              .severity = std::string(
                  ops::to_string(readings.up ? ops::Severity::kInfo : ops::Severity::kError)),
              .subject = kGateway,
              .text = readings.up ? "it answers again" : "it does not answer",
              .detail = readings.error,
              .advice = readings.up ? "" : "read its log, and the log of its supervisor",
              .since_ms = now_ms,
              .told_ms = now_ms};
  compare({kGateway, kAnswers}, std::move(found), !readings.up, now_ms, notices);
}

std::vector<AlarmNotice> AlarmBook::handle_readings(const metrics::Readings& readings,
                                                    std::uint64_t now_ms) {
  Notices notices;
  look_at_gateway(readings, now_ms, notices);
  std::vector<Key> forgotten;
  for (const auto& [key, alarm] : alarms_) {
    if (!is_fault(alarm) && !has_end(key.second) && now_ms > alarm.told_ms + kForgottenAfterMs)
      forgotten.push_back(key);
  }
  for (const Key& key : forgotten) {
    Alarm over = alarms_.at(key);
    over.text = "not reported again";
    over.detail = over.advice = "";
    end(key, std::move(over), notices);
  }
  if (!readings.up) return notices;
  // A gateway that has run for this long has reported all peers from which it receives no packets.
  constexpr std::uint64_t kUnheardAfterMs = 15'000;
  const bool is_young = ctl::number(readings.status, "uptime_ms").value_or(0) < kUnheardAfterMs;
  for (const Json& peer : readings.peers) {
    const auto state = metrics::word(peer, "state");
    if (!state || (is_young && *state == "connecting")) continue;
    const std::string subject = "peer " + string_of(peer, "name");
    const EventKind kind = kind_of_state(*state);
    compare({subject, kHeard}, alarm_of(kind, subject, now_ms), kind != EventKind::kPeerAlive,
            now_ms, notices);
  }
  if (!readings.ports.is_object()) return notices;
  for (const auto& [name, port] : readings.ports.items()) {
    const auto link = metrics::word(port, "link");
    if (!link) continue;
    const std::string subject = "port " + name;
    const EventKind kind = kind_of_link(*link);
    compare({subject, kLink}, alarm_of(kind, subject, now_ms), kind != EventKind::kPortUp, now_ms,
            notices);
  }
  return notices;
}

std::vector<Alarm> AlarmBook::alarms() const {
  std::vector<Alarm> all;
  for (const auto& [key, alarm] : alarms_) all.push_back(alarm);
  std::ranges::sort(all, {}, &Alarm::index);
  return all;
}

}  // namespace satrelay::panel
