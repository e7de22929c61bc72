#include "relay/satlab/output/plot.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "relay/satlab/losses.h"
#include "relay/text/numbers.h"

namespace satrelay::satlab {
namespace {

// Within single quotes, the only escape in gnuplot is a doubled quote.
std::string gnuplot_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + "'";
}

// The largest number of points in a curve. If there are more samples, a point covers several
// samples.
constexpr std::size_t kMostPoints = 2'000;

struct Point {
  double time = 0;
  double link_mbps[2] = {0, 0};  // rate over the link, indexed by the side that sent
  double host_mbps[2] = {0, 0};  // rate received by the hosts, indexed by the side of the hosts
  double queue_ms[2] = {0, 0};
  double loss[2] = {0, 0};  // percentage of offered frames that were lost
  double retransmitted_mbps[2] = {0, 0};
};

Point point_between(const Sample& before, const Sample& now) {
  Point point;
  point.time = now.at.to_seconds();
  const double seconds = (now.at - before.at).to_seconds();
  const auto mbps = [&](std::uint64_t a, std::uint64_t b) {
    return seconds > 0 ? static_cast<double>(b - a) * 8 / seconds / 1e6 : 0;
  };
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const link::DirectionCounters& old = before.network.links[i].counters;
    const link::DirectionCounters& c = now.network.links[i].counters;
    point.link_mbps[i] = mbps(old.bytes_out, c.bytes_out);
    point.host_mbps[i] = mbps(before.host_received[i], now.host_received[i]);
    point.queue_ms[i] = now.network.links[i].queue_peak.to_seconds() * 1e3;
    const auto lost = static_cast<double>(lost_frames(c) - lost_frames(old));
    const auto offered = static_cast<double>(c.frames_in - old.frames_in);
    point.loss[i] = offered > 0 ? 100 * lost / offered : 0;
    point.retransmitted_mbps[i] = mbps(before.network.gateways[i].stp.retransmitted_bytes,
                                       now.network.gateways[i].stp.retransmitted_bytes);
  }
  return point;
}

std::string data_block(const RunResult& result) {
  std::string text = "$data << END\n";
  const std::size_t step = result.series.size() / kMostPoints + 1;
  for (std::size_t i = step; i < result.series.size(); i += step) {
    const Point p = point_between(result.series[i - step], result.series[i]);
    text += text::significant(p.time);
    for (const auto& pair : {p.link_mbps, p.host_mbps, p.queue_ms, p.loss, p.retransmitted_mbps}) {
      text += " " + text::significant(pair[0]) + " " + text::significant(pair[1]);
    }
    text += "\n";
  }
  return text + "END\n";
}

std::string panel(std::string_view label, int column, std::string_view a, std::string_view b) {
  return fmt::format(
      "set ylabel '{}'\nplot $data using 1:{} with lines lc 1 title '{}', "
      "$data using 1:{} with lines lc 2 title '{}'\n",
      label, column, a, column + 1, b);
}

}  // namespace

std::string plot_terminal(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".svg") return "svg size 1000,1000 dynamic background rgb 'white'";
  if (extension == ".png") return "pngcairo size 1000,1000";
  throw std::runtime_error(file.string() +
                           ": cannot be drawn; write a name that ends in .svg or "
                           ".png");
}

std::filesystem::path find_gnuplot() {
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::size_t end = folders.find(':');
    std::filesystem::path candidate = std::filesystem::path(folders.substr(0, end)) / "gnuplot";
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    folders = end == std::string::npos ? "" : folders.substr(end + 1);
  }
  throw std::runtime_error(
      "--plot needs gnuplot, which is not installed; apt-get install gnuplot-nox, or run "
      "deploy/setup.sh");
}

std::string plot_script(const RunResult& result, const std::string& terminal,
                        const std::filesystem::path& output) {
  std::string script = data_block(result);
  script += "set terminal " + terminal + "\nset output " + gnuplot_quoted(output.string()) + "\n";
  // Leave out the panel of retransmissions if there are no gateways, since it would be empty.
  const bool gateways = result.has_gateway[0] || result.has_gateway[1];
  script += fmt::format("set multiplot layout {},1 title ", gateways ? 4 : 3) +
            gnuplot_quoted(result.name + ", seed " + std::to_string(result.seed) + ", hosts use " +
                           result.congestion) +
            " noenhanced\n";
  script += "set grid\nset key top right horizontal\nset lmargin 10\nset yrange [0:*]\n";
  script += "set xrange [0:" + text::significant(std::max(result.virtual_time.to_seconds(), 1e-3)) +
            "]\n";
  script +=
      "set ylabel 'throughput, Mbit/s'\n"
      "plot $data using 1:2 with lines lc 1 title 'link a>b', "
      "$data using 1:3 with lines lc 2 title 'link b>a', "
      "$data using 1:5 with lines lc 1 dt 2 title 'to hosts at b', "
      "$data using 1:4 with lines lc 2 dt 2 title 'to hosts at a'\n";
  script += panel("queue, ms", 6, "a>b", "b>a");
  const std::string below = "set xlabel 'time, s'\n";
  script += (gateways ? "" : below) + panel("loss, %", 8, "a>b", "b>a");
  if (gateways) script += below + panel("retransmitted, Mbit/s", 10, "by a", "by b");
  return script + "unset multiplot\n";
}

void draw_plot(const std::filesystem::path& gnuplot, const std::string& script) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error(std::strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(gnuplot.c_str(), "gnuplot", "-", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[0]);
  // Ignore SIGPIPE while writing: if gnuplot exits early, its exit status reports the error.
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  std::size_t done = 0;
  while (child > 0 && done < script.size()) {
    const ssize_t count = write(ends[1], script.data() + done, script.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  close(ends[1]);
  sigaction(SIGPIPE, &before, nullptr);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(gnuplot.string() + " could not draw the plot");
  }
}

}  // namespace satrelay::satlab
