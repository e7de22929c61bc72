// Reads the events of a gateway's stats socket by their numbers, as often as the caller asks.
// Reports new events. Also reports if events were missed, or if the gateway restarted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "relay/client/reply.h"
#include "relay/client/stats_client.h"

namespace satrelay::ctl {

class EventReader {
 public:
  struct Sink {
    std::function<void(const Json& event)> event;  // called for each event, with `boot_epoch` added
    // A notice about the stream: events were missed, or the gateway restarted.
    std::function<void(const std::string& text)> notice;
  };
  EventReader(std::filesystem::path socket, Sink sink)
      : socket_(std::move(socket)), sink_(std::move(sink)) {}

  // Reads the events that the gateway keeps now, or the last `most` of them. Throws StatsError.
  void read_kept(std::optional<std::uint64_t> most);
  // Reads the events since the last read. read_kept() must be called first. If the gateway does not
  // answer, reports that once; the next call tries again.
  void read_new();

 private:
  struct Numbers {
    std::string boot_epoch;
    std::uint64_t oldest = 0;
    std::uint64_t latest = 0;
  };
  Numbers numbers(StatsClient& client) const;
  void read(StatsClient& client, const Numbers& kept);
  void follow_up();

  std::filesystem::path socket_;
  Sink sink_;
  std::string boot_epoch_;
  std::uint64_t next_ = 1;
  bool is_gone_ = false;
};

}  // namespace satrelay::ctl
