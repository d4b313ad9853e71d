#!/usr/bin/env bash
# Programs that some tests use, by the names of Debian's packages: a browser, two readers of metadata,
# node and a broker. Installed where apt can do it; otherwise the tests that need one are skipped, and say so.
set -uo pipefail
exec < /dev/null
missing=()
PATH=$PATH:/usr/sbin
while read -r program packages; do
    command -v "$program" > /dev/null || missing+=($packages)
done << 'END'
chromium chromium
exiftool libimage-exiftool-perl
exiv2 exiv2
node nodejs
npm npm
mosquitto mosquitto
END
[ ${#missing[@]} -eq 0 ] && { echo "chromium, exiftool, exiv2, node and mosquitto are here."; exit 0; }
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2> /dev/null && as_root=(sudo -n)
    [ ${#as_root[@]} -gt 0 ] || { echo "Not root: without ${missing[*]}; their tests are skipped."; exit 0; }
fi
command -v apt-get > /dev/null || { echo "No apt: without ${missing[*]}; their tests are skipped."; exit 0; }
export DEBIAN_FRONTEND=noninteractive
echo "Installing ${missing[*]} ..."
timeout 120 "${as_root[@]}" apt-get -qq update > /dev/null 2>&1
# One by one: where one cannot be had, the others still come.
for package in "${missing[@]}"; do
    timeout 300 "${as_root[@]}" apt-get -qq install --yes --no-install-recommends "$package" > /dev/null 2>&1 \
        || echo "$package cannot be installed; the tests that need it are skipped."
done
exit 0
