#include "relay/doctor/own_facts.h"

#include <algorithm>

#include "config/readers/loader.h"
#include "config/text/error.h"
#include "relay/client/stats_client.h"
#include "relay/version/version.h"

namespace satrelay::ctl::doctor {
namespace {

// The judgements need neither keys nor dictionaries.
config::Gateway without_bulk(config::Gateway config) {
  forget_secrets(config);
  config.classes.clear();
  return config;
}

}  // namespace

OwnFacts::OwnFacts(Environment environment, config::Gateway config)
    : environment_(std::move(environment)), running_(without_bulk(std::move(config))) {}

Facts OwnFacts::read(std::uint64_t reloads, Instant now) {
  Facts facts;
  facts.version = version();
  facts.file = look_at_file(reloads);
  StatsClient client(environment_.socket, StatsClient::kUsualTimeout, environment_.is_stopped);
  facts.gateway = read_gateway(client, environment_.window, environment_.pause);
  choose_span(*facts.gateway, now);
  facts.now_ms = utc_ms();
  read_machine(facts);
  read_rights(user_of(client), facts);
  const bool shows_rights = std::ranges::any_of(
      facts.file.read_files, [](const ReadFile& each) { return !each.is_readable; });
  // A file that the user may not read has a finding of its own.
  if (lacks_rights_ && shows_rights) facts.file.mistake.clear();
  return facts;
}

FileFacts OwnFacts::look_at_file(std::uint64_t reloads) {
  FileFacts facts;
  facts.path = environment_.file;
  const auto look = [&] {
    facts.read_files = read_files_of(facts.path, &running_);
    std::vector<std::pair<std::string, std::uint64_t>> found;
    for (const ReadFile& each : facts.read_files) found.emplace_back(each.path, each.changed_ms);
    return found;
  };
  auto found = look();
  const bool is_taken_over = reloads != std::exchange(reloads_, reloads);
  if (is_taken_over || found != loaded_) {
    load(is_taken_over);
    loaded_ = is_taken_over ? look() : std::move(found);
  }
  facts.mistake = mistake_;
  facts.config = running_;
  return facts;
}

void OwnFacts::load(bool is_taken_over) {
  mistake_.clear();
  lacks_rights_ = false;
  try {
    config::Gateway config = config::load_gateway(environment_.file);
    if (is_taken_over) running_ = without_bulk(std::move(config));
  } catch (const config::FileError& error) {
    mistake_ = error.what();
    lacks_rights_ = error.cause() == config::FileError::Cause::kRights;
  } catch (const config::ConfigError& error) {
    mistake_ = error.what();
  }
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
