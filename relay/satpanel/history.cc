#include "relay/satpanel/history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "relay/client/reply.h"

namespace satrelay::panel {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// The file contains this header, then the samples of seconds, then the samples of minutes.
struct Header {
  std::array<char, 8> magic = {'s', 'r', 'h', 'i', 's', 't', '0', '2'};
  std::uint64_t sample_bytes = sizeof(Sample);
  std::uint64_t seconds = History::kSeconds;
  std::uint64_t minutes = History::kMinutes;
  bool operator==(const Header&) const = default;
};

// The previous version of the format. Its samples had only the first fields of the present samples.
constexpr Header kBefore{.magic = {'s', 'r', 'h', 'i', 's', 't', '0', '1'}, .sample_bytes = 120};
constexpr std::size_t kKnownBefore = offsetof(Sample, class_queued_bytes);

constexpr off_t size_of_file(const Header& header) {
  return static_cast<off_t>(sizeof(Header) +
                            (History::kSeconds + History::kMinutes) * header.sample_bytes);
}

using Json = nlohmann::ordered_json;

std::uint64_t number_of(const Json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

const Json& part_of(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found != object.end() ? *found : none;
}

bool read_exactly(int descriptor, void* to, std::size_t size, off_t at) {
  return ::pread(descriptor, to, size, at) == static_cast<ssize_t>(size);
}

bool write_exactly(int descriptor, const void* from, std::size_t size, off_t at) {
  return ::pwrite(descriptor, from, size, at) == static_cast<ssize_t>(size);
}

float per_second(std::uint64_t before, std::uint64_t now, double seconds) {
  return now < before ? kUnknown : static_cast<float>(static_cast<double>(now - before) / seconds);
}

// Returns the growth of the part divided by the growth of the whole, or kUnknown if the whole has
// not grown.
float ratio(std::uint64_t part_before, std::uint64_t part, std::uint64_t whole_before,
            std::uint64_t whole) {
  if (whole <= whole_before || part < part_before) return kUnknown;
  return static_cast<float>(static_cast<double>(part - part_before) /
                            static_cast<double>(whole - whole_before));
}

// Renames the file to the first free name. Files that were renamed earlier are kept, since they may
// still be wanted. Returns nullopt and sets errno if the renaming fails.
std::optional<std::filesystem::path> set_aside(const std::filesystem::path& file) {
  constexpr int kMostAside = 100;
  for (int number = 1; number <= kMostAside; ++number) {
    const std::string aside =
        file.string() + (number == 1 ? ".unknown" : fmt::format(".unknown.{}", number));
    if (::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, aside.c_str(), RENAME_NOREPLACE) == 0) {
      return aside;
    }
    if (errno != EEXIST) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

History::History(const std::filesystem::path& file) : seconds_(kSeconds), minutes_(kMinutes) {
  if (file.empty()) return;
  if (read_file(file)) return;
  make_file(file);
}

bool History::read_file(const std::filesystem::path& file) {
  const auto cannot = [&](const char* what) {
    return std::runtime_error(
        fmt::format("history {}: {}: {}", file.string(), what, std::strerror(errno)));
  };
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor_ < 0) {
    if (errno == ENOENT) return false;
    throw cannot("cannot be opened");
  }
  Header header;
  struct stat status {};
  const bool is_history =
      ::fstat(descriptor_, &status) == 0 && read_exactly(descriptor_, &header, sizeof header, 0) &&
      (header == Header() || header == kBefore) && status.st_size == size_of_file(header);
  std::vector<std::byte> octets;
  if (is_history) octets.resize(static_cast<std::size_t>(status.st_size) - sizeof header);
  if (is_history && read_exactly(descriptor_, octets.data(), octets.size(), sizeof header)) {
    const bool is_before = header == kBefore;
    const std::byte* from = octets.data();
    for (std::vector<Sample>* ring : {&seconds_, &minutes_}) {
      for (Sample& sample : *ring) {
        std::memcpy(&sample, from, is_before ? kKnownBefore : sizeof sample);
        if (is_before) {
          sample.class_queued_bytes.fill(kUnknown);
          sample.class_compression_ratio.fill(kUnknown);
        }
        from += header.sample_bytes;
      }
    }
    if (!is_before) return true;
    notice_ = fmt::format(
        "history {}: read from the format of an earlier version: its queue counts bridged bytes "
        "only, and its classes have neither queue nor compression",
        file.string());
  } else if (status.st_size != 0) {
    const auto aside = set_aside(file);
    if (!aside) throw cannot("cannot be set aside");
    notice_ = fmt::format(
        "history {}: the file is not from this program; it was kept as {}, and a new one was begun",
        file.string(), aside->string());
  }
  ::close(std::exchange(descriptor_, -1));
  return false;
}

// Writes the new file under another name, so that the old file stays until the new one is complete.
// Allocates all space now, so that a disk that is full later does no harm.
void History::make_file(const std::filesystem::path& file) {
  constexpr Header kHeader;
  const std::filesystem::path fresh = file.string() + ".new";
  const auto seconds_at = static_cast<off_t>(sizeof kHeader);
  const auto minutes_at = seconds_at + static_cast<off_t>(kSeconds * sizeof(Sample));
  descriptor_ = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor_ < 0) {
    throw std::runtime_error(
        fmt::format("history {}: cannot be created: {}", file.string(), std::strerror(errno)));
  }
  int error = ::posix_fallocate(descriptor_, 0, size_of_file(kHeader));
  if (error == 0 &&
      !(write_exactly(descriptor_, &kHeader, sizeof kHeader, 0) &&
        write_exactly(descriptor_, seconds_.data(), kSeconds * sizeof(Sample), seconds_at) &&
        write_exactly(descriptor_, minutes_.data(), kMinutes * sizeof(Sample), minutes_at) &&
        ::rename(fresh.c_str(), file.c_str()) == 0)) {
    error = errno;
  }
  if (error == 0) return;
  ::close(descriptor_);
  ::unlink(fresh.c_str());
  throw std::runtime_error(fmt::format("history {}: no room for its {} KB: {}", file.string(),
                                       size_of_file(kHeader) / 1000, std::strerror(error)));
}

History::~History() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

History::Totals History::totals_of(const metrics::Readings& readings, std::uint64_t time) {
  const Json& lan = part_of(readings.ports, "lan");
  const Json& wan = part_of(readings.ports, "wan");
  const Json& codec = part_of(readings.status, "codec");
  Totals totals{.boot_epoch = ctl::identifier(readings.status, "boot_epoch"),
                .time = time,
                .lan_in = number_of(lan, "rx_bytes"),
                .lan_out = number_of(lan, "tx_bytes"),
                .wan_in = number_of(wan, "rx_bytes"),
                .wan_out = number_of(wan, "tx_bytes"),
                .packets_out = 0,
                .packets_lost = 0,
                .plain = number_of(codec, "plain_bytes"),
                .encoded = number_of(codec, "encoded_bytes"),
                .classes = {}};
  if (readings.peers.is_array()) {
    for (const Json& peer : readings.peers) {
      const Json& counters = part_of(peer, "counters");
      totals.packets_out += number_of(counters, "packets_out");
      totals.packets_lost += number_of(counters, "packets_lost");
    }
  }
  if (readings.classes.is_array()) {
    for (const Json& each : readings.classes) {
      totals.classes.push_back(
          {.sent = number_of(each, "relayed_bytes") + number_of(each, "bridged_bytes"),
           .plain = number_of(each, "plain_bytes"),
           .encoded = number_of(each, "encoded_bytes")});
    }
  }
  return totals;
}

Sample History::difference(const Totals& before, const Totals& now,
                           const metrics::Readings& readings) {
  const double seconds = static_cast<double>(now.time - before.time);
  Sample sample{.time = now.time,
                .send_bps = 8 * per_second(before.wan_out, now.wan_out, seconds),
                .receive_bps = 8 * per_second(before.wan_in, now.wan_in, seconds),
                .lan_in_bps = 8 * per_second(before.lan_in, now.lan_in, seconds),
                .lan_out_bps = 8 * per_second(before.lan_out, now.lan_out, seconds),
                .loss_ratio = ratio(before.packets_lost, now.packets_lost, before.packets_out,
                                    now.packets_out),
                .rtt_seconds = kUnknown,
                .queued_bytes = 0,
                .compression_ratio = ratio(before.plain, now.plain, before.encoded, now.encoded),
                .peers_alive = 0,
                .flows = static_cast<float>(number_of(readings.status, "flows"))};
  sample.class_bps.fill(kUnknown);
  sample.class_queued_bytes.fill(kUnknown);
  sample.class_compression_ratio.fill(kUnknown);
  for (std::size_t i = 0; i < std::min(now.classes.size(), kHistoryClasses); ++i) {
    if (i >= before.classes.size()) break;
    const Totals::OfClass& was = before.classes[i];
    const Totals::OfClass& is = now.classes[i];
    sample.class_bps[i] = 8 * per_second(was.sent, is.sent, seconds);
    sample.class_compression_ratio[i] = ratio(was.plain, is.plain, was.encoded, is.encoded);
  }
  if (readings.classes.is_array()) {
    for (std::size_t i = 0; i < readings.classes.size(); ++i) {
      const Json& each = readings.classes[i];
      const auto queued =
          static_cast<float>(number_of(each, "held_bytes") + number_of(each, "waiting_bytes"));
      sample.queued_bytes += queued;
      if (i < kHistoryClasses) sample.class_queued_bytes[i] = queued;
    }
  }
  if (readings.peers.is_array()) {
    for (const Json& peer : readings.peers) {
      if (part_of(peer, "state") != "alive") continue;
      sample.peers_alive += 1;
      const auto rtt = static_cast<float>(number_of(peer, "rtt_us")) / 1e6F;
      if (rtt > 0 && !(sample.rtt_seconds >= rtt)) sample.rtt_seconds = rtt;
    }
  }
  return sample;
}

void History::add(const metrics::Readings& readings, std::uint64_t time) {
  if (!readings.up) return;
  Totals now = totals_of(readings, time);
  const std::lock_guard lock(mutex_);
  if (readings.classes.is_array()) {
    class_names_.clear();
    for (const Json& each : readings.classes) {
      const Json& name = part_of(each, "name");
      class_names_.push_back(name.is_string() ? name.get<std::string>() : "");
    }
  }
  // Compare the totals only with earlier totals of the same run, since a restarted gateway counts
  // from 0. Do not compare them if the machine's clock was set back.
  const auto is_behind = [&](const std::optional<Totals>& before) {
    return before && before->boot_epoch == now.boot_epoch && before->time < now.time;
  };
  if (is_behind(second_before_)) {
    store(time % kSeconds, difference(*second_before_, now, readings));
  }
  second_before_ = now;
  if (!is_behind(minute_before_)) {
    minute_before_ = std::move(now);
  } else if (time / 60 != minute_before_->time / 60) {
    store(kSeconds + time / 60 % kMinutes, difference(*minute_before_, now, readings));
    minute_before_ = std::move(now);
  }
}

void History::store(std::size_t slot, const Sample& sample) {
  (slot < kSeconds ? seconds_[slot] : minutes_[slot - kSeconds]) = sample;
  if (descriptor_ < 0) return;
  // If the write fails, the sample is still shown, but is missing after the next start.
  const auto at = static_cast<off_t>(sizeof(Header) + slot * sizeof(Sample));
  if (::pwrite(descriptor_, &sample, sizeof sample, at) < 0) return;
}

std::vector<Sample> History::samples(Span span, std::uint64_t now) const {
  const std::lock_guard lock(mutex_);
  const std::vector<Sample>& ring = span == Span::kHour ? seconds_ : minutes_;
  const std::uint64_t longest = span == Span::kHour ? kSeconds : kMinutes * 60;
  std::vector<Sample> found;
  for (const Sample& sample : ring) {
    if (sample.time != 0 && sample.time <= now && now - sample.time < longest) {
      found.push_back(sample);
    }
  }
  std::ranges::sort(found, {}, &Sample::time);
  return found;
}

std::vector<std::string> History::class_names() const {
  const std::lock_guard lock(mutex_);
  return class_names_;
}

}  // namespace satrelay::panel
