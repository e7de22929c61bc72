#include "relay/satrelayctl/support/program_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace satrelay::ctl {

namespace fs = std::filesystem;

LogOutput log_output(const fs::path& root, pid_t program) {
  using Kind = LogOutput::Kind;
  const fs::path link = root / "proc" / std::to_string(program) / "fd/2";
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  if (error) return {.kind = Kind::kUnknown, .file = {}, .words = error.message()};
  // The link leads to the open file, even if the file's name was removed.
  const fs::file_status status = fs::status(link, error);
  if (fs::is_regular_file(status)) {
    return {.kind = Kind::kFile, .file = link, .words = target.string()};
  }
  const bool is_socket = target.string().starts_with("socket:");
  return {.kind = is_socket ? Kind::kSocket : Kind::kOther, .file = {}, .words = target.string()};
}

// The file has a line such as "0::/system.slice/satrelayd.service", or a line for a group below
// this unit.
std::string unit_of(const fs::path& root, pid_t program) {
  constexpr std::string_view kService = ".service";
  std::ifstream in(root / "proc" / std::to_string(program) / "cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t end = line.rfind(kService);
    if (end == std::string::npos) continue;
    const std::size_t begin = line.rfind('/', end) + 1;  // 0 if there is no '/'
    return line.substr(begin, end + kService.size() - begin);
  }
  return "";
}

std::string last_lines(const fs::path& file, std::size_t lines, std::size_t bytes) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0) throw std::runtime_error(std::strerror(errno));
  const auto kept = std::min<std::streamoff>(size, static_cast<std::streamoff>(bytes));
  std::string text(static_cast<std::size_t>(kept), '\0');
  in.seekg(size - kept);
  in.read(text.data(), kept);
  text.resize(static_cast<std::size_t>(in.gcount()));
  // If text was cut off at the front, skip the first line, which may be incomplete.
  const std::size_t first = kept < size ? text.find('\n') + 1 : 0;
  std::size_t begin = text.ends_with('\n') ? text.size() - 1 : text.size();
  for (; lines > 0 && begin > first; --lines) {
    const std::size_t newline = text.rfind('\n', begin - 1);
    if (newline == std::string::npos || newline < first) return text.substr(first);
    begin = newline;
  }
  return text.substr(lines == 0 ? begin + 1 : first);
}

}  // namespace satrelay::ctl
