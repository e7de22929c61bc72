#include "relay/satrelayd/commands/reload.h"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "config/checks/changes.h"
#include "config/readers/loader.h"
#include "config/text/error.h"

namespace satrelay::satrelayd {

namespace {

Reload::Outcome refused_for(const config::ConfigError& error, ReloadRefusal refusal) {
  Reload::Outcome outcome;
  outcome.error = error.what();
  outcome.refusal = refusal;
  if (error.mistakes().size() > 1) outcome.mistakes = config::lines_of(error);
  return outcome;
}

// The dictionaries of the classes are large, so they stay out of the copy.
Reload::Running running_of(config::Gateway& next, const std::filesystem::path& file,
                           const std::optional<ctl::doctor::FileStamp>& stamp) {
  auto classes = std::exchange(next.classes, {});
  Reload::Running running = ctl::doctor::taken_over(next, file.string(), stamp);
  next.classes = std::move(classes);
  return running;
}

}  // namespace

Reload::Outcome read_changes(const std::filesystem::path& file, const config::Gateway& started,
                             const std::shared_ptr<const config::Changeable>& running) {
  Reload::Outcome outcome;
  try {
    const auto stamp = ctl::doctor::stamp_of(file.string());
    config::Gateway next = config::load_gateway(file);
    std::string keys;
    for (const std::string& key : config::needs_restart(started, next)) {
      keys += (keys.empty() ? "" : ", ") + key;
    }
    if (!keys.empty()) {
      outcome.error = "needs a restart: " + keys;
      outcome.refusal = ReloadRefusal::kNeedsRestart;
      return outcome;
    }
    outcome.prepared = gateway::Gateway::prepare(next);
    outcome.changeable = std::make_shared<const config::Changeable>(next);
    outcome.changes = outcome.changeable->changes_since(*running);
    outcome.taken_over = running_of(next, file, stamp);
    outcome.configuration = std::move(next);
  } catch (const config::FileError& error) {
    return refused_for(error, error.cause() == config::FileError::Cause::kRights
                                  ? ReloadRefusal::kFileRights
                                  : ReloadRefusal::kNoFile);
  } catch (const config::ConfigError& error) {
    return refused_for(error, ReloadRefusal::kMistake);
  } catch (const std::bad_alloc&) {
    outcome.error = "not enough memory for the configuration";
    outcome.refusal = ReloadRefusal::kNoMemory;
  } catch (const std::exception& error) {
    outcome.error = error.what();
  }
  return outcome;
}

void Reload::begin() {
  again_ = reading_.valid();
  if (again_) return;
  reading_ = std::async(std::launch::async, [this, running = running_] {
    settle_();
    return read_changes(file_, started_, running);
  });
}

std::optional<Reload::Outcome> Reload::poll() {
  // Begin the second reading only here: the configuration that the first reading returned has been
  // applied by now, and the second reading compares the file with that configuration.
  if (!reading_.valid() && again_) begin();
  if (!reading_.valid() ||
      reading_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return std::nullopt;
  }
  return reading_.get();
}

}  // namespace satrelay::satrelayd
