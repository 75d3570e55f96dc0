// policies/jobs/remote/line_socket.hpp -- lines of text to and from a program on a local socket.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/core/time.hpp"

namespace orrery {

// The peer is missing, silent or gone, or sent a line that is too long or unfinished.
class SocketFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The address is `unix:PATH` or `tcp:127.0.0.1:PORT`. The timeout is in host time. If it passes,
// the run fails, so the results of a successful run never depend on host time.
class LineSocket {
 public:
  static constexpr size_t kLineMax = size_t{16} << 20U;  // bytes

  static std::string why_bad(const std::string& address);  // empty: the address is valid

  LineSocket(std::string address, Duration timeout);
  LineSocket(const LineSocket&) = delete;
  LineSocket& operator=(const LineSocket&) = delete;
  ~LineSocket() { close(); }

  bool is_connected() const { return socket_ >= 0; }
  const std::string& address() const { return address_; }
  // connect(), send() and receive() throw SocketFault, for example after the timeout.
  void connect();  // tries until a program listens or the timeout passes
  void send(std::string_view line);
  std::string receive();                                     // without the end of the line
  std::string_view unfinished() const { return received_; }  // received part of the next line
  void close();

 private:
  void wait_for(short events, int64_t deadline_ns, std::string_view what) const;

  std::string address_;
  Duration timeout_;
  int socket_ = -1;
  std::string received_;  // bytes received after the latest line
};

}  // namespace orrery
