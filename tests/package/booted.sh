#!/bin/sh
# Runs as root within a Debian that systemd has booted and rest-echo is installed on: starts, reloads and stops the
# service, then its socket, and purges the package. deb_test.sh reads the log, and powers the system off.
exec >/booted.log 2>&1
set -e
trap '[ $? = 0 ] || { echo FAIL; journalctl --no-pager -u rest-echo.service -u rest-echo.socket | tail -20; }; systemctl poweroff --force --force' EXIT

echo booted
systemctl start rest-echo.service
rest-echo --healthcheck
main=$(systemctl show --value -p MainPID rest-echo.service)
grep -q '^CapEff:[[:space:]]*0*$' "/proc/$main/status"
grep -q '^Seccomp:[[:space:]]*2$' "/proc/$main/status"
test "$(awk '/^Uid:/ { print $2 }' "/proc/$main/status")" != 0
echo "ok starts as a user of its own, ready when systemctl returns"

systemctl reload rest-echo.service
for _ in 1 2 3 4 5; do rest-echo --healthcheck; sleep 0.2; done
test "$(systemctl show --value -p MainPID rest-echo.service)" = "$main"
echo "ok reloads and stays healthy"

systemctl stop rest-echo.service
test "$(systemctl show --value -p Result -p ExecMainStatus rest-echo.service | xargs)" = "success 0"
! rest-echo --healthcheck
echo "ok stops with status 0"

systemctl start rest-echo.socket
! systemctl is-active --quiet rest-echo.service
rest-echo --healthcheck
systemctl is-active --quiet rest-echo.service
systemctl restart rest-echo.service
rest-echo --healthcheck
echo "ok starts at the first connection to its socket"

systemctl enable rest-echo.service rest-echo.socket
dpkg --purge rest-echo
! systemctl is-active --quiet rest-echo.socket
test ! -d "/proc/$(pidof -s rest-echo || echo none)"
left=$(find / -xdev -name '*rest-echo*' ! -path '/proc/*' ! -path '/tmp/*')
test -z "$left" || { echo "left: $left"; false; }
echo "ok stopped and disabled by the purge"
echo done
