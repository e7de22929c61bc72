#include "relay/ops/events/event_log.h"

#include <utility>

namespace satrelay::ops {
namespace {

std::string words_of(const EventLimit::LeftOut& left_out) {
  return left_out.last_subject.empty() ? "" : ", the last one about " + left_out.last_subject;
}

std::vector<LogField> fields_of(const NumberedEvent& told, std::uint64_t boot_epoch) {
  const EventDescription& description = describe(told.event.kind);
  std::vector<LogField> fields{{"SATRELAY_EVENT", std::string(description.name)},
                               {"SATRELAY_NUMBER", std::to_string(told.number)},
                               {"SATRELAY_BOOT_EPOCH", std::to_string(boot_epoch)},
                               {"SATRELAY_SUBJECT", told.event.subject}};
  const auto add = [&](const char* name, std::string_view value) {
    if (!value.empty()) fields.push_back({name, std::string(value)});
  };
  add("SATRELAY_DETAIL", told.event.detail);
  add("SATRELAY_ADVICE", advice_of(told.event));
  add("SATRELAY_USER", told.user);
  add("SATRELAY_OLD", told.event.before);
  add("SATRELAY_NEW", told.event.after);
  if (told.event.fault) {
    add("SATRELAY_CHECK", told.event.fault->check);
    add("SATRELAY_CAUSE", told.event.fault->cause);
    add("SATRELAY_PAGE", told.event.fault->page);
  }
  return fields;
}

}  // namespace

void EventLog::tell(Event event) {
  for (std::string* text : {&event.subject, &event.detail, &event.before, &event.after}) {
    if (text->size() > kMostDetail) text->resize(kMostDetail);
  }
  if (event.fault) {
    for (std::string* text : {&event.fault->cause, &event.fault->cure}) {
      if (text->size() > kMostDetail) text->resize(kMostDetail);
    }
  }
  const std::uint64_t time_ms = environment_.time_ms();
  const std::lock_guard lock(mutex_);
  if (waiting_.size() < kMostWaiting) {
    waiting_.push_back({time_ms, std::move(event)});
  } else {
    ++overflow_[static_cast<std::size_t>(event.kind)];
  }
}

void EventLog::write(Instant now) {
  std::vector<Waiting> events;
  std::array<std::uint64_t, kEventKinds> overflow{};
  {
    const std::lock_guard lock(mutex_);
    std::swap(events, waiting_);
    std::swap(overflow, overflow_);
  }
  for (Waiting& told : events) write(std::move(told), now);
  for (std::size_t i = 0; i < kEventKinds; ++i) {
    const auto kind = static_cast<EventKind>(i);
    if (overflow[i] > 0) {
      kept_.leave_out(kind, "", overflow[i], now);
      lines_.leave_out(kind, "", overflow[i], now);
    }
    if (kept_.is_due(kind, now)) keep_left_out(kind);
    if (lines_.is_due(kind, now)) write_left_out(kind);
  }
}

void EventLog::write(Waiting waiting, Instant now) {
  const EventKind kind = waiting.event.kind;
  if (!kept_.take(kind, waiting.event.subject, now)) {
    // The ring does not keep the event, and the event has no number. Write no line for it either:
    // readers of the log could not find it by a number.
    lines_.leave_out(kind, waiting.event.subject, 1, now);
    return;
  }
  NumberedEvent told = named(std::move(waiting));
  told.number = ring_.add(told);
  write_line(told, now);
}

void EventLog::write_line(const NumberedEvent& told, Instant now) {
  const Event& event = told.event;
  if (!lines_.take(event.kind, event.subject, now)) return;
  write_left_out(event.kind);
  environment_.log(level_of(severity_of(event)), to_line(event, told.user),
                   fields_of(told, ring_.numbers().boot_epoch));
}

NumberedEvent EventLog::named(Waiting waiting) const {
  NumberedEvent told{.time_ms = waiting.time_ms, .event = std::move(waiting.event)};
  if (!told.event.caller) return told;
  const Caller& caller = *told.event.caller;
  told.user = environment_.name_of_user(caller.user);
  if (caller.on_behalf_of.empty()) return told;
  // The user of the panel replaces the user of the machine, so add the latter to the detail.
  std::string& detail = told.event.detail;
  detail += (detail.empty() ? "" : ", ") + ("through " + told.user);
  told.user = caller.on_behalf_of;
  return told;
}

void EventLog::keep_left_out(EventKind kind) {
  const auto left_out = kept_.said(kind);
  if (!left_out) return;
  ring_.add({.time_ms = environment_.time_ms(),
             .event = {EventKind::kEventsLeftOut, "gateway",
                       std::string(describe(kind).name) + ": " + std::to_string(left_out->count) +
                           words_of(*left_out)}});
}

void EventLog::write_left_out(EventKind kind) {
  const auto left_out = lines_.said(kind);
  if (!left_out) return;
  const EventDescription& description = describe(kind);
  environment_.log(level_of(description.severity),
                   std::string(description.name) + ": " + std::to_string(left_out->count) +
                       " more were not written" + words_of(*left_out),
                   {});
}

}  // namespace satrelay::ops
