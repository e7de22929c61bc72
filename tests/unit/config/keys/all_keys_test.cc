// docs/configuration.md says of each key what its row says: default, bounds, live or restart.
#include "config/keys/all_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace satrelay::config::all_keys_test {
namespace {

// An entry, "- `mtu`: 1500 (default), 576 to 9000.": by the heading it stands below.
struct Entry {
  std::string heading;
  std::string values;
};

std::string without_marks(std::string text) {
  std::erase(text, '`');
  text = std::regex_replace(text, std::regex(R"(\[([^\]]*)\]\([^)]*\))"), "$1");
  return std::regex_replace(text, std::regex(" +"), " ");
}

enum class Part : std::uint8_t { kGateway, kLink };

class Document {
 public:
  explicit Document(Part part) {
    std::ifstream file(SATRELAY_DOCS "/configuration.md");
    std::string line, heading, names, text;
    const std::regex entry(R"(^ *- ((?:`[a-z_.*]+`(?:, | and )?)+): (.*)$)");
    const auto finish = [&] {
      if (names.empty()) return;
      static const std::regex kName("`([^`]+)`");
      for (std::sregex_iterator i(names.begin(), names.end(), kName), end; i != end; ++i) {
        entries.emplace((*i)[1], Entry{heading, without_marks(text)});
      }
      names.clear();
    };
    Part at = Part::kGateway;
    while (std::getline(file, line)) {
      if (line == "# link.yaml") at = Part::kLink;
      if (at != part) continue;
      if (line.starts_with("# ") || line.starts_with("## ")) {
        finish();
        heading = line.substr(line.find(' ') + 1);
      }
      std::smatch match;
      if (std::regex_match(line, match, entry)) {
        finish();
        names = match[1];
        text = match[2];
        complete = text.ends_with('.') || text.ends_with(':');
      } else if (!names.empty() && !complete) {
        text += " " + line;
        complete = line.ends_with('.') || line.ends_with(':');
      }
    }
    finish();
  }
  bool complete = false;
  std::multimap<std::string, Entry> entries;
};

// Where the document describes the key, and by which name.
using DocumentPlace = std::pair<std::string, std::string>;

DocumentPlace place_in_gateway(const std::string& path) {
  const std::string top = path.substr(0, path.find_first_of(".["));
  const std::string last = path.substr(path.rfind('.') + 1);
  if (path.starts_with("stp.feedback.")) return {"stp", path.substr(4)};
  if (path == "fair_hosts") return {"classes", path};
  if (top == "worker" || top == "access" || path.find('.') == std::string::npos) {
    return {"The other keys", path};
  }
  return {top, last};
}

DocumentPlace place_in_link(const std::string& path) {
  const std::string top = path.substr(0, path.find_first_of(".["));
  const std::string last = path.substr(path.rfind('.') + 1);
  if (top == "both" || top == "a_to_b" || top == "b_to_a") return {"A direction", last};
  if (top == "changes" && top != path) return {"A change", last};
  return {"link.yaml", path};
}

// Described as a whole, in prose: `{group: NAME, mode: MODE}`, `psk_file`, the ports of link.yaml,
// the chances of bursts.
bool is_in_prose(const std::string& path) {
  return path.starts_with("access.stats.") || path.starts_with("access.control.") ||
         path == "security.psk_file" || path.starts_with("ports.a.") ||
         path.starts_with("ports.b.") || path.find(".gilbert_elliott.") != std::string::npos;
}

void expect_described(const std::vector<ListedKey>& keys, const Document& document,
                      DocumentPlace (*place_of)(const std::string&)) {
  for (const ListedKey& key : keys) {
    if (is_in_prose(key.path)) continue;
    const auto [heading, name] = place_of(key.path);
    const auto [first, last] = document.entries.equal_range(name);
    const auto entry =
        std::find_if(first, last, [&](const auto& each) { return each.second.heading == heading; });
    ASSERT_NE(entry, last) << key.path << ": no entry `" << name << "` below " << heading;
    const std::string values = without_marks(key.values());
    const std::string& told = entry->second.values;
    const bool same = told.starts_with(values) && told.size() > values.size() &&
                      std::string(".,;:").find(told[values.size()]) != std::string::npos;
    EXPECT_TRUE(same) << key.path << "\n  row:      " << values
                      << "\n  document: " << entry->second.values;
  }
}

TEST(Keys, AreDescribedAsTheyAre) {
  expect_described(gateway_key_list(), Document(Part::kGateway), place_in_gateway);
  expect_described(link_key_list(), Document(Part::kLink), place_in_link);
}

// The list of what changes without a restart names the live keys, and no other.
TEST(Keys, ThatChangeWithoutARestartAreListed) {
  const Document document(Part::kGateway);
  std::set<std::string> told;
  for (const auto& [name, entry] : document.entries) {
    if (entry.heading == "What changes without a restart") told.insert(name);
  }
  for (const ListedKey& key : gateway_key_list()) {
    const std::string top = key.path.substr(0, key.path.find_first_of(".["));
    std::string path = key.path;
    if (const auto at = path.find("NAME"); at != std::string::npos) path.replace(at, 4, "*");
    const bool is_told = told.contains(path) || told.contains(top);
    EXPECT_EQ(is_told, key.reload == Reload::kLive) << key.path;
  }
}

TEST(Keys, HaveASentenceAndAUniquePath) {
  for (const auto& list : {gateway_key_list(), link_key_list()}) {
    std::set<std::string> paths;
    for (const ListedKey& key : list) {
      EXPECT_TRUE(key.help.ends_with('.')) << key.path;
      EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    }
    EXPECT_GT(paths.size(), 60U);
  }
}

TEST(Keys, AreShownBelowAPath) {
  const std::string table = key_table(gateway_key_list(), "stp.po");
  EXPECT_EQ(table,
            "stp.port: 7878 (default), 1 to 65535\n"
            "    The UDP port of both gateways; lane n is sent to port + n. A change needs a "
            "restart. Since 0.9.\n");
}

}  // namespace
}  // namespace satrelay::config::all_keys_test
