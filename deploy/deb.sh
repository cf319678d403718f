#!/bin/sh
# Builds a Debian package of a role: deb.sh collector|probe WHEEL DIRECTORY; prints the file's name.
# The same wheel, lock and SOURCE_DATE_EPOCH give the same package. It is for the Debian release that it is built on.
set -eu
role=${1:-} wheel=${2:-} into=${3:-}
case "$role" in collector | probe) ;; *) echo "usage: deb.sh collector|probe WHEEL DIRECTORY" >&2; exit 2 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
: "${SOURCE_DATE_EPOCH:=$(date +%s)}"
export SOURCE_DATE_EPOCH
umask 022
# WHEEL is tocsin-VERSION-py3-none-any.whl.
version=$(basename "$wheel" | cut -d- -f2)
package=tocsin-$role
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 0755 "$root"

"$here/environment.sh" "$role" "$wheel" "$root/opt/tocsin/$role" "/opt/tocsin/$role"
python3=$("$root/opt/tocsin/$role/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
next=$(echo "$python3" | awk -F. '{print $1 "." $2 + 1}')

install -D -m 0644 "$here/systemd/$package.service" "$root/lib/systemd/system/$package.service"
install -D -m 0640 "$here/systemd/$role.env" "$root/etc/tocsin/$role.env"
mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$package"
cp "$here/debian/copyright" "$root/usr/share/doc/$package/copyright"
printf 'tocsin (%s) stable; urgency=medium\n\n  * See /docs of the running service for the changes.\n\n -- Tocsin <tocsin@example.com>  %s\n' \
    "$version" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$root/usr/share/doc/$package/changelog.gz"
for script in postinst prerm postrm; do
    sed "s/@role@/$role/g" "$here/debian/$script" >"$root/DEBIAN/$script"
    chmod 0755 "$root/DEBIAN/$script"
done
echo "/etc/tocsin/$role.env" >"$root/DEBIAN/conffiles"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f ! -path './etc/*' -print0 | LC_ALL=C sort -z | xargs -0 md5sum | sed 's# \./# #') >"$root/DEBIAN/md5sums"
cat >"$root/DEBIAN/control" <<CONTROL
Package: $package
Version: $version
Architecture: $(dpkg --print-architecture)
Section: net
Priority: optional
Maintainer: Tocsin <tocsin@example.com>
Installed-Size: $(du -sk --apparent-size "$root" | cut -f1)
Depends: python3 (>= $python3), python3 (<< $next), libc6, ca-certificates, adduser
Recommends: systemd
Description: uptime monitoring: the $role
$(cat "$here/debian/$role.description")
CONTROL

file=$into/${package}_${version}_$(dpkg --print-architecture).deb
mkdir -p "$into"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$file" >/dev/null
echo "$file"
