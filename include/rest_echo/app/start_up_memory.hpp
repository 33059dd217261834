#pragma once

namespace rest_echo::app {

/// Gives back the pages of code and constants that only starting has touched, about half of a small server's
/// resident memory: the loader, option parsing, locales. What is still needed is mapped in again from the
/// page cache.
void release_start_up_memory() noexcept;

}  // namespace rest_echo::app
