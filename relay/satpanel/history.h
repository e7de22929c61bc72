// An hour of every second and a day of every minute, in two rings of a file of fixed size: what the
// panel draws. What comes over an end of power is a sample that is not shown.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "relay/metrics/readings.h"

namespace satrelay::panel {

inline constexpr std::size_t kHistoryClasses = 17;  // all that a gateway can have

// What a second, or a minute, was like. NaN: not known.
struct Sample {
  std::uint64_t time = 0;  // UTC, seconds; 0: none
  float send_bps = 0;      // to the links, STP and what is bridged
  float receive_bps = 0;   // from them
  float lan_in_bps = 0;    // from and to hosts of the LAN
  float lan_out_bps = 0;
  float loss_ratio = 0;         // of packets of STP that were sent, all peers
  float rtt_seconds = 0;        // the longest of the peers that are alive
  float queued_bytes = 0;       // that wait for the links, bridged and relayed
  float compression_ratio = 0;  // plain bytes by encoded ones
  float peers_alive = 0;
  float flows = 0;
  // Of classes, in the order of /satrelay/classes.
  std::array<float, kHistoryClasses> class_bps{};  // sent
  std::array<float, kHistoryClasses> class_queued_bytes{};
  std::array<float, kHistoryClasses> class_compression_ratio{};
};

class History {
 public:
  static constexpr std::size_t kSeconds = 3600;
  static constexpr std::size_t kMinutes = 1440;

  enum class Span : std::uint8_t { kHour, kDay };

  // In memory only, if `file` is empty. Throws std::runtime_error if the file cannot be had. One of
  // the version before is taken over. What is no history that is known is kept under another name,
  // and a new one begun: notice() says so.
  explicit History(const std::filesystem::path& file);
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  ~History();

  // What became of a file that was not as this version writes it; empty: it was, or there was none.
  const std::string& notice() const { return notice_; }
  // What was read at `time`; differences are to what was added before. Any thread.
  void add(const metrics::Readings& readings, std::uint64_t time);
  // Oldest first.
  std::vector<Sample> samples(Span span, std::uint64_t now) const;
  std::vector<std::string> class_names() const;

 private:
  // What counters have come to.
  struct Totals {
    std::uint64_t boot_epoch = 0;
    std::uint64_t time = 0;
    std::uint64_t lan_in = 0, lan_out = 0, wan_in = 0, wan_out = 0;  // bytes
    std::uint64_t packets_out = 0, packets_lost = 0;
    std::uint64_t plain = 0, encoded = 0;
    struct OfClass {
      std::uint64_t sent = 0, plain = 0, encoded = 0;  // bytes
    };
    std::vector<OfClass> classes;
  };
  static Totals totals_of(const metrics::Readings& readings, std::uint64_t time);
  static Sample difference(const Totals& before, const Totals& now,
                           const metrics::Readings& readings);
  void store(std::size_t slot, const Sample& sample);
  // Whether its samples were taken over.
  bool read_file(const std::filesystem::path& file);
  void make_file(const std::filesystem::path& file);

  std::string notice_;
  mutable std::mutex mutex_;
  int descriptor_ = -1;
  std::vector<Sample> seconds_;
  std::vector<Sample> minutes_;
  std::vector<std::string> class_names_;
  std::optional<Totals> second_before_;
  std::optional<Totals> minute_before_;
};

}  // namespace satrelay::panel
