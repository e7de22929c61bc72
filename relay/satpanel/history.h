// Keeps samples for the panel's charts: one for each second of the last hour, and one for each
// minute of the last day. Two rings in a file of fixed size store them. Samples that did not reach
// the disk because of a loss of power are not shown.
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

inline constexpr std::size_t kHistoryClasses = 17;  // as many as a gateway can have

// The values for one second or one minute. NaN means that a value is not known.
struct Sample {
  std::uint64_t time = 0;       // seconds since 1970, UTC; 0 means that there is no sample
  float send_bps = 0;           // sent to the links: STP and bridged frames
  float receive_bps = 0;        // received from the links
  float lan_in_bps = 0;         // received from hosts of the LAN
  float lan_out_bps = 0;        // sent to hosts of the LAN
  float loss_ratio = 0;         // lost packets divided by sent STP packets, over all peers
  float rtt_seconds = 0;        // longest round-trip time of the peers that are alive
  float queued_bytes = 0;       // bridged and relayed bytes that wait for the links
  float compression_ratio = 0;  // plain bytes divided by encoded bytes
  float peers_alive = 0;
  float flows = 0;
  // For each class, in the order of /satrelay/classes.
  std::array<float, kHistoryClasses> class_bps{};  // bits a second that the class sent
  std::array<float, kHistoryClasses> class_queued_bytes{};
  std::array<float, kHistoryClasses> class_compression_ratio{};
};

class History {
 public:
  static constexpr std::size_t kSeconds = 3600;
  static constexpr std::size_t kMinutes = 1440;

  enum class Span : std::uint8_t { kHour, kDay };

  // If `file` is empty, keeps the history only in memory. Converts a file of the previous version.
  // Renames a file of an unknown format, and creates a new file. notice() reports both cases.
  // Throws std::runtime_error if the file cannot be used.
  explicit History(const std::filesystem::path& file);
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  ~History();

  // Says what happened to a file that another version wrote. "" if there was no such file.
  const std::string& notice() const { return notice_; }
  // Adds the readings taken at `time`, in seconds since 1970, UTC. Computes rates from the
  // difference to the readings that were added before. May be called from any thread.
  void add(const metrics::Readings& readings, std::uint64_t time);
  // Returns the samples of the span that ends at `now`, the oldest first.
  std::vector<Sample> samples(Span span, std::uint64_t now) const;
  std::vector<std::string> class_names() const;

 private:
  // The totals of the gateway's counters.
  struct Totals {
    std::string boot_epoch;
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
  // Reads the samples of the file. If the file has the format of this version, keeps it open and
  // returns true. Otherwise returns false, and a new file must be created.
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
