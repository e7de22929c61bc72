#include "relay/satrelayctl/init/file_answers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "config/readers/psk_file.h"
#include "config/text/error.h"

namespace satrelay::ctl::init {
namespace {

constexpr std::string_view kFolderHint = "write the absolute path of a folder, like /etc/satrelay";
constexpr std::string_view kSecretHint =
    "write make, none, or the absolute path of a file that `satrelayctl keygen` has made";

bool is_absolute_path(const std::string& path) {
  return path.front() == '/' && path.back() != '/' &&
         std::ranges::all_of(path, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

// Returns the folder itself or, if it does not exist, the nearest folder above it that exists.
std::filesystem::path nearest_existing(std::filesystem::path folder) {
  struct stat status {};
  while (folder.has_relative_path() && ::lstat(folder.c_str(), &status) != 0) {
    folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

void refuse_existing(const config::Value& value, const std::string& path, const Setting& setting) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (S_ISDIR(status.st_mode)) value.fail(path + " is a folder; move it away");
  if (!S_ISREG(status.st_mode)) value.fail(path + " is not a regular file; move it away");
  if (setting.existing == Existing::kReplace) return;
  value.fail(path +
             " exists; write another folder, or start again with --force, which keeps a backup");
}

void read_folder(const config::Value& value, Answers& answers, const Setting& setting) {
  std::string folder = value.text(kFolderHint);
  // A shell completes the name of a folder with a slash.
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  if (!is_absolute_path(folder)) value.refuse("is not the path of a folder", kFolderHint);
  const std::filesystem::path nearest = nearest_existing(folder);
  struct stat status {};
  if (::stat(nearest.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    value.fail(nearest.string() + " is not a folder; write the path of a folder");
  }
  if (::access(nearest.c_str(), W_OK | X_OK) != 0) {
    value.fail(nearest.string() + " cannot be written: " + std::strerror(errno) +
               "; start satrelayctl as root, or write another folder");
  }
  answers.folder = folder;
  refuse_existing(value, answers.configuration_file(), setting);
}

std::string usual_secret(const Answers& answers) {
  struct stat status {};
  const std::string file = answers.folder + "/psk";
  return ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? file : "make";
}

void read_secret(const config::Value& value, Answers& answers, const Setting& setting) {
  const std::string text = value.text(kSecretHint);
  if (text == "none") {
    answers.secret = SecretSource::kNone;
  } else if (text == "make") {
    answers.secret = SecretSource::kMake;
    refuse_existing(value, answers.psk_file(), setting);
  } else {
    if (!is_absolute_path(text)) value.refuse("is not the path of a file", kSecretHint);
    answers.secret = SecretSource::kFile;
    answers.secret_file = text;
    try {
      config::read_psk_file(text);
    } catch (const config::ConfigError& error) {
      value.fail(error.what());
    }
  }
}

}  // namespace satrelay::ctl::init
