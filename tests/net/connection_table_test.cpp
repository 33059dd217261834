#include "rest_echo/net/connection_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace rest_echo::net {
namespace {

int open_something() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

TEST(ConnectionTable, FindsByDescriptor) {
  ConnectionTable table;
  const int fd = open_something();
  EXPECT_EQ(table.find(fd), nullptr);
  Connection& connection = table.add(UniqueFd(fd));
  EXPECT_EQ(table.find(fd), &connection);
  EXPECT_EQ(connection.fd.get(), fd);
  EXPECT_EQ(table.find(fd + 1), nullptr);
  EXPECT_EQ(table.find(100'000), nullptr);
  EXPECT_EQ(table.count(), 1U);
}

TEST(ConnectionTable, ClosesWhatItDestroys) {
  ConnectionTable table;
  const int fd = open_something();
  table.destroy(table.add(UniqueFd(fd)));
  EXPECT_FALSE(is_open(fd));
  EXPECT_EQ(table.find(fd), nullptr);
  EXPECT_EQ(table.count(), 0U);
}

TEST(ConnectionTable, ConnectionsStayWhereTheyAreWhileItGrows) {
  ConnectionTable table;
  std::vector<Connection*> connections;
  for (int count = 0; count < 500; ++count) connections.push_back(&table.add(UniqueFd(open_something())));
  EXPECT_EQ(table.count(), 500U);
  for (Connection* connection : connections) EXPECT_EQ(table.find(connection->fd.get()), connection);
}

TEST(ConnectionTable, ADescriptorComesToMeanAnotherConnection) {
  ConnectionTable table;
  const int fd = open_something();
  Connection& before = table.add(UniqueFd(fd));
  before.is_closing = true;
  table.destroy(before);
  const int again = open_something();
  ASSERT_EQ(again, fd) << "the kernel gives the lowest one that is free";
  EXPECT_FALSE(table.add(UniqueFd(again)).is_closing);
}

TEST(ConnectionTable, ClosesAllAtItsEnd) {
  const int fd = open_something();
  {
    ConnectionTable table;
    (void)table.add(UniqueFd(fd));
  }
  EXPECT_FALSE(is_open(fd));
}

}  // namespace
}  // namespace rest_echo::net
