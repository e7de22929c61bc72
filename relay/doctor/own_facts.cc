#include "relay/doctor/own_facts.h"

#include "relay/client/stats_client.h"
#include "relay/version/version.h"

namespace satrelay::ctl::doctor {
namespace {

FileChange change_of(const std::string& path, const TakenOver& running) {
  const auto known = running.files.find(path);
  const auto now = stamp_of(path);
  // A file that the user may not look at has a finding of its own.
  if (known == running.files.end() || !now) return FileChange::kNone;
  if (!now->exists) return FileChange::kGone;
  return *now == known->second ? FileChange::kNone : FileChange::kChanged;
}

FileFacts look_at_files(const std::string& file, const TakenOver& running) {
  FileFacts facts;
  facts.path = file;
  facts.config = running.config;
  facts.read_files = read_files_of(file, &running.config);
  for (ReadFile& each : facts.read_files) each.change = change_of(each.path, running);
  return facts;
}

}  // namespace

Facts OwnFacts::read(const TakenOver& running, Instant now) {
  Facts facts;
  facts.version = version();
  facts.file = look_at_files(environment_.file, running);
  StatsClient client(environment_.socket, StatsClient::kUsualTimeout, environment_.is_stopped);
  facts.gateway = read_gateway(client, environment_.window, environment_.pause);
  choose_span(*facts.gateway, now);
  facts.now_ms = utc_ms();
  read_machine(facts);
  read_rights(user_of(client), facts);
  return facts;
}

void OwnFacts::choose_span(GatewayFacts& facts, Instant now) {
  if (next_base_ && now - next_base_->at >= kSpan) base_ = std::exchange(next_base_, std::nullopt);
  if (!next_base_) next_base_ = Base{now, facts.counters, facts.ports};
  if (!base_) return;
  facts.base_counters = base_->counters;
  facts.base_ports = base_->ports;
  const auto minutes = (now - base_->at).to_nanoseconds() / Duration::seconds(60).to_nanoseconds();
  facts.span = "in the last " + std::to_string(minutes) + " minutes";
}

}  // namespace satrelay::ctl::doctor
