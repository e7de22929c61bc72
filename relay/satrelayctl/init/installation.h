// Writes several files, all of them or none.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "relay/satrelayctl/commands/new_file.h"

namespace satrelay::ctl::init {

enum class Reader { kEverybody, kGateway };

class Installation {
 public:
  explicit Installation(Existing existing) : existing_(existing) {}
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;
  // Removes all that was made, unless publish() has succeeded.
  ~Installation();

  // Writes the file under a temporary name, and makes its folder. Returns a path under which this
  // process can read the file before it has its name. Throws std::runtime_error, for example if the
  // disk is full.
  std::string add(const std::filesystem::path& path, const std::string& text, Reader reader);
  // Gives all files their names. If a file had this name, it is kept as a backup. Throws
  // std::runtime_error if a file cannot get its name; the others then have their old state.
  void publish();
  // The backups that publish() has kept.
  std::vector<std::filesystem::path> backups() const;

 private:
  struct File {
    std::filesystem::path path;
    std::unique_ptr<NewFile> content;
    std::filesystem::path backup = {};  // empty if no file had this name
    bool is_published = false;
  };

  void make_folder(const std::filesystem::path& folder);
  void undo() noexcept;

  Existing existing_;
  std::vector<File> files_;
  std::vector<std::filesystem::path> folders_;  // made here, the outer ones first
  bool is_done_ = false;
};

}  // namespace satrelay::ctl::init
