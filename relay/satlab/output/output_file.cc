#include "relay/satlab/output/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace satrelay::satlab {

OutputFile::OutputFile(std::filesystem::path file) : file_(std::move(file)) {
  std::error_code error;
  if (std::filesystem::is_directory(file_, error)) {
    throw std::runtime_error(file_.string() + ": cannot be written: it is a directory");
  }
  std::string name = file_.filename().string();
  name.insert(name.begin(), '.');
  std::string pattern = file_.parent_path() / name.append(".XXXXXX");
  const int descriptor = mkstemp(pattern.data());
  if (descriptor < 0) fail(errno);
  // mkstemp() gives access to the owner only, so give the file the mode of an ordinary new file.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);
  close(descriptor);
  temporary_ = pattern;
}

OutputFile::~OutputFile() {
  std::error_code error;
  if (!committed_) std::filesystem::remove(temporary_, error);
}

void OutputFile::fail(int error) const {
  throw std::runtime_error(file_.string() + ": cannot be written: " + std::strerror(error));
}

void OutputFile::write(std::string_view text) {
  errno = 0;
  std::ofstream out(temporary_, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) fail(errno != 0 ? errno : EIO);
}

void OutputFile::commit() {
  if (std::rename(temporary_.c_str(), file_.c_str()) != 0) fail(errno);
  committed_ = true;
}

}  // namespace satrelay::satlab
