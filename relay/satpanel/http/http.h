// A request and its answer, as values. So handlers need no knowledge of sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace satrelay::panel {

struct Request {
  std::string method;  // such as "GET"
  std::string path;    // such as "/api/v1/peers": decoded, without the query
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  // names in lower case
  std::map<std::string, std::string> cookies;
  std::string body = {};
  std::string remote;     // the client's address, without its port
  bool is_https = false;  // whether the client's connection to the web server is encrypted
  // Whether the client has closed its side of the connection. May be called only until the handler
  // returns. If the function is empty, this is not known.
  std::function<bool()> has_left = {};

  // Returns "" if there is no such header.
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
  std::string parameter(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? "" : found->second;
  }
};

// A body that is sent in parts for as long as the client stays connected.
class Stream {
 public:
  virtual ~Stream() = default;
  // Returns the next bytes, at most `most`. Returns "" if there are no bytes now; the server then
  // calls again after HttpServer::wake_streams(), or at the next heartbeat. Returns nullopt if the
  // stream is over.
  virtual std::optional<std::string> poll(std::size_t most) = 0;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::unique_ptr<Stream> stream = nullptr;  // sent instead of `body`
};

// Returns an error in the form of RFC 9457. `detail` tells the operator what is wrong, and what to
// do.
Response problem(int status, const std::string& detail);

using Handler = std::function<Response(const Request&)>;

}  // namespace satrelay::panel
