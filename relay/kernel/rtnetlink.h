// Questions and commands to the kernel about interfaces (rtnetlink(7)). They reach the interfaces
// of this process's network namespace, while /sys may show those of another one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

struct mnl_socket;
struct nlmsghdr;

namespace satrelay::kernel {

// The state of an interface, as the kernel tells it.
struct LinkFacts {
  unsigned index = 0;
  std::string name;
  std::string kind;     // "bridge", "veth", "bond"; empty for a network card
  unsigned master = 0;  // index of the bridge, bond or VRF that has the interface; 0 if none has it
  unsigned mtu = 0;     // IP bytes
  bool is_up = false;   // administratively up (`ip link set up`)
};

class Rtnetlink {
 public:
  // Throws std::system_error.
  Rtnetlink();
  Rtnetlink(const Rtnetlink&) = delete;
  Rtnetlink& operator=(const Rtnetlink&) = delete;
  ~Rtnetlink();

  // Returns nullopt if there is no such interface. Both throw std::system_error.
  std::optional<LinkFacts> find(const std::string& name);
  std::optional<LinkFacts> find(unsigned index);

  // These functions change an interface, and return when the kernel has done so. They throw
  // std::system_error. Its text begins with `what` of change(), or with the interface's index.
  void set_up(unsigned index, bool up);
  void set_mtu(unsigned index, unsigned mtu);
  void set_master(unsigned index, unsigned master);
  void remove(unsigned index);
  // Takes the program of XDP off the interface, if there is one.
  void detach_xdp(unsigned index);

  // Sends a request of `type` with the NLM_F_* `flags`, and waits for the kernel's answer. `fill`
  // writes the payload.
  void change(const std::string& what, std::uint16_t type, std::uint16_t flags,
              const std::function<void(nlmsghdr&)>& fill);

 private:
  void set_link(const std::string& what, unsigned index,
                const std::function<void(nlmsghdr&)>& fill);
  std::optional<LinkFacts> ask(const std::string& what, const std::function<void(nlmsghdr&)>& fill);

  struct Close {
    void operator()(mnl_socket* socket) const;
  };
  std::unique_ptr<mnl_socket, Close> socket_;
  std::uint32_t sequence_ = 0;
};

}  // namespace satrelay::kernel
