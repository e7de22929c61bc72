#include "relay/satrelayctl/support/support_folder.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "relay/text/table.h"

namespace satrelay::ctl {
namespace {

std::string listed(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::vector<text::Row> rows;
  rows.reserve(entries.size());
  for (const auto& [name, words] : entries) rows.push_back({"  " + name, words});
  return text::format_pairs(rows);
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  if (!out) throw std::runtime_error(file.string() + ": " + std::strerror(errno));
}

}  // namespace

SupportFolder::SupportFolder() : content_(folder_.path() / kName) {
  std::filesystem::create_directory(content_);
}

void SupportFolder::add(const std::string& name, const std::string& what, const std::string& text) {
  write(path_of(name), text);
  has(name, what);
}

void SupportFolder::has(const std::string& name, const std::string& what) {
  there_.emplace_back(name, what);
}

void SupportFolder::lacks(const std::string& name, const std::string& why) {
  missing_.emplace_back(name, why);
}

void SupportFolder::write_manifest(const std::string& heading) {
  std::string text = heading + "\nContents:\n" + listed(there_);
  text += missing_.empty() ? "\nNothing is missing.\n" : "\nMissing, and why:\n" + listed(missing_);
  write(path_of("MANIFEST"), text);
}

}  // namespace satrelay::ctl
