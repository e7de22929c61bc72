#include "relay/dpdk/loop/telemetry_command.h"

#include <rte_telemetry.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <stdexcept>

#include "relay/dpdk/device/dpdk_version.h"

namespace satrelay::dpdk {
namespace {

// How long the telemetry thread waits for an answer. It is longer than the longest sleep of the
// polling thread.
constexpr std::chrono::milliseconds kPatience(1000);

// Held while a request is served, so that `current` cannot be destroyed during the request.
std::mutex current_mutex;
TelemetryCommand* current = nullptr;

int fill(const TelemetryReply& reply, rte_tel_data* data) {
  rte_tel_data_start_dict(data);
  for (const TelemetrySection& section : reply) {
    rte_tel_data* part = rte_tel_data_alloc();
    if (part == nullptr) return -ENOMEM;
    rte_tel_data_start_dict(part);
    for (const auto& [name, value] : section.values) {
      add_unsigned(part, name.c_str(), value);
    }
    if (rte_tel_data_add_dict_container(data, section.name.c_str(), part, 0) != 0) {
      rte_tel_data_free(part);
      return -ENOMEM;
    }
  }
  return 0;
}

// C code calls this function, so no exception may leave it.
int on_command(const char* /*command*/, const char* /*parameters*/, rte_tel_data* data) noexcept {
  try {
    const std::lock_guard lock(current_mutex);
    if (current == nullptr) return -ENODEV;
    const auto reply = current->ask();
    return reply ? fill(*reply, data) : -ETIMEDOUT;
  } catch (const std::exception&) {
    return -ENOMEM;
  }
}

}  // namespace

TelemetryCommand::TelemetryCommand(const std::string& path, const std::string& help) {
  const int result = rte_telemetry_register_cmd(path.c_str(), on_command, help.c_str());
  if (result != 0 && result != -EEXIST) {
    throw std::runtime_error("DPDK's telemetry does not take the command " + path);
  }
  const std::lock_guard lock(current_mutex);
  current = this;
}

TelemetryCommand::~TelemetryCommand() {
  answer({});  // ends a request that waits for an answer
  const std::lock_guard lock(current_mutex);
  current = nullptr;
}

void TelemetryCommand::answer(TelemetryReply reply) {
  {
    const std::lock_guard lock(mutex_);
    reply_ = std::move(reply);
    asked_ = false;
  }
  answered_.notify_all();
}

std::optional<TelemetryReply> TelemetryCommand::ask() {
  std::unique_lock lock(mutex_);
  reply_.reset();
  asked_ = true;
  if (!answered_.wait_for(lock, kPatience, [&] { return reply_.has_value(); })) {
    asked_ = false;
    return std::nullopt;
  }
  return std::move(*reply_);
}

}  // namespace satrelay::dpdk
