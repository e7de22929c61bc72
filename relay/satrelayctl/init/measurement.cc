#include "relay/satrelayctl/init/measurement.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "config/text/descriptor.h"
#include "config/text/format.h"
#include "relay/satrelayctl/commands/interruption.h"
#include "relay/satrelayctl/init/line_source.h"
#include "relay/satrelayctl/support/child_program.h"

namespace satrelay::ctl::init {
namespace {

// satperf takes 25 s for each direction.
constexpr std::chrono::minutes kMostTime(2);

// Rounds down to three digits: a configured rate may be slightly below the rate of the link, but
// not above it.
BitRate rounded_down(std::uint64_t bits) {
  std::uint64_t unit = 1;
  while (bits / unit >= 1000) unit *= 10;
  return BitRate::bits_per_second(bits / unit * unit);
}

std::string content_of(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  ::ssize_t size = 0;
  while ((size = ::pread(descriptor, buffer.data(), buffer.size(),
                         static_cast<::off_t>(text.size()))) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

}  // namespace

std::filesystem::path find_satperf() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const std::filesystem::path& folder :
       {own.parent_path(), std::filesystem::path("/usr/local/bin"),
        std::filesystem::path("/usr/bin")}) {
    std::filesystem::path program = folder / "satperf";
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

std::optional<MeasuredLink> rates_in(const std::string& output) {
  const std::size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::size_t before = output.find_last_of('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const auto found = nlohmann::json::parse(output.substr(begin, end - begin + 1), nullptr, false);
  if (!found.is_object() || found.value("event", "") != "found") return std::nullopt;
  const bool varies =
      found.value("links", std::string()).find("capacity: find") != std::string::npos;
  const auto rate = [&](const char* name) {
    return rounded_down(found.value(std::string(name) + (varies ? "_most_bps" : "_bps"), 0ULL));
  };
  const MeasuredLink link{rate("send"), rate("receive"), varies};
  if (link.send == BitRate() || link.receive == BitRate()) return std::nullopt;
  return link;
}

std::optional<MeasuredLink> measure_path(const std::string& address, std::uint32_t overhead,
                                         std::ostream& out) {
  const std::filesystem::path program = find_satperf();
  if (program.empty()) {
    out << "  satperf is not installed on this machine.\n";
    return std::nullopt;
  }
  if (address.front() == '-') {
    out << "  " << config::in_quotes(address) << " is not an address.\n";
    return std::nullopt;
  }
  out << "  satperf measures, which takes a minute ...\n" << std::flush;
  const config::Descriptor output(::memfd_create("satperf", MFD_CLOEXEC));
  const std::string failure = run_program({program.string(), "client", address, "--find",
                                           "--overhead", std::to_string(overhead), "--json"},
                                          output.number(), kMostTime);
  if (is_interrupted()) throw Stopped(StopReason::kInterrupted);
  const auto found = failure.empty() ? rates_in(content_of(output.number())) : std::nullopt;
  if (!found) {
    out << "  Nothing was measured: " << (failure.empty() ? "satperf found no rate" : failure)
        << "\n";
    return std::nullopt;
  }
  out << "  The modem here sends " << config::to_text(found->send)
      << ", the modem of the other site sends " << config::to_text(found->receive) << "."
      << (found->varies ? " The rates vary." : "") << "\n";
  return found;
}

}  // namespace satrelay::ctl::init
