#!/bin/sh
# Installs a role of Tocsin as a service: install.sh collector|probe WHEEL, as root, from the source distribution.
# Run it again with another wheel to upgrade; settings that exist are kept. It starts nothing.
set -eu
role=${1:-} wheel=${2:-}
case "$role" in collector | probe) ;; *) echo "usage: install.sh collector|probe WHEEL" >&2; exit 2 ;; esac
[ -f "$wheel" ] || { echo "install.sh: no such wheel: $wheel" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "install.sh: must be run as root" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)

getent passwd tocsin >/dev/null || useradd --system --user-group --home-dir /var/lib/tocsin --no-create-home --shell /usr/sbin/nologin tocsin

# Beside the one that runs, and then in its place: a service that is restarted meanwhile has one or the other.
place=/opt/tocsin/$role
rm -rf "$place.new"
mkdir -p /opt/tocsin
"$here/../environment.sh" "$role" "$wheel" "$place.new" "$place"
rm -rf "$place.old"
if [ -d "$place" ]; then mv "$place" "$place.old"; fi
mv "$place.new" "$place"
rm -rf "$place.old"

install -d -m 0750 -g tocsin /etc/tocsin
[ -e "/etc/tocsin/$role.env" ] || install -m 0640 -g tocsin "$here/$role.env" "/etc/tocsin/$role.env"
install -d -m 0755 /etc/systemd/system
install -m 0644 "$here/tocsin-$role.service" "/etc/systemd/system/tocsin-$role.service"
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
echo "Fill in /etc/tocsin/$role.env, then: systemctl enable --now tocsin-$role"
